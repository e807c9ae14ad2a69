import assert from "node:assert/strict";
import { after, test } from "node:test";
import { faults } from "../../bench/chaos/faults/index.ts";
import { type Result, Stage } from "../../bench/chaos/stage.ts";
import { rows, table } from "../../bench/chaos/table.ts";
import { atEnd } from "../support/at-end.ts";

/*
 * Each fault once, with few trackers, one after the other on one folder. `npm run chaos` plays many rounds of each, on folders of their own.
 */

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const stage = new Stage({ whole: false, rounds: 1, reportMs: 400 }, seed);
atEnd(() => stage.close());
const results: Result[] = [];
const options = { timeout: 120_000 };

test("each fault has a name of its own", () => {
  assert.equal(new Set(faults.map(({ name }) => name)).size, faults.length);
});

for (const fault of faults) {
  const held = fault.holds ?? "what was acknowledged is there once, and all that is derived is right";
  test(`${fault.name}: ${held}`, { ...options, skip: fault.impossible?.() ?? false }, async () => {
    const result = await stage.play(fault);
    results.push(result);
    assert.ok(result.broken.length === 0, rows(result));
  });
}

test("everything is whole after all faults", options, async () => {
  const broken = await stage.finish();
  assert.ok(broken.length === 0, broken.join("\n"));
});

after(() => process.stderr.write(`seed ${seed}\n${table(results)}\n`));
