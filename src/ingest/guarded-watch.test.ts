import assert from "node:assert/strict";
import { test } from "node:test";
import { noTotals } from "../model/location.ts";
import type { Watch } from "../ports/alert-engine.ts";
import { draftOf } from "./draft.ts";
import { GuardedWatch } from "./guarded-watch.ts";

const fix = {
  type: "fix",
  time: 1,
  valid: true,
  latitude: 1,
  longitude: 1,
  alarms: [],
  readings: {},
  attributes: {},
} as const;
const found = { alerts: [{ name: "Speed", text: "fast", critical: false }] };
const outcome = { rules: "text", alerts: [], notices: [] };

test("a rule that can't be judged costs the rest of its batch's alerts, and nothing else", () => {
  let asked = 0;
  const watch: Watch = {
    full: false,
    mostBesideLate: 1000,
    observe: () => {
      if (++asked === 2) throw new Error("no such thing");
      return found;
    },
    late: () => asked++,
    tick: () => {},
    outcome: () => outcome,
  };
  const failures: unknown[] = [];
  const guarded = new GuardedWatch(watch, (error) => failures.push(error));
  const draft = draftOf(fix, 1, 1, true);
  assert.equal(guarded.observe(draft, noTotals), found);
  assert.equal(guarded.observe(draft, noTotals), undefined);
  assert.equal(guarded.observe(draft, noTotals), undefined);
  guarded.late(1, 2);
  assert.equal(guarded.outcome(), outcome);
  assert.deepEqual([asked, failures.length], [2, 1]);
});
