import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { ChunkIndex } from "./chunk-index.ts";
import { DeviceChunks, firstPlace } from "./device-chunks.ts";
import { fullBytes, fullRecords } from "./sizes.ts";
import { Sweep } from "./sweep.ts";

interface Chunk {
  readonly seq: number;
  readonly first: number;
  readonly last: number;
  readonly count: number;
  readonly bytes: number;
}

const someChunks: fc.Arbitrary<readonly Chunk[]> = fc
  .array(
    fc.tuple(
      fc.integer({ min: 0, max: 50 }),
      fc.oneof(fc.constant(0), fc.nat(5), fc.nat(60)),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 5 }),
    ),
  )
  .map((list) =>
    list.map(([first, span, count, bytes], index) => ({ seq: index + 1, first, last: first + span, count, bytes })),
  );

function indexOf(chunks: readonly Chunk[]): DeviceChunks {
  const index = new DeviceChunks();
  for (const { seq, first, last, count, bytes } of chunks) index.insert(seq, first, last, count, bytes);
  return index;
}

const sizes = {
  ofTail: { count: 2, bytes: 3 },
  smallBlock: { count: 1, bytes: 1, sealed: true },
  ofManyRecords: { count: fullRecords, bytes: 1, sealed: true },
  ofManyBytes: { count: 1, bytes: fullBytes, sealed: true },
};
const kinds = ["ofTail", "smallBlock", "ofManyRecords", "ofManyBytes"] as const;

const moment = fc.integer({ min: -5, max: 120 });
const bySeq = (a: number, b: number) => a - b;

describe("DeviceChunks", () => {
  it("finds the chunks that overlap a range", () => {
    fc.assert(
      fc.property(someChunks, moment, moment, (chunks, from, to) => {
        const expected = chunks.filter(({ first, last }) => first <= to && last >= from).map(({ seq }) => seq);
        assert.deepEqual(indexOf(chunks).overlapping(from, to).sort(bySeq), expected);
      }),
    );
  });

  it("finds the old chunks but for the one that ends last, the one with the highest row number, and damaged ones", () => {
    fc.assert(
      fc.property(someChunks, moment, fc.nat(5), fc.nat(), fc.array(fc.nat(20)), (given, before, rows, odd, known) => {
        const chunks = given.map((chunk) => (chunk.seq === odd ? { ...chunk, first: chunk.last + 1 } : chunk));
        const index = indexOf(chunks);
        const damaged = new Set(known);
        const isOld = ({ seq, first, last }: Chunk) => first < before && last < before && !damaged.has(seq);
        const whole = chunks.filter(isOld);
        const newest = whole.reduce((most, { last }) => Math.max(most, last), Number.NEGATIVE_INFINITY);
        const old = whole.filter(({ seq, last, first }) => last < newest && seq !== chunks.length && first <= last);
        const found = index.old(before, rows, damaged);
        const count = old.reduce((sum, chunk) => sum + chunk.count, 0);
        assert.equal(found.positions.count, count);
        assert.equal(found.seqs.length, Math.min(rows, old.length));
        const taken = old.filter(({ seq }) => found.seqs.includes(seq));
        assert.equal(taken.length, found.seqs.length);
        assert.equal(
          found.count,
          taken.reduce((sum, chunk) => sum + chunk.count, 0),
        );
        if (old.length === 0) return;
        assert.equal(found.positions.keptFrom, newest + 1);
        assert.ok(whole.some(({ seq, last }) => seq === found.stays && last === newest));
        assert.equal(found.positions.from, Math.min(...old.map(({ first }) => first)));
        assert.equal(found.positions.to, Math.max(...old.map(({ last }) => last)));
        // Once all are gone nothing is old, and what surrounds any later moment is as before.
        index.replace(new Set(index.old(before, chunks.length, damaged).seqs), []);
        assert.equal(index.old(before, 1, damaged).positions.count, 0);
        for (const time of [newest + 1, before, 130]) {
          if (time <= newest) continue;
          const left = new Set(indexOf(chunks.filter((chunk) => !old.includes(chunk))).newestBefore(time));
          assert.deepEqual(new Set(index.newestBefore(time)), left);
        }
      }),
    );
  });

  it("finds every chunk that may hold the newest record before a moment", () => {
    fc.assert(
      fc.property(someChunks, moment, (chunks, time) => {
        const found = new Set(indexOf(chunks).newestBefore(time));
        // The worst case: a chunk that reaches past the moment has its newest record just before it.
        const ends = chunks
          .filter(({ first }) => first < time)
          .map(({ seq, last }) => ({ seq, end: Math.min(last, time - 1) }));
        const newest = Math.max(...ends.map(({ end }) => end));
        for (const { seq, end } of ends) if (end === newest) assert.ok(found.has(seq));
        assert.equal(found.size === 0, ends.length === 0);
      }),
    );
  });

  it("gives up its chunks from the end", () => {
    fc.assert(
      fc.property(someChunks, fc.integer({ min: 1, max: 7 }), (chunks, slice) => {
        const index = indexOf(chunks);
        const seqs: number[] = [];
        while (index.length > 0) {
          const newest = index.newest(slice);
          index.removeNewest(newest.length);
          seqs.push(...newest);
        }
        assert.deepEqual(
          seqs.sort(bySeq),
          chunks.map(({ seq }) => seq),
        );
      }),
    );
  });
});

