import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { CommandQueue } from "../../src/domain/command-queue.ts";
import { CommandsUnderWay } from "../../src/domain/command-under-way.ts";
import type { User } from "../../src/model/account.ts";
import { type Command, type CommandState, finalStates } from "../../src/model/command.ts";
import { noIdentityRules } from "../../src/model/device.ts";
import { systemIds } from "../../src/observe/index.ts";
import type { NewCommand } from "../../src/ports/command-store.ts";
import type { Dispatched, Dispatcher, Outgoing } from "../../src/ports/dispatcher.ts";
import type { Store } from "../../src/ports/store.ts";
import { TestClock } from "../support/rest.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore } from "../support/store.ts";

/** What may follow what: a command is marked as sent only as it is about to be written, and never goes back to the queue. */
const steps: Readonly<Record<CommandState, readonly CommandState[]>> = {
  queued: ["sent", "failed", "expired", "cancelled"],
  // Its time may run out while that is recorded.
  sent: ["sent", "delivered", "failed", "expired"],
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
  /** What happens while a command waits for something before it is written. */
  meanwhile: () => void = () => {};
  /** Whether a command may still be written. */
  inTime: (text: string) => boolean = () => true;
  #at = 0;
  #reachable: (device: string) => void = () => {};

  async dispatch(
    _device: string,
    outgoing: Outgoing,
    _waitMs: number,
    beforeWrite: () => Promise<boolean>,
  ): Promise<Dispatched> {
    await new Promise((resolve) => setImmediate(resolve));
    this.meanwhile();
    if (!this.connected) return { outcome: "notConnected" };
    const answer = this.answers[this.#at++ % this.answers.length] ?? { outcome: "noForm" };
    if (answer.outcome === "notConnected" || answer.outcome === "noForm" || answer.outcome === "refused") return answer;
    if (!(await beforeWrite())) return { outcome: "withheld" };
    if (!this.connected) return { outcome: "notConnected" };
    const text = "encode" in outgoing ? outgoing.encode : Buffer.from(outgoing.bytes).toString();
    assert.ok(this.inTime(text), `${text} was written after its time`);
    this.written.push(text);
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

/** Who sends the commands; what one that lost the right queued is another test's matter. */
const sender: User = {
  key: 1,
  id: "u",
  accountKey: 1,
  owner: true,
  name: "Ana",
  email: "ana@example.com",
  country: "CO",
  timeZone: "America/Bogota",
  description: null,
  message: null,
  disabled: false,
  disabledMessage: null,
  tags: null,
  privileges: ["admin"],
  group: null,
  deviceId: null,
  adminDevices: null,
  from: null,
  expires: null,
  passwordHash: null,
  apiKeyHash: null,
  apiKeyId: null,
  creation: 0,
  modification: 0,
  lastLogin: null,
};

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
    idempotencyKey: null,
  };
}

/** The store's commands, stepped in the test's own way. */
function stepping(real: Store["commands"], step: Store["commands"]["step"]): Store["commands"] {
  return {
    create: (...input) => real.create(...input),
    enqueue: (...input) => real.enqueue(...input),
    find: (...input) => real.find(...input),
    findByIdempotencyKey: (...input) => real.findByIdempotencyKey(...input),
    list: (...input) => real.list(...input),
    page: (...input) => real.page(...input),
    queued: (...input) => real.queued(...input),
    step,
    receipt: (...input) => real.receipt(...input),
    waitingDevices: (...input) => real.waitingDevices(...input),
    deleteEnded: (...input) => real.deleteEnded(...input),
    expire: (...input) => real.expire(...input),
    nextExpiry: () => real.nextExpiry(),
  };
}

test("whatever happens in whatever order: written at most once and in order, never after its end, no state after a final one", async () => {
  const account = await store.accounts.create(
    { id: "a", name: "A", timeZone: "Etc/UTC", licenses: 1000, language: "en" },
    clock.now(),
  );
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 25 }),
      fc.array(answer, { minLength: 1 }),
      async (actions, answers) => {
        const id = `d${++runs}`;
        const fields = { id, aliases: [], name: id, description: null, min: null, tags: {}, expires: null };
        const limits = {
          dailyEmailLimit: 1,
          dailySmsLimit: 1,
          odometerStart: 0,
          identity: noIdentityRules,
          positionDays: null,
        };
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
        const commands = stepping(real, step);
        const link = new Link();
        link.answers = answers;
        const context = {
          store: { devices: store.devices, commands, users: { findByKey: async () => sender } },
          devices: { find: async () => device },
          dispatcher: link,
          clock,
          log: silentLog,
          underWay: new CommandsUnderWay(),
          waitMs: 1,
        };
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
            const record = newCommand(device.key, `<${made.length}>`, each.ttl);
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

test("a command's time, or its device's, runs out in the last waits before it is written: it is not", async () => {
  const account = await store.accounts.create(
    { id: "b", name: "B", timeZone: "Etc/UTC", licenses: 9, language: "en" },
    clock.now(),
  );
  const limits = {
    dailyEmailLimit: 1,
    dailySmsLimit: 1,
    odometerStart: 0,
    identity: noIdentityRules,
    positionDays: null,
  };
  let runs = 0;
  async function send(ttl: number, deviceTtl: number | null, when: "connection" | "record") {
    const id = `e${++runs}`;
    const expires = deviceTtl === null ? null : clock.now() + deviceTtl;
    const fields = { id, aliases: [], name: id, description: null, min: null, tags: {}, expires };
    const device = await store.devices.create(account.key, { ...fields, ...limits }, clock.now());
    assert.ok(typeof device === "object");
    const link = new Link();
    link.connected = true;
    link.answers = [{ outcome: "answered", text: "ok" }];
    const pass = () => clock.pass(2000);
    if (when === "connection") link.meanwhile = pass;
    const real = store.commands;
    const commands = stepping(real, async (...input) => {
      const stepped = await real.step(...input);
      if (when === "record") pass();
      return stepped;
    });
    const context = {
      store: { devices: store.devices, commands, users: { findByKey: async () => sender } },
      devices: { find: async () => device },
      dispatcher: link,
      clock,
      log: silentLog,
      underWay: new CommandsUnderWay(),
      waitMs: 1,
    };
    const queue = new CommandQueue(context);
    const record = newCommand(device.key, "x", ttl);
    if (ttl === 0) await queue.sendNow(device, 10_000, (sent) => real.create({ ...record, ...sent })).done;
    else {
      const made = await real.create(record);
      assert.ok(made !== "missing");
      await queue.send(device, made.command);
    }
    await queue.stop();
    const command = await real.find(device.key, record.id);
    return [link.written.length, command?.state, command?.sentAt ?? null, command?.failure ?? null];
  }
  assert.deepEqual(await send(1000, null, "connection"), [0, "queued", null, null]);
  assert.deepEqual(await send(1000, null, "record"), [0, "expired", null, null]);
  assert.deepEqual(await send(60_000, 1000, "connection"), [0, "queued", null, null]);
  assert.deepEqual(await send(60_000, 1000, "record"), [0, "failed", null, "the device expired"]);
  assert.deepEqual(await send(0, 1000, "connection"), [0, "failed", null, "the device expired"]);
  assert.equal((await send(0, null, "connection"))[0], 1);
});

test("a command that waits for one device costs the others' connecting nothing", async () => {
  const account = await store.accounts.create(
    { id: "w", name: "W", timeZone: "Etc/UTC", licenses: 9, language: "en" as const },
    clock.now(),
  );
  const limits = {
    dailyEmailLimit: 1,
    dailySmsLimit: 1,
    odometerStart: 0,
    identity: noIdentityRules,
    positionDays: null,
  };
  const make = async (id: string) => {
    const fields = { id, aliases: [], name: id, description: null, min: null, tags: {}, expires: null, ...limits };
    const device = await store.devices.create(account.key, fields, clock.now());
    assert.ok(typeof device === "object");
    return device;
  };
  const [waited, other] = [await make("waited"), await make("other")];
  const asked: string[] = [];
  const link = new Link();
  link.answers = [{ outcome: "answered", text: "ok" }];
  const devices: Pick<Store["devices"], "find"> = {
    find: (id) => {
      asked.push(id);
      return store.devices.find(id);
    },
  };
  const context = {
    store: { devices, commands: store.commands, users: { findByKey: async () => sender } },
    devices: { find: async () => waited },
    dispatcher: link,
    clock,
    log: silentLog,
    underWay: new CommandsUnderWay(),
    waitMs: 1,
  };
  const reach = async (queue: CommandQueue, id: string) => {
    link.reach(id);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await queue.finished(waited, { ...record, key: 0 });
  };
  const record = { ...newCommand(waited.key, "x", 60_000), key: 0 };
  // Of an earlier run, and of this one.
  await store.commands.create(newCommand(waited.key, "before", 60_000));
  const queue = new CommandQueue(context);
  queue.start();
  await new Promise((resolve) => setTimeout(resolve, 20));
  await reach(queue, other.id);
  assert.deepEqual(asked, []);
  await reach(queue, waited.id);
  assert.deepEqual([asked.splice(0), link.written], [["waited"], ["before"]]);
  await reach(queue, waited.id);
  assert.deepEqual(asked, []);
  link.connected = false;
  const made = await store.commands.create(newCommand(waited.key, "now", 60_000));
  assert.ok(made !== "missing");
  await queue.send(waited, made.command);
  await reach(queue, other.id);
  link.connected = false;
  assert.deepEqual(asked, []);
  await reach(queue, waited.id);
  assert.deepEqual([asked, link.written], [["waited"], ["before", "now"]]);
  await queue.stop();
});
