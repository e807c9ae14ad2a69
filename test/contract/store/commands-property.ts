import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Command, CommandState } from "../../../src/model/command.ts";
import type { CommandChange } from "../../../src/ports/command-store.ts";
import type { Store } from "../../../src/ports/store.ts";
import { runs } from "../../support/runs.ts";
import { makeAccount, makeCommand, makeDevice, now } from "./harness.ts";

const states: readonly CommandState[] = ["queued", "sent", "delivered", "failed", "expired", "cancelled"];
const someState = fc.constantFrom(...states);
const someChange: fc.Arbitrary<CommandChange> = fc.record(
  {
    sentAt: fc.option(fc.integer({ min: now, max: now + 100 })),
    finishedAt: fc.option(fc.integer({ min: now, max: now + 100 })),
    reply: fc.option(fc.string({ unit: "grapheme" })),
    failure: fc.option(fc.string({ unit: "grapheme" })),
  },
  { requiredKeys: [] },
);
const someStep = fc.record({
  at: fc.nat(),
  from: fc.subarray([...states], { minLength: 1 }),
  to: someState,
  change: someChange,
});
const someAction = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("make" as const),
      device: fc.boolean(),
      channel: fc.constantFrom("data" as const, "sms" as const),
      expires: fc.integer({ min: now, max: now + 100 }),
    }),
  },
  // Steps that are asked for in the same moment; those on one command are done one after the other, in some order.
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("steps" as const),
      steps: fc.array(someStep, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("expire" as const), now: fc.integer({ min: now, max: now + 100 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ type: "reopen" as const }) },
);
type Action = typeof someAction extends fc.Arbitrary<infer T> ? T : never;
type Step = typeof someStep extends fc.Arbitrary<infer T> ? T : never;

/** The plainest model: the commands in the order of their making. */
class CommandModel {
  readonly commands: Command[] = [];
  readonly devices: readonly number[];

  constructor(devices: readonly number[]) {
    this.devices = devices;
  }

  async act(store: Store, action: Exclude<Action, { type: "reopen" }>): Promise<void> {
    if (action.type === "steps") return this.#steps(store, action.steps);
    if (action.type === "make") {
      const { channel, expires } = action;
      const device = this.devices[action.device ? 1 : 0] ?? 0;
      this.commands.push(await makeCommand(store, device, { channel, expires }));
      return;
    }
    const ends = (command: Command) => command.state === "queued" && command.expires <= action.now;
    assert.equal((await store.commands.expire(action.now)).length, this.commands.filter(ends).length);
    for (const [index, command] of this.commands.entries())
      if (ends(command)) this.commands[index] = { ...command, state: "expired", finishedAt: action.now };
  }

  async #steps(store: Store, steps: readonly Step[]): Promise<void> {
    if (this.commands.length === 0) return;
    const asked = steps.map((step) => ({ ...step, at: step.at % this.commands.length }));
    const answers = await Promise.all(
      asked.map(({ at, from, to, change }) => store.commands.step(this.commands[at]?.key ?? 0, from, to, change)),
    );
    const after = await Promise.all(this.commands.map(({ device, id }) => store.commands.find(device, id)));
    // The order is the store's own; some order must explain every answer, and what is stored then.
    const open = asked.map((step, index) => ({ ...step, answer: answers[index] }));
    assert.ok(this.#explain(open, after), `no order of the steps gives ${JSON.stringify({ answers, after })}`);
  }

  #explain(
    open: readonly (Step & { readonly answer: Command | undefined })[],
    after: readonly (Command | undefined)[],
  ): boolean {
    if (open.length === 0) return this.commands.every((command, index) => same(command, after[index]));
    return open.some((step, index) => {
      const before = this.commands[step.at];
      if (before === undefined) return false;
      const expected = step.from.includes(before.state) ? { ...before, ...step.change, state: step.to } : undefined;
      if (!same(expected, step.answer)) return false;
      if (expected !== undefined) this.commands[step.at] = expected;
      if (this.#explain(open.toSpliced(index, 1), after)) return true;
      this.commands[step.at] = before;
      return false;
    });
  }

  async check(store: Store): Promise<void> {
    for (const command of this.commands)
      assert.deepEqual(await store.commands.find(command.device, command.id), command);
    for (const device of this.devices) {
      const own = this.commands.filter((command) => command.device === device);
      assert.deepEqual(await store.commands.list(device, undefined, 1000), own.toReversed());
      const queued = own.filter(({ state, channel }) => state === "queued" && channel === "data");
      assert.deepEqual(await store.commands.queued(device, 0, 1000), queued);
    }
    const waiting = this.commands.filter(({ state }) => state === "queued").map(({ expires }) => expires);
    assert.equal(await store.commands.nextExpiry(), waiting.length === 0 ? undefined : Math.min(...waiting));
  }
}

function same(one: Command | undefined, other: Command | undefined): boolean {
  try {
    assert.deepEqual(one, other);
    return true;
  } catch {
    return false;
  }
}

/** Random steps of many commands, some at once, against the plainest model, with restarts in between. */
export function commandPropertyContract(store: () => Store, reopen: () => Promise<void>): void {
  describe("any steps of commands", () => {
    it("are each done whole or not at all, from the states they name only", async () => {
      const account = await makeAccount(store(), 1_000_000);
      await fc.assert(
        fc.asyncProperty(fc.array(someAction, { maxLength: 25 }), async (actions) => {
          // One call ends 500 commands.
          while ((await store().commands.expire(Number.MAX_SAFE_INTEGER)).length > 0);
          const devices = [await makeDevice(store(), account.key), await makeDevice(store(), account.key)];
          const model = new CommandModel(devices.map(({ key }) => key));
          for (const action of actions) {
            if (action.type === "reopen") await reopen();
            else await model.act(store(), action);
          }
          await model.check(store());
        }),
        { numRuns: runs(30), interruptAfterTimeLimit: 60_000, markInterruptAsFailure: false },
      );
    });
  });
}
