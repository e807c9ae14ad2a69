import assert from "node:assert/strict";
import { test } from "node:test";
import type { BusEvent } from "../../ports/bus.ts";
import { toldIn, Untold } from "./told.ts";

const device = (key: number) => ({ device: { key, accountKey: 1, id: "van" } });
const plain = (key: number): BusEvent => ({ type: "committed", devices: [{ ...device(key), plan: {} }] });
const found = (key: number, id: string): BusEvent => ({
  type: "committed",
  devices: [{ ...device(key), plan: { alerts: [{ id }], ended: [] } }],
});

test("what is told keeps its order, and what was found of a device comes as one behind it", () => {
  const untold = new Untold();
  const others: readonly BusEvent[] = [
    { type: "rulesChanged", accountKey: 1 },
    { type: "userChanged", accountKey: 1, key: 2 },
  ];
  for (const event of [found(7, "a"), ...others, plain(8), found(7, "b"), plain(8)]) untold.add(event);
  const devices = [
    { device: { key: 8, accountKey: 1 }, plan: {} },
    { device: { key: 7, accountKey: 1 }, plan: { alerts: [{ id: "a" }, { id: "b" }], ended: [] } },
  ];
  assert.deepEqual(toldIn(untold.take()), [...others, { type: "committed", devices }]);
  assert.ok(untold.isEmpty);
  assert.deepEqual(toldIn(untold.take()), []);
});

test("what comes of a device again and again is told as it is now", () => {
  const untold = new Untold();
  const way = { id: "van", key: 7, protocol: "gt06", transport: "tcp", address: "192.0.2.1" } as const;
  const other = { ...way, id: "car", key: 8, at: 1 };
  const heard = (at: number): BusEvent => ({ type: "heard", devices: [{ key: 7, id: "van", at }] });
  for (let at = 1; at <= 1000; at++) {
    untold.add({ type: "reachChanged", devices: [{ ...way, at, mark: at }] });
    untold.add(heard(at));
  }
  untold.add({ type: "reachChanged", devices: [{ ...way, at: 1000 }, other] });
  assert.ok(!untold.isEmpty);
  assert.deepEqual(toldIn(untold.take()), [
    { type: "reachChanged", devices: [{ ...way, at: 1000, mark: 1000 }, { ...way, at: 1000 }, other] },
    heard(1000),
  ]);
  assert.ok(untold.isEmpty);
});

test("devices that only reported take few bytes", () => {
  const untold = new Untold();
  for (let key = 10_000; key < 11_000; key++) untold.add(plain(key));
  assert.ok(untold.take().length < 7000);
});
