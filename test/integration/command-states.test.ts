import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { CommandQueue } from "../../src/domain/command-queue.ts";
import { type Command, type CommandState, finalStates } from "../../src/model/command.ts";
import { systemIds } from "../../src/observe/index.ts";
import type { Dispatched, Dispatcher, Outgoing } from "../../src/ports/dispatcher.ts";
import type { NewCommand, Store } from "../../src/ports/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { TestClock } from "../support/rest.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";

/** What may follow what: a command is marked as sent only as it is about to be written, and never goes back to the queue. */
const steps: Readonly<Record<CommandState, readonly CommandState[]>> = {
  queued: ["sent", "failed", "expired", "cancelled"],
  sent: ["sent", "delivered", "failed"],
  delivered: [],
  failed: [],
  expired: [],
  cancelled: [],
};

/** A device whose connection does what the test says. */
class Link implements Dispatcher {
  connected = false;
  answers: readonly Dispatched[] = [];
  readonly written: string[] = [];
  #at = 0;
  #reachable: (device: string) => void = () => {};

  async dispatch(
    _device: string,
    outgoing: Outgoing,
    _waitMs: number,
    beforeWrite: () => Promise<boolean>,
  ): Promise<Dispatched> {
    await new Promise((resolve) => setImmediate(resolve));
    if (!this.connected) return { outcome: "notConnected" };
    const answer = this.answers[this.#at++ % this.answers.length] ?? { outcome: "noForm" };
    if (answer.outcome === "notConnected" || answer.outcome === "noForm" || answer.outcome === "refused") return answer;
    if (!(await beforeWrite())) return { outcome: "withheld" };
    if (!this.connected) return { outcome: "notConnected" };
    this.written.push("encode" in outgoing ? outgoing.encode : Buffer.from(outgoing.bytes).toString());
    if (answer.outcome === "lost") this.connected = false;
    return answer;
  }

  onReachable(listener: (device: string) => void): void {
    this.#reachable = listener;
  }

  reach(device: string): void {
    this.connected = true;
    this.#reachable(device);
  }
}

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
  store = await openSqliteStore({ directory, log: silentLog, pid: process.pid });
});
after(async () => {
  await store.close();
  removeFolder(directory);
});

/** A command that nobody has tried to send. */
function newCommand(device: number, text: string, ttl: number): NewCommand {
  const creation = clock.now();
  return {
    id: systemIds.uuid(),
    device,
    userKey: 1,
    userName: "ana@example.com",
    channel: "data",
    format: "Text",
    command: text,
    encode: false,
    state: "queued",
    creation,
    expires: creation + ttl,
    sentAt: null,
    finishedAt: null,
    reply: null,
    failure: null,
    smsId: null,
    idempotencyKey: null,
  };
}

test("whatever happens in whatever order: written at most once and in order, never after its end, no state after a final one", async () => {
  const account = await store.accounts.create({ id: "a", name: "A", timeZone: "Etc/UTC", licenses: 1000 }, clock.now());
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 25 }),
      fc.array(answer, { minLength: 1 }),
      async (actions, answers) => {
        const id = `d${++runs}`;
        const fields = { id, aliases: [], name: id, description: null, min: null, tags: {}, expires: null };
        const limits = { dailyEmailLimit: 1, dailySmsLimit: 1, odometerStart: 0 };
        const device = await store.devices.create(account.key, { ...fields, ...limits }, clock.now());
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
        const commands: Store["commands"] = {
          create: (command) => real.create(command),
          find: (owner, command) => real.find(owner, command),
          findByIdempotencyKey: (owner, user, key) => real.findByIdempotencyKey(owner, user, key),
          list: (owner, from, limit) => real.list(owner, from, limit),
          queued: (owner) => real.queued(owner),
          step,
          bySmsId: (sms) => real.bySmsId(sms),
          expire: (now) => real.expire(now),
          nextExpiry: () => real.nextExpiry(),
        };
        const link = new Link();
        link.answers = answers;
        const context = {
          store: { devices: store.devices, commands },
          dispatcher: link,
          clock,
          log: silentLog,
          waitMs: 1,
        };
        let queue = new CommandQueue(context);
        queue.start();
        const made: Command[] = [];
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
            const record = newCommand(device.key, `<${made.length}>`, each.ttl);
            if (each.ttl === 0) {
              const now = await queue.sendNow(device, async (sent) => {
                const result = await real.create({ ...record, ...sent });
                if (result !== "missing") states.set(result.command.key, "sent");
                return result;
              });
              if (now !== "missing") made.push(now.command);
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
