import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FleetStore, type LivePosition, stride } from "./store.ts";

const now = Date.UTC(2026, 0, 15, 12);
const bogota: LivePosition = {
  longitude: -74.0721,
  latitude: 4.711,
  speed: 40,
  course: 90,
  fixAt: now,
  ignition: true,
  critical: false,
};

function floatsOf(store: FleetStore, row: number): readonly number[] {
  return [...new Float32Array(store.bytes.buffer, row * stride, 5)];
}

describe("the store of the fleet", () => {
  it("keeps a device in its row, and uses the rows of removed ones again", () => {
    const store = new FleetStore(now);
    for (const id of ["a", "b", "c"]) store.move(id, bogota, now);
    store.remove("b");
    store.move("d", bogota, now);
    assert.deepEqual(store.ids, ["a", "d", "c"]);
    assert.equal(store.size, 3);
    assert.equal(store.rows, 3);
    assert.equal(store.rowOf("b"), undefined);
  });

  it("keeps what is there when it grows", () => {
    const store = new FleetStore(now);
    for (let each = 0; each < 1000; each += 1) store.move(`d${each}`, { ...bogota, longitude: each / 10 }, now);
    assert.equal(store.x[0], 0.5);
    // (99.9 + 180) / 360
    assert.equal(store.x[999], 0.7775);
    assert.equal(store.bytes[999 * stride + 21], 64);
  });

  it("lets a device slide from where it was", () => {
    const store = new FleetStore(now);
    store.move("a", { ...bogota, longitude: 0, latitude: 0 }, now);
    store.move("a", { ...bogota, longitude: 0.018, latitude: 0 }, now + 2000);
    const [fromX, fromY, x, y, since] = floatsOf(store, 0);
    assert.deepEqual([fromX, fromY, y, since], [0, 0, 0, 2]);
    assert.ok(Math.abs((x ?? 0) - 0.00005) < 1e-9);
    assert.equal(store.movesUntil, 3);
  });

  it("lets it jump over what no vehicle drives", () => {
    const store = new FleetStore(now);
    store.move("a", { ...bogota, longitude: 0 }, now);
    store.move("a", { ...bogota, longitude: 36 }, now + 1000);
    const [fromX, , x] = floatsOf(store, 0);
    assert.equal(fromX, x);
  });

  it("says which rows changed since they were taken", () => {
    const store = new FleetStore(now);
    for (const id of ["a", "b", "c"]) store.move(id, bogota, now);
    store.taken();
    store.setStatus("b", true, now, now);
    assert.deepEqual([store.dirtyFrom, store.dirtyTo], [1, 2]);
  });

  it("finds devices offline when time passes, unless an alert is open", () => {
    const store = new FleetStore(now);
    store.move("a", bogota, now);
    store.move("b", bogota, now);
    store.setAlert("b", true, now);
    store.judgeAll(now + 600_001);
    assert.deepEqual([...store.state.slice(0, 2)], [4, 3]);
  });

  it("is good for centimetres near its origin", () => {
    const store = new FleetStore(now);
    store.move("a", bogota, now);
    store.rebase(store.x[0] ?? 0, store.y[0] ?? 0);
    assert.deepEqual(floatsOf(store, 0).slice(0, 4), [0, 0, 0, 0]);
  });
});
