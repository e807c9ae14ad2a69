import assert from "node:assert/strict";
import { test } from "node:test";
import { neverReported } from "../model/location.ts";
import { weightOf } from "./weight.ts";

test("ends of alerts count towards the weight of a commit: with two thousand rules, a report may bring as many", () => {
  const plan = { records: [], patches: [], state: neverReported };
  const end = { ruleKey: 1, time: 1, foundAt: 1 };
  assert.ok(weightOf({ ...plan, ended: Array(2000).fill(end) }) >= weightOf(plan) + 2000 * 100);
});
