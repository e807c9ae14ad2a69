import assert from "node:assert/strict";
import { it } from "node:test";
import { FleetStore } from "../live/store.ts";
import { matchesOf } from "./filter.ts";

const now = Date.UTC(2026, 0, 15, 12);
const devices = [
  { id: "1", name: "Truck 1", tags: { driver: "Ana" } },
  { id: "2", name: "Truck 2", min: "+573001234567" },
  { id: "3", name: "Van" },
];
const store = new FleetStore(now);
for (const { id, speed } of [
  { id: "1", speed: 50 },
  { id: "2", speed: 0 },
])
  store.move(id, { longitude: 0, latitude: 0, speed, course: 0, fixAt: now, ignition: false, critical: false }, now);

function found(text: string, group?: readonly string[], states: readonly number[] = []): string {
  const wish = { text, group: group && new Set(group), states: new Set(states) };
  return matchesOf(store, devices, wish)
    .devices.map(({ id }) => id)
    .join();
}

it("devices are found by name, id, number, tag, group and state", () => {
  assert.equal(found(""), "1,2,3");
  assert.equal(found(" truck "), "1,2");
  assert.equal(found("ANA"), "1");
  assert.equal(found("3001234"), "2");
  assert.equal(found("truck", ["2", "3"]), "2");
  assert.equal(found("", undefined, [0]), "1");
});

it("one that never reported counts as offline", () => {
  const { counts, shown } = matchesOf(store, devices, { text: "", group: undefined, states: new Set([4]) });
  assert.deepEqual(counts, [1, 0, 1, 0, 1]);
  assert.deepEqual([...(shown ?? [])], [0, 0]);
});
