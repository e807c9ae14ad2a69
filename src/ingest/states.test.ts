import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeviceKey } from "../model/device.ts";
import { type DeviceState, neverReported } from "../model/location.ts";
import type { LocationStore } from "../ports/store.ts";
import { States } from "./states.ts";

const version = (number: number): DeviceState => ({ ...neverReported, version: number });

/** States over a store whose reads the test answers. */
function setUp(capacity?: number) {
  const reads: ((state: DeviceState) => void)[] = [];
  const store: Pick<LocationStore, "states"> = {
    states: (devices: readonly DeviceKey[]) =>
      new Promise((resolve) => reads.push((state) => resolve(devices.map(() => state)))),
  };
  return { reads, states: new States(store, capacity) };
}

type World = ReturnType<typeof setUp>;
const readings = {
  "the last location": ({ states }: World) => Promise.resolve(states.lastLocation(1, 0)),
  "a batch's states": ({ states }: World) => states.load([1]),
};

for (const [name, read] of Object.entries(readings)) {
  test(`${name}: what was read is remembered`, async () => {
    const world = setUp();
    const reading = read(world);
    world.reads[0]?.(version(3));
    await reading;
    assert.equal(world.states.get(1)?.version, 3);
  });

  test(`${name}: a read that began before a commit does not take its place`, async () => {
    const world = setUp();
    const reading = read(world);
    world.states.committed(1, version(4));
    world.reads[0]?.(version(3));
    await reading;
    assert.equal(world.states.get(1)?.version, 4);
  });

  test(`${name}: nor where the committed one was forgotten or made room meanwhile`, async () => {
    const forgotten = setUp();
    const first = read(forgotten);
    forgotten.states.committed(1, version(4));
    forgotten.states.forget(1);
    forgotten.reads[0]?.(version(3));
    await first;
    assert.equal(forgotten.states.get(1), undefined);

    const small = setUp(1);
    const second = read(small);
    small.states.committed(1, version(4));
    small.states.committed(2, version(1));
    small.reads[0]?.(version(3));
    await second;
    assert.equal(small.states.get(1), undefined);
  });
}

test("of two reads of a device the later one is remembered", async () => {
  const { reads, states } = setUp();
  const first = states.load([1]);
  states.committed(1, version(4));
  states.forget(1);
  const second = states.load([1]);
  reads[1]?.(version(4));
  await second;
  reads[0]?.(version(3));
  await first;
  assert.equal(states.get(1)?.version, 4);
});

test("a read that fails is followed by others", async () => {
  let down = true;
  const states = new States({ states: async () => (down ? Promise.reject(new Error("no disk")) : [version(3)]) });
  await assert.rejects(states.load([1]));
  down = false;
  await states.load([1]);
  assert.equal(states.get(1)?.version, 3);
});

test("states are remembered up to a number of bytes; the ones used longest ago make room", async () => {
  const states = new States({ states: async () => [] }, 1000, 100_000);
  const rules = "x".repeat(20_000);
  for (let device = 1; device <= 50; device++) states.committed(device, { ...neverReported, version: device, rules });
  assert.equal(states.get(46), undefined);
  assert.deepEqual(
    [47, 48, 49, 50].map((device) => states.get(device)?.version),
    [47, 48, 49, 50],
  );
  for (let version = 1; version < 100; version++) states.committed(50, { ...neverReported, version, rules });
  assert.equal(states.get(47)?.version, 47, "a state that is replaced takes its place once");
});
