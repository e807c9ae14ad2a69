import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Candidate, planSealing } from "./sealing-plan.ts";

const most = { records: 2048, bytes: 2 ** 21 };

function chunk(seq: number, first: number, last: number, changes: Partial<Candidate> = {}): Candidate {
  const head = { device: 1, seq, first, last, count: 1, bytes: 100, sealed: false, asOf: seq };
  return { ...head, changes: false, lifts: false, ...changes };
}

const full = { sealed: true, count: 1024 } as const;

function plan(rows: readonly Candidate[], everything = false) {
  const { taken, runs, lifts } = planSealing(rows, everything, most);
  return { taken, runs: runs.map((run) => run.map(({ seq }) => seq)), lifts: lifts.map(({ seq }) => seq) };
}

describe("what is sealed", () => {
  it("is the tail, with the small block before it", () => {
    const rows = [
      chunk(1, 0, 9, full),
      chunk(2, 10, 19, { sealed: true, count: 5 }),
      chunk(3, 20, 20),
      chunk(4, 21, 21),
    ];
    assert.deepEqual(plan(rows), { taken: 4, runs: [[2, 3, 4]], lifts: [] });
  });

  it("leaves a few late chunks beside a full block, until there are many or something else changes the block", () => {
    const block = chunk(1, 0, 100, full);
    const late = (count: number) => Array.from({ length: count }, (_, at) => chunk(2 + at, 5 + at, 5 + at));
    assert.deepEqual(plan([block, ...late(3)]).runs, []);
    assert.equal(plan([block, ...late(16)]).runs[0]?.length, 17);
    assert.deepEqual(plan([block, ...late(3)], true).runs, [[1, 2, 3, 4]]);
    assert.deepEqual(plan([{ ...block, changes: true }, ...late(1)], true).runs, [[1, 2]]);
  });

  it("goes up to what is packed at a time", () => {
    const rows = Array.from({ length: 20 }, (_, at) => chunk(at, at, at, { count: 256 }));
    assert.equal(plan(rows).taken, 8);
  });

  it("puts nothing into one block from both sides of a block that stays", () => {
    const rows = [chunk(2, 0, 4), chunk(1, 5, 9, full), chunk(3, 10, 12)];
    assert.deepEqual(plan(rows).runs, [[2], [3]]);
  });
});

describe("a block to whose records the same is added", () => {
  it("is not packed anew, small or full", () => {
    const rows = [chunk(1, 0, 9, { ...full, lifts: true }), chunk(2, 10, 19, { sealed: true, lifts: true })];
    assert.deepEqual(plan(rows, true), { taken: 2, runs: [], lifts: [1, 2] });
  });

  it("is packed anew where some of its records change otherwise", () => {
    assert.deepEqual(plan([chunk(1, 0, 9, { ...full, changes: true, lifts: true })], true).runs, [[1]]);
  });
});
