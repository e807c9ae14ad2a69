import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { someRecord } from "../../test/contract/store/records.ts";
import { byPlace, type DeviceState, neverReported } from "../model/location.ts";
import { followedState } from "./state.ts";

const withoutVersion = ({ version: _, ...state }: DeviceState) => state;

test("a state follows from records in parts as it follows from all of them together", () => {
  fc.assert(
    fc.property(fc.array(someRecord, { maxLength: 12 }), fc.nat(12), (unordered, cut) => {
      const records = unordered.toSorted(byPlace);
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
