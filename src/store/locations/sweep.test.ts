import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DeviceChunks } from "./device-chunks.ts";
import { Sweep } from "./sweep.ts";

const most = { records: 1, bytes: 1e9 };

/** A record at `first`, one at `last`, and so on in between: each chunk has one record a unit of time. */
interface Made {
  readonly seq: number;
  readonly first: number;
  readonly last: number;
}

const someChunks = fc
  .array(fc.tuple(fc.nat(30), fc.nat(30)), { minLength: 1, maxLength: 12 })
  .map((spans) => spans.map(([first, length], at): Made => ({ seq: at + 1, first, last: first + length })));

function insert(chunks: DeviceChunks, { seq, first, last }: Made): void {
  chunks.insert(seq, first, last, 1, 100);
}

test("each record is given once and in order, and some in each step, though chunks are sealed between the steps", () => {
  fc.assert(
    fc.property(someChunks, fc.nat(40), fc.array(fc.boolean(), { maxLength: 20 }), (made, from, seals) => {
      const chunks = new DeviceChunks();
      for (const chunk of made) insert(chunks, chunk);
      let there: readonly Made[] = made;
      const sweep = new Sweep(chunks, from, Number.POSITIVE_INFINITY);
      const given: number[] = [];
      let past = from;
      for (let step = sweep.next(most), at = 0; step !== undefined; step = sweep.next(most), at++) {
        assert.ok(step.bound >= past, `bound ${step.bound} after ${past}`);
        const taken = there.filter(({ seq }) => step?.seqs.includes(seq));
        const some = timesOf(taken, past, step.bound);
        // A step that gives nothing is read for nothing: the next one reads the same chunks again.
        assert.ok(some.length > 0, "each step gives some");
        given.push(...some);
        past = step.bound;
        if (seals[at] !== true) continue;
        // The same chunks with other row numbers, as sealing leaves them.
        const old = there;
        there = there.map((chunk) => ({ ...chunk, seq: chunk.seq + 100 }));
        const blocks = there.map((chunk) => ({ ...chunk, count: 1, bytes: 100, sealed: true }));
        chunks.replace(new Set(old.map(({ seq }) => seq)), blocks);
      }
      assert.deepEqual(given, timesOf(made, from, Number.POSITIVE_INFINITY));
    }),
    { numRuns: 1000 },
  );
});

/** Times of the records of chunks that are in [from, to). */
function timesOf(chunks: readonly Made[], from: number, to: number): readonly number[] {
  const times = chunks.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, at) => first + at));
  return times.filter((time) => time >= from && time < to).sort((one, other) => one - other);
}
