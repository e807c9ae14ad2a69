import assert from "node:assert/strict";
import { test } from "node:test";
import { firstArrival, type LocationRecord, neverReported, noTotals } from "../model/location.ts";
import { Moments } from "./moments.ts";

const record: LocationRecord = {
  time: 1000,
  arrival: firstArrival,
  hash: 1,
  receivedAt: 1000,
  valid: false,
  latitude: 0,
  longitude: 0,
  extras: "x".repeat(30_000),
  totals: noTotals,
};
const state = { ...neverReported, time: 1000, arrivals: 1 };

test("moments with long records make room for each other, and what is known grows no further by commits", async () => {
  let read = 0;
  const store = {
    moment: async () => {
      read++;
      return { hashes: [1], newest: record };
    },
  };
  const moments = new Moments(store, 1_000_000);
  for (let device = 1; device <= 100; device++) await moments.load(device, state, 1000);
  const kept = () =>
    Array.from({ length: 100 }, (_, at) => at + 1).filter((device) => moments.get(device, state, 1000));
  assert.ok(kept().length < 20, `${kept().length} moments of 60 KB each`);
  assert.equal(read, 100);
  const some = kept();
  assert.deepEqual(
    some,
    Array.from({ length: some.length }, (_, at) => 101 - some.length + at),
    "those that were used last",
  );
  for (const device of some) {
    const longer = { ...record, arrival: firstArrival + 1, hash: 2, extras: "x".repeat(100_000) };
    const after = { ...state, version: 1, arrivals: 2 };
    moments.whenStored(device, state, { records: [longer], patches: [], state: after })?.();
    const known = moments.get(device, after, 1000);
    if (known !== undefined) assert.deepEqual([...known.hashes], [1, 2]);
  }
  const grown = some.filter((device) => moments.get(device, { ...state, arrivals: 2 }, 1000));
  assert.ok(grown.length > 0 && grown.length <= 4, `${grown.length} moments of 200 KB each`);
});
