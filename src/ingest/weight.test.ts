import assert from "node:assert/strict";
import { test } from "node:test";
import { neverReported } from "../model/location.ts";
import { weightOf } from "./weight.ts";

test("ends of alerts weigh: a report of two thousand rules has as many, and a commit of many such devices is cut", () => {
  const plan = { records: [], patches: [], state: neverReported };
  const end = { ruleKey: 1, time: 1, foundAt: 1 };
  assert.ok(weightOf({ ...plan, ended: Array(2000).fill(end) }) >= weightOf(plan) + 2000 * 100);
});
