import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { userOf } from "../../test/support/users.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { CommandChannel, CommandState } from "../model/command.ts";
import type { Device } from "../model/device.ts";
import { noIdentityRules } from "../model/device.ts";
import type { StepFrom } from "../ports/command-store.ts";
import { type CommandRightsContext, cancelWithoutRight } from "./command-rights.ts";

const now = 1_000_000;
const device: Device = {
  key: 7,
  accountKey: 1,
  id: "d",
  aliases: [],
  name: "d",
  description: null,
  min: null,
  tags: {},
  expires: null,
  dailyEmailLimit: 0,
  dailySmsLimit: 0,
  odometerStart: 0,
  identity: noIdentityRules,
  positionDays: null,
  timeOffset: 0,
  speedUnit: null,
  spoken: [],
  creation: 0,
  modification: 0,
};

/** Asks for a command of this user; what was answered, and how the command was stepped. */
async function ask(user: User | undefined, channel: CommandChannel, find: () => Promise<Device>) {
  const steps: (readonly [number, readonly StepFrom[], CommandState, unknown])[] = [];
  const context: CommandRightsContext = {
    store: {
      users: { findByKey: async (key) => (key === 3 ? user : undefined) },
      commands: {
        step: async (key, from, to, change) => {
          steps.push([key, from, to, change]);
          return undefined;
        },
      },
    },
    devices: { find },
    clock: { now: () => now, monotonic: () => 0 },
  };
  const cancelled = await cancelWithoutRight(context, device, { key: 5, userKey: 3, channel });
  return { cancelled, steps };
}

const time = fc.option(fc.constantFrom(now - 1, now, now + 1));
const someCase = fc.record({
  there: fc.boolean(),
  disabled: fc.boolean(),
  from: time,
  expires: time,
  privileges: fc.option(
    fc.subarray(["admin", "execute", "sendCommands", "sendSmsCommands", "read", "write", "sendSmsAlerts", "Admin"]),
  ),
  channel: fc.constantFrom<CommandChannel>("data", "sms"),
  sees: fc.boolean(),
});

test("a command is sent only for a user who is there, active, in time, with the channel's right, and who sees the device", async () => {
  await fc.assert(
    fc.asyncProperty(someCase, async ({ there, disabled, from, expires, privileges, channel, sees }) => {
      const user = userOf({ disabled, from, expires, privileges });
      const find = async () => {
        if (sees) return device;
        throw new ApiError("deviceNotFound");
      };
      // The table, in the words of the decisions: who may send, row by row.
      const rights =
        channel === "data" ? ["admin", "execute", "sendCommands"] : ["admin", "execute", "sendSmsCommands"];
      const holds = privileges?.some((each) => rights.includes(each)) === true;
      const begun = from === null || from <= now;
      const over = expires !== null && expires <= now;
      const reasons: readonly (readonly [boolean, string])[] = [
        [!there, "the user who asked for it was deleted"],
        [disabled, "the user who asked for it was disabled"],
        [!begun || over, "the time of the user who asked for it is over"],
        [!holds, "the user who asked for it may not send commands any more"],
        [!sees, "the user who asked for it does not see the device any more"],
      ];
      const failure = reasons.find(([applies]) => applies)?.[1];
      const { cancelled, steps } = await ask(there ? user : undefined, channel, find);
      assert.equal(cancelled, failure !== undefined);
      const expected = failure === undefined ? [] : [[5, ["queued"], "cancelled", { finishedAt: now, failure }]];
      assert.deepEqual(steps, expected);
    }),
    { numRuns: 500 },
  );
});

test("a store that can't be asked is no lost right: the command stays", async () => {
  const user = userOf({ privileges: ["admin"] });
  for (const error of [new Error("no disk"), new ApiError("unavailable")])
    await assert.rejects(
      ask(user, "data", () => Promise.reject(error)),
      error,
    );
});
