import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { CommandQueue } from "../../src/domain/command-queue.ts";
import { type Command, type CommandState, finalStates } from "../../src/model/command.ts";
import type { Dispatched } from "../../src/ports/dispatcher.ts";
import type { Store } from "../../src/ports/store.ts";
import { deviceFields, makeAccount } from "../contract/store/harness.ts";
import { queueContext, queuedCommand, stepping, TestLink } from "../support/command-queues.ts";
import { TestClock } from "../support/rest.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { openStore } from "../support/store.ts";

/**
 * What may follow what: a command is marked as sent only as it is about to be written, and never goes back to the
 * queue.
 */
const steps: Readonly<Record<CommandState, readonly CommandState[]>> = {
  queued: ["sent", "failed", "expired", "cancelled"],
  // Its time may run out while that is recorded.
  sent: ["sent", "delivered", "failed", "expired"],
  delivered: [],
  failed: [],
  expired: [],
  cancelled: [],
};

const answer = fc.constantFrom<Dispatched>(
  { outcome: "notConnected" },
  { outcome: "noForm" },
  { outcome: "refused", reason: "too long" },
  { outcome: "answered", text: "ok" },
  { outcome: "answered", text: "no", ok: false },
  { outcome: "sent", later: Promise.resolve(undefined) },
  { outcome: "sent", later: Promise.resolve({ text: "late" }) },
  { outcome: "lost" },
);
type Action =
  | { readonly do: "send"; readonly ttl: number }
  | { readonly do: "connect" | "disconnect" | "restart" | "settle" }
  | { readonly do: "cancel"; readonly which: number }
  | { readonly do: "pass"; readonly ms: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.constantFrom(0, 1000, 10_000, 86_400_000).map((ttl) => ({ do: "send" as const, ttl })),
  fc.constantFrom("connect", "disconnect", "restart", "settle").map((what) => ({ do: what })),
  fc.nat({ max: 7 }).map((which) => ({ do: "cancel" as const, which })),
  fc.constantFrom(-5000, 500, 5000, 100_000).map((ms) => ({ do: "pass" as const, ms })),
);

let store: Store;
let directory: string;
const clock = new TestClock();
before(async () => {
  directory = dataFolder();
  store = await openStore(directory);
});
after(async () => {
  await store.close();
  removeFolder(directory);
});

test("whatever happens in whatever order: written at most once and in order, never after its end, no state after a final one", async () => {
  const account = await makeAccount(store);
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 25 }),
      fc.array(answer, { minLength: 1 }),
      async (actions, answers) => {
        const id = `d${++runs}`;
        const device = await store.devices.create(account.key, deviceFields({ id }), clock.now());
        assert.ok(typeof device === "object");
        const states = new Map<number, CommandState>();
        const real = store.commands;
        const step: Store["commands"]["step"] = async (key, from, to, change) => {
          const stepped = await real.step(key, from, to, change);
          const before = states.get(key) ?? "queued";
          if (stepped !== undefined) assert.ok(steps[before].includes(to), `${before} to ${to}`);
          if (stepped !== undefined) states.set(key, to);
          return stepped;
        };
        const commands = stepping(real, step);
        const link = new TestLink();
        link.answers = answers;
        const context = queueContext(device, link, clock, { devices: store.devices, commands });
        let queue = new CommandQueue(context);
        queue.start();
        const made: Command[] = [];
        // One without time is written at once or not at all.
        const inTime = ({ expires, creation }: Command) => expires === creation || clock.now() < expires;
        link.inTime = (text) => made.every((each) => each.command !== text || inTime(each));
        const cancelled = new Set<string>();
        const ends = new Map<string, CommandState>();
        const work: Promise<unknown>[] = [];
        const look = async () => {
          for (const { id: command, state } of await real.list(device.key, undefined, 1000)) {
            const end = ends.get(command);
            assert.ok(end === undefined || end === state, `${end} became ${state}`);
            if (finalStates.has(state)) ends.set(command, state);
          }
        };
        for (const each of actions) {
          if (each.do === "send") {
            const record = queuedCommand(device.key, clock, `<${made.length}>`, each.ttl);
            if (each.ttl === 0) {
              const { made: now, done } = queue.sendNow(device, 10_000, async (sent) => {
                const result = await real.create({ ...record, ...sent });
                if (result !== "missing") states.set(result.command.key, "sent");
                return result;
              });
              const recorded = await now;
              await done;
              if (recorded !== "missing") made.push(recorded.command);
            } else {
              const result = await real.create(record);
              if (result === "missing") continue;
              made.push(result.command);
              work.push(queue.send(device, result.command));
            }
          } else if (each.do === "connect") link.reach(id);
          else if (each.do === "disconnect") link.connected = false;
          else if (each.do === "pass") clock.pass(each.ms);
          else if (each.do === "settle") await Promise.all(work);
          else if (each.do === "restart") {
            await queue.stop();
            queue = new CommandQueue(context);
            queue.start();
          } else if ("which" in each) {
            const command = made[each.which];
            const stepped = command && (await step(command.key, ["queued"], "cancelled", { finishedAt: clock.now() }));
            if (stepped) cancelled.add(stepped.command);
          }
          await look();
        }
        await Promise.all(work);
        await queue.stop();
        await look();
        const numbers = link.written.map((text) => Number(text.slice(1, -1)));
        assert.equal(new Set(numbers).size, numbers.length, `written twice: ${link.written.join()}`);
        assert.deepEqual(
          numbers,
          numbers.toSorted((a, b) => a - b),
        );
        for (const { command, state } of await real.list(device.key, undefined, 1000)) {
          if (state === "expired" || state === "cancelled" || state === "queued")
            assert.ok(!link.written.includes(command));
          if (state === "delivered") assert.ok(link.written.includes(command));
        }
        for (const text of cancelled) assert.ok(!link.written.includes(text));
      },
    ),
    { numRuns: 60 },
  );
});
