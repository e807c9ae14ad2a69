import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { CommandQueue } from "../../src/domain/command-queue.ts";
import type { Store } from "../../src/ports/store.ts";
import { deviceFields, makeAccount } from "../contract/store/harness.ts";
import { queueContext, queuedCommand, stepping, TestLink } from "../support/command-queues.ts";
import { TestClock } from "../support/rest.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { openStore } from "../support/store.ts";

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

test("a command's time, or its device's, runs out in the last waits before it is written: it is not", async () => {
  const account = await makeAccount(store);
  let runs = 0;
  async function send(ttl: number, deviceTtl: number | null, when: "connection" | "record") {
    const id = `e${++runs}`;
    const expires = deviceTtl === null ? null : clock.now() + deviceTtl;
    const device = await store.devices.create(account.key, deviceFields({ id, expires }), clock.now());
    assert.ok(typeof device === "object");
    const link = new TestLink();
    link.connected = true;
    link.answers = [{ outcome: "answered", text: "ok" }];
    const pass = () => clock.pass(200_000);
    if (when === "connection") link.meanwhile = pass;
    const real = store.commands;
    const commands = stepping(real, async (...input) => {
      const stepped = await real.step(...input);
      if (when === "record") pass();
      return stepped;
    });
    const context = queueContext(device, link, clock, { devices: store.devices, commands });
    const queue = new CommandQueue(context);
    const record = queuedCommand(device.key, clock, "x", ttl);
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
  // No machine is so slow that these run out by themselves.
  const [short, long] = [100_000, 6_000_000];
  assert.deepEqual(await send(short, null, "connection"), [0, "queued", null, null]);
  assert.deepEqual(await send(short, null, "record"), [0, "expired", null, null]);
  assert.deepEqual(await send(long, short, "connection"), [0, "queued", null, null]);
  assert.deepEqual(await send(long, short, "record"), [0, "failed", null, "the device expired"]);
  assert.deepEqual(await send(0, short, "connection"), [0, "failed", null, "the device expired"]);
  assert.equal((await send(0, null, "connection"))[0], 1);
});

test("a device that connects between two commands gets the one that was queued first", async () => {
  const account = await makeAccount(store);
  const device = await store.devices.create(account.key, deviceFields({ id: "between" }), clock.now());
  assert.ok(typeof device === "object");
  const link = new TestLink();
  link.connected = true;
  const sent = { outcome: "answered", text: "ok" } as const;
  link.answers = [{ outcome: "notConnected" }, sent];
  const queue = new CommandQueue(queueContext(device, link, clock, store));
  assert.ok((await store.commands.create(queuedCommand(device.key, clock, "queued", 100_000))) !== "missing");
  const record = queuedCommand(device.key, clock, "now", 0);
  await queue.sendNow(device, 10_000, (state) => store.commands.create({ ...record, ...state })).done;
  assert.deepEqual(link.written, []);
  const { state, failure } = (await store.commands.find(device.key, record.id)) ?? {};
  assert.deepEqual([state, failure], ["failed", "the device is not connected"]);
  link.answers = [sent];
  link.reach("between");
  while (link.written.length === 0) await pause(5);
  await queue.stop();
  assert.deepEqual(link.written, ["queued"]);
});

test("a command that waits for one device costs the others' connecting nothing", async () => {
  const account = await makeAccount(store);
  const make = async (id: string) => {
    const device = await store.devices.create(account.key, deviceFields({ id }), clock.now());
    assert.ok(typeof device === "object");
    return device;
  };
  const [waited, other] = [await make("waited"), await make("other")];
  const asked: string[] = [];
  const link = new TestLink();
  link.answers = [{ outcome: "answered", text: "ok" }];
  /** What the store was asked. The queue asks at once, and goes on with each answer before the test does. */
  const answers: Promise<unknown>[] = [];
  const noted = <T>(answer: Promise<T>) => {
    answers.push(answer);
    return answer;
  };
  const devices: Pick<Store["devices"], "find" | "findByKey"> = {
    find: (id) => {
      asked.push(id);
      return noted(store.devices.find(id));
    },
    findByKey: (key) => store.devices.findByKey(key),
  };
  const commands: Store["commands"] = {
    ...stepping(store.commands, (...input) => store.commands.step(...input)),
    waitingDevices: (limit) => noted(store.commands.waitingDevices(limit)),
  };
  const context = queueContext(waited, link, clock, { devices, commands });
  const reach = async (queue: CommandQueue, id: string) => {
    link.reach(id);
    await Promise.all(answers);
    await queue.finished(waited, { ...record, key: 0 });
  };
  const record = { ...queuedCommand(waited.key, clock, "x", 60_000), key: 0 };
  // Of an earlier run, and of this one.
  await store.commands.create(queuedCommand(waited.key, clock, "before", 60_000));
  const queue = new CommandQueue(context);
  queue.start();
  await Promise.all(answers);
  await reach(queue, other.id);
  assert.deepEqual(asked, []);
  await reach(queue, waited.id);
  assert.deepEqual([asked.splice(0), link.written], [["waited"], ["before"]]);
  await reach(queue, waited.id);
  assert.deepEqual(asked, []);
  link.connected = false;
  const made = await store.commands.create(queuedCommand(waited.key, clock, "now", 60_000));
  assert.ok(made !== "missing");
  await queue.send(waited, made.command);
  await reach(queue, other.id);
  link.connected = false;
  assert.deepEqual(asked, []);
  await reach(queue, waited.id);
  assert.deepEqual([asked, link.written], [["waited"], ["before", "now"]]);
  await queue.stop();
});