describe("what is to be sealed next", () => {
  const index = new DeviceChunks();
  for (const [seq, first, last, sealed] of [
    [1, 0, 10, true],
    [2, 11, 20, true],
    [3, 15, 15, false],
    [4, 21, 30, true],
    [5, 31, 31, false],
    [6, 32, 32, false],
  ] as const)
    index.insert(seq, first, last, sealed ? 1000 : 1, 1, sealed);

  it("begins with what overlaps the first chunk of the tail", () => {
    assert.deepEqual(index.slice(firstPlace, 9, 3, "next open").seqs, [2, 3, 4]);
    assert.deepEqual(index.slice({ first: 15, seq: 3 }, 9, 3, "next open").seqs, [5, 6]);
    assert.deepEqual(index.slice(firstPlace, 3, 3, "next open").seqs, []);
  });

  it("is everything that reaches past a moment if late reports changed the totals behind it", () => {
    assert.deepEqual(index.slice(firstPlace, 6, 9, 18).seqs, [2, 4, 5]);
    assert.deepEqual(index.slice({ first: 21, seq: 4 }, 9, 9, 18).seqs, [5, 6]);
  });
});

describe("Sweep", () => {
  it("counts the bytes of all that a step reads, also of what the step before read too", () => {
    const overlapping = Array.from({ length: 9 }, (_, seq) => ({ seq, first: seq, last: 100, count: 1, bytes: 10 }));
    const sweep = new Sweep(indexOf(overlapping), 0, 100);
    const most = { records: 1, bytes: 1000 };
    for (let step = sweep.next(most); step !== undefined; step = sweep.next(most))
      assert.equal(step.bytes, step.seqs.length * 10);
  });

  it("reads each chunk in every step in which it has records, and bounds grow", () => {
    fc.assert(
      fc.property(
        someChunks,
        moment,
        moment,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        (chunks, from, to, records, bytes) => {
          const most = { records, bytes };
          const sweep = new Sweep(indexOf(chunks), from, to);
          const overlapping = chunks.filter(({ first, last }) => first <= to && last >= from);
          let begin = from;
          for (let step = sweep.next(most); step !== undefined; step = sweep.next(most)) {
            const { bound } = step;
            assert.ok(bound >= begin);
            const read = new Set(step.seqs);
            // All that has records from where the last step ended to this one's bound is read in this step.
            for (const { seq, first, last } of overlapping)
              if (begin < bound && first < bound && first <= to && last >= begin)
                assert.ok(read.has(seq), `chunk ${seq} is read`);
            begin = Math.max(begin, bound);
          }
          assert.ok(overlapping.length === 0 || begin === Number.POSITIVE_INFINITY);
        },
      ),
    );
  });
});

describe("what separates the records of a commit", () => {
  it("is chunks that begin or end between two of them, or many records of chunks that reach over both", () => {
    const spans = fc.array(fc.oneof(fc.constant(0), fc.nat(20)), { maxLength: 30 });
    fc.assert(
      fc.property(someChunks, moment, spans, (chunks, begin, spans) => {
        const index = new ChunkIndex();
        for (const { seq, ...chunk } of chunks) index.add(1, seq, chunk);
        const separates = index.separator();
        let from = begin;
        for (const span of spans) {
          const to = from + span;
          const between = chunks.filter(({ first, last }) => last > from && first < to);
          const over = between.filter(({ first, last }) => first <= from && last >= to);
          const records = over.reduce((sum, { first, last, count }) => sum + (count * span) / (last - first), 0);
          const expected = over.length < between.length || records >= 2;
          // Sums of fractions may differ a little.
          if (Math.abs(records - 2) > 1e-9) assert.equal(separates(1, from, to), expected, `${from} to ${to}`);
          from = to;
        }
      }),
    );
  });

  it("is nothing within a gap of a chunk, or within one moment", () => {
    const index = new ChunkIndex();
    index.add(1, 1, { first: 0, last: 1000, count: 512, bytes: 50_000, sealed: true });
    const separates = index.separator();
    assert.deepEqual(
      [0, 1, 3, 4, 500].map((span) => separates(1, 400, 400 + span)),
      [false, false, false, true, true],
    );
    assert.equal(separates(2, 400, 900), false, "of another device");
  });
});

describe("ChunkIndex", () => {
  it("counts its chunks, and what is in the tail, whatever is added, replaced and removed", () => {
    const steps = fc.array(
      fc.tuple(fc.constantFrom("add", "replace", "remove"), fc.integer({ min: 1, max: 3 }), fc.constantFrom(...kinds)),
    );
    fc.assert(
      fc.property(steps, (list) => {
        const index = new ChunkIndex();
        for (const [step, device, size] of list) {
          const known = index.get(device);
          const made = { seq: index.next, first: 1, last: 1, ...sizes[size] };
          if (step === "add") index.add(device, made.seq, made);
          else if (step === "remove") index.remove(device);
          else if (known !== undefined) {
            if (size === "ofTail") index.remove(device);
            index.replace(device, known, new Set(known.newest(2)), [made]);
          }
          const all = [...index.devices()].map((key) => index.get(key) ?? new DeviceChunks());
          assert.equal(index.deviceCount, all.length);
          assert.equal(
            index.size,
            all.reduce((sum, chunks) => sum + chunks.length, 0),
          );
          let inTail = 0;
          for (const chunks of all)
            for (let place = 0; place < chunks.length; place++) if (!chunks.isSealed(place)) inTail++;
          assert.equal(index.size - index.blocks, inTail);
          assert.deepEqual(index.tail, { chunks: inTail, records: 2 * inTail, bytes: 3 * inTail });
        }
      }),
    );
  });
});
