import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryBus } from "../../test/support/bus.ts";
import { device } from "../../test/support/records.ts";
import { silentLog } from "../../test/support/silent-log.ts";
import type { Device } from "../model/device.ts";
import type { DeviceStore } from "../ports/store.ts";
import { Directory } from "./directory.ts";

class Registered {
  devices: Device[] = [];
  asked = 0;
  /** Runs while a question is under way. */
  meanwhile: (() => void) | undefined;

  async identify(ids: readonly string[]): Promise<Device | undefined> {
    this.asked++;
    const found = ids
      .map((id) => this.devices.find((one) => one.id === id || one.aliases.includes(id)))
      .find((one) => one !== undefined);
    const run = this.meanwhile;
    this.meanwhile = undefined;
    run?.();
    return found;
  }
}

function setUp() {
  const registered = new Registered();
  const bus = createMemoryBus();
  const clock = { time: 1_000_000, now: () => clock.time, monotonic: () => clock.time };
  const directory = new Directory(registered as unknown as DeviceStore, bus, clock, silentLog);
  return { registered, bus, clock, directory };
}

test("a remembered device is answered at once, an unknown one is asked for each time", async () => {
  const { registered, directory } = setUp();
  registered.devices = [device({ key: 1, id: "a" })];
  const first = await directory.admit(["a"]);
  assert.equal(directory.admit(["a"]), first);
  assert.equal(registered.asked, 1);
  assert.equal((await directory.admit(["b"])).status, "unknown");
  registered.devices.push(device({ key: 2, id: "b" }));
  assert.equal((await directory.admit(["b"])).status, "admitted");
});

test("a change ends what was handed out, also when it comes while the device is being asked for", async () => {
  const { registered, bus, directory } = setUp();
  registered.devices = [device({ key: 1, id: "a" })];
  registered.meanwhile = () => {
    registered.devices = [device({ key: 1, id: "a", tags: { model: "new" } })];
    bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "a" });
  };
  const admitted = await directory.admit(["a"]);
  assert.ok(admitted.status === "admitted");
  assert.equal(admitted.model, "new", "the stale answer was asked for again");
  assert.equal(admitted.live, true);
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "a" });
  assert.equal(admitted.live, false);
});

test("a device that changes each time while it is being asked for is admitted for one message", async () => {
  const { registered, bus, directory } = setUp();
  registered.devices = [device({ key: 1, id: "a" })];
  const change = () => {
    registered.meanwhile = change;
    bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "a" });
  };
  change();
  const admitted = await directory.admit(["a"]);
  assert.ok(admitted.status === "admitted");
  assert.equal(
    directory.mayReport(admitted),
    false,
    "nothing would end it: the event that told of the change has passed",
  );
  registered.meanwhile = undefined;
  registered.devices = [];
  assert.equal((await directory.admit(["a"])).status, "unknown");
});

test("an admission ends when the device expires, and when it has not been asked for in a minute", async () => {
  const { registered, clock, directory } = setUp();
  registered.devices = [device({ key: 1, id: "a", expires: clock.time + 1000 }), device({ key: 2, id: "b" })];
  const expiring = await directory.admit(["a"]);
  const lasting = await directory.admit(["b"]);
  assert.ok(expiring.status === "admitted" && lasting.status === "admitted");
  clock.time += 1000;
  assert.equal(directory.mayReport(expiring), false);
  assert.equal((await directory.admit(["a"])).status, "expired");
  assert.equal(directory.mayReport(lasting), true);
  clock.time += 60_000;
  assert.equal(directory.mayReport(lasting), false);
  assert.equal(lasting.live, false);
  assert.equal((await directory.admit(["b"])).status, "admitted");
});

test("of several identifiers the first that is registered counts, also when it is registered later", async () => {
  const { registered, bus, directory } = setUp();
  registered.devices = [device({ key: 1, id: "x", aliases: ["b"] })];
  const before = await directory.admit(["a", "b"]);
  assert.ok(before.status === "admitted");
  assert.equal(before.key, 1);
  registered.devices.push(device({ key: 2, id: "a" }));
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 2, id: "a" });
  assert.equal(before.live, false);
  const after = await directory.admit(["a", "b"]);
  assert.ok(after.status === "admitted");
  assert.equal(after.key, 2);
});

test("a registered identifier ends all devices whose lists have it, and no others", async () => {
  const { registered, bus, directory } = setUp();
  registered.devices = [1, 2, 3].map((key) => device({ key, id: `serial${key}` }));
  const lists = [
    ["a", "serial1"],
    ["a", "serial2"],
    ["serial3", "b"],
    ["c", "serial1"],
  ];
  const admitted = await Promise.all(lists.map(async (ids) => directory.admit(ids)));
  const live = () => admitted.map((one) => one.status === "admitted" && one.live);
  assert.deepEqual(live(), [true, true, true, true]);
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 4, id: "a" });
  assert.deepEqual(live(), [false, false, true, false]);
  assert.notEqual(await directory.admit(["c", "serial1"]), admitted[3], "it is asked for again");
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 4, id: "b" });
  assert.deepEqual(live(), [false, false, false, false]);
});
