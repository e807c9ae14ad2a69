import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sharesFolder } from "../../bench/chaos/fault.ts";
import { faults } from "../../bench/chaos/faults/index.ts";
import { play, type Result, Stage } from "../../bench/chaos/stage.ts";
import { rows, table } from "../../bench/chaos/table.ts";
import { atEnd } from "../support/at-end.ts";
import { chance } from "../support/chance.ts";

/*
 * The seed chooses some faults. Each is played once, with few trackers, one after the other on one folder. Faults whose
 * trackers have histories of their own have folders of their own, too. `npm run chaos` plays many rounds of all faults,
 * each on its own folder.
 */

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const pace = { whole: false, rounds: 1, reportMs: 400 };
const stage = new Stage(pace, seed);
atEnd(() => stage.close());
const results: Result[] = [];
/** More would take longer than a minute. */
const played = 6;
const random = chance(seed);
const chosen = faults
  .map((fault) => ({ fault, place: random() }))
  .toSorted((one, other) => one.place - other.place)
  .slice(0, played)
  .map(({ fault }) => fault);
const options = { timeout: 120_000 };

test("each fault has a name of its own", () => {
  assert.equal(new Set(faults.map(({ name }) => name)).size, faults.length);
});

for (const fault of chosen) {
  const held = fault.holds ?? "what was acknowledged is there once, and all that is derived is right";
  test(`${fault.name}: ${held}`, { ...options, skip: fault.impossible?.() ?? false }, async () => {
    const result = await (sharesFolder(fault) ? stage.play(fault) : play(fault, pace, seed));
    results.push(result);
    assert.ok(result.broken.length === 0, rows(result));
  });
}

test("everything is whole after all faults", options, async () => {
  const broken = await stage.finish();
  assert.ok(broken.length === 0, broken.join("\n"));
});

after(() => process.stderr.write(`seed ${seed}\n${table(results)}\n`));
