import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { FreshRecord } from "../ports/follow.ts";
import { freshRecordOf } from "./fresh-record.ts";
import { Repeats } from "./repeats.ts";

/** A record of a moment, and one of so many things that were said of it. */
function record(time: number, said = 0): FreshRecord {
  const attributes = { said };
  return freshRecordOf({ type: "readings", time, alarms: ["sos"], readings: {}, attributes }, time, 0, false);
}

test("what a device sent last is known, of the same moment what says the same", () => {
  const repeats = new Repeats();
  const first = [record(1), record(2)];
  assert.equal(repeats.without(1, first), first);
  repeats.appended(1, first);
  assert.deepEqual(repeats.without(1, [record(1), record(2, 1), record(3)]), [record(2, 1), record(3)]);
  assert.deepEqual(repeats.without(1, [record(2), record(1)]), []);
  assert.equal(repeats.without(2, first), first);
});

test("whatever comes, nothing is dropped that was not appended, and the last sixteen are", () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.tuple(fc.nat(8), fc.nat(3)), { maxLength: 30 })), (batches) => {
      const repeats = new Repeats();
      const appended: string[] = [];
      const name = ({ time, key }: FreshRecord) => `${time} ${key}`;
      for (const batch of batches) {
        const records = batch.map(([time, said]) => record(time, said));
        const last = new Set(appended.slice(-16));
        const fresh = repeats.without(1, records);
        const kept = new Set(fresh);
        for (const one of records) if (!kept.has(one)) assert.ok(appended.includes(name(one)));
        for (const one of fresh) assert.ok(!last.has(name(one)));
        repeats.appended(1, fresh);
        appended.push(...fresh.map(name));
      }
    }),
  );
});
