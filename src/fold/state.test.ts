import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { someRecord } from "../../test/contract/store/records.ts";
import {
  byPlace,
  type DeviceState,
  type LocationRecord,
  neverReported,
  noTotals,
  withTotals,
} from "../model/location.ts";
import { followedState } from "./state.ts";
import { stepOf } from "./step.ts";
import { advance } from "./totals.ts";

/** Records in their order, with the totals that the fold gives them. */
function folded(unordered: readonly LocationRecord[]): readonly LocationRecord[] {
  let totals = noTotals;
  let before: number | undefined;
  return unordered.toSorted(byPlace).map((record) => {
    totals = advance(totals, before, stepOf(record));
    before = record.time;
    return withTotals(record, totals);
  });
}

const withoutVersion = ({ version: _, ...state }: DeviceState) => state;

test("a state follows from records in parts as it follows from all of them together", () => {
  fc.assert(
    fc.property(fc.array(someRecord, { maxLength: 12 }), fc.nat(12), (unordered, cut) => {
      const records = folded(unordered);
      const whole = followedState(neverReported, records);
      const parts = followedState(followedState(neverReported, records.slice(0, cut)), records.slice(cut));
      assert.deepEqual(withoutVersion(parts), withoutVersion(whole));
      assert.deepEqual([whole.version, parts.version], [1, 2]);
    }),
  );
});

test("a state keeps what its device's rules know", () => {
  fc.assert(
    fc.property(someRecord, (record) => {
      assert.equal(followedState({ ...neverReported, rules: "[]" }, [record]).rules, "[]");
    }),
  );
});
