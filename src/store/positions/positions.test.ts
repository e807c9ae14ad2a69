import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { said, someSaid, sortedOnce, start, unlocated } from "../../../test/contract/positions/said.ts";
import { runs } from "../../../test/support/runs.ts";
import type { SaidRecord } from "../../model/said.ts";
import { openBlock, packBlock } from "./block.ts";
import { clustersOf } from "./clusters.ts";
import { BlockDamaged } from "./columns/bytes.ts";
import { RecordsDamaged } from "./damage.ts";
import { LogRow, putRow, sealRow } from "./log-row.ts";
import { Merge } from "./merge.ts";
import { putRecord, readPacked } from "./packed-record.ts";
import { RecordRun } from "./record-run.ts";
import type { RecordWalk } from "./record-view.ts";
import { ByteSink } from "./sink.ts";
import { SortedRecords } from "./sorted-records.ts";
import { Places } from "./sqlite/places.ts";

function packed(records: readonly SaidRecord[]): Uint8Array {
  const sink = new ByteSink(64);
  for (const record of records) putRecord(sink, record);
  return sink.cut();
}

function walked(walk: Pick<RecordWalk, "next" | "write">): readonly SaidRecord[] {
  const sink = new ByteSink(64);
  while (walk.next()) walk.write(sink);
  return readPacked(sink.written);
}

const some = fc.array(someSaid, { minLength: 1, maxLength: 40 });
const byTime = (one: SaidRecord, other: SaidRecord) => one.time - other.time;

describe("packed records", () => {
  it("come back as they were", () => {
    fc.assert(fc.property(some, (records) => assert.deepEqual(readPacked(packed(records)), records)));
  });

  it("take 29 bytes where nothing is unusual", () => {
    assert.equal(packed([said(1)]).byteLength, 29);
    assert.equal(packed([unlocated(1)]).byteLength, 17);
  });

  it("say that they are damaged where a length is wrong", () => {
    const bytes = packed([said(1), said(2)]);
    assert.throws(() => readPacked(bytes.subarray(0, 40)), RecordsDamaged);
    bytes[0] = 3;
    assert.throws(() => readPacked(bytes), RecordsDamaged);
  });
});

describe("blocks", () => {
  it("give their records and keys back", () => {
    fc.assert(
      fc.property(some, (unordered) => {
        const records = unordered.toSorted(byTime);
        const block = packBlock(packed(records), 7);
        assert.deepEqual(walked(openBlock(block, 7)), records);
        const walk = openBlock(block, 7);
        for (const record of records) {
          assert.equal(walk.nextTime, record.time);
          walk.next();
          assert.deepEqual([walk.time, walk.key], [record.time, record.key]);
        }
        assert.ok(Number.isNaN(walk.nextTime));
      }),
    );
  });

  it("never give wrong records, whatever bit is changed", () => {
    const block = packBlock(packed([said(1), said(2)]), 7);
    for (let bit = 0; bit < 8 * block.data.byteLength; bit++) {
      const data = Uint8Array.from(block.data);
      data[bit >> 3] = (data[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(() => openBlock({ ...block, data }, 7), BlockDamaged);
    }
    assert.throws(() => openBlock(block, 8), BlockDamaged);
    assert.throws(() => openBlock({ ...block, count: 3 }, 7), BlockDamaged);
  });

  it("give back whatever stands in extras", () => {
    const number = fc.oneof(
      fc.double().map(String),
      fc.double().map((value) => value.toFixed(3)),
      fc.stringMatching(/^-?[0-9]{0,17}[.]?[0-9]{0,11}(e[+-]?[0-9]{1,2})?$/),
    );
    const odd = fc.string({ unit: fc.constantFrom(...'\u0001\u0002"\\:,{}[]-.05eaé€'.split("")), maxLength: 12 });
    const value = fc.oneof(
      number,
      number.map((text) => `"${text}"`),
      fc.constantFrom('"true"', "false", "null", '""', "[1,2]", '{"a":1}'),
      fc.string({ unit: "grapheme" }).map((text) => JSON.stringify(text)),
      odd,
    );
    const members = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", 'd\\"', "é"), value), { maxLength: 6 });
    const extras = members.map((all) => `,"attributes":{${all.map(([name, one]) => `"${name}":${one}`).join()}`);
    fc.assert(
      fc.property(fc.array(fc.oneof(extras, odd), { minLength: 1, maxLength: 30 }), (texts) => {
        const records = packed(texts.map((text, second) => said(second, { extras: text })));
        const sink = new ByteSink(64);
        const walk = openBlock(packBlock(records, 7), 7);
        while (walk.next()) walk.write(sink);
        assert.deepEqual(Buffer.from(sink.written), Buffer.from(records));
      }),
      { numRuns: runs(300) },
    );
  });

  it("keep records whose extras no column gives back", () => {
    const records = [said(1, { extras: ',"attributes":{"a":"\u0001","b":12' }), said(2)];
    assert.deepEqual(walked(openBlock(packBlock(packed(records), 7), 7)), records);
  });

  it("keep extras that look like others with a gap", () => {
    const records = ["5", "\u0001"].map((value, second) => said(second, { extras: `,"attributes":{"a":${value}` }));
    assert.deepEqual(walked(openBlock(packBlock(packed(records), 7), 7)), records);
  });
});

describe("a row of the log", () => {
  it("gives each device's records, and tells of each changed bit", () => {
    const batch = [
      { device: 9, records: [said(1), said(2)] },
      { device: 3, records: [said(3)] },
    ];
    const sink = new ByteSink(16);
    putRow(sink, batch);
    const bytes = sink.cut();
    sealRow(bytes);
    const read = (from: Uint8Array, device: number) => {
      const row = new LogRow(from);
      return readPacked(row.recordsAt(row.indexOf(device)));
    };
    assert.deepEqual(read(bytes, 9), batch[0]?.records);
    assert.deepEqual(read(bytes, 3), batch[1]?.records);
    assert.equal(new LogRow(bytes).indexOf(5), -1);
    for (let bit = 0; bit < 8 * bytes.byteLength; bit++) {
      const changed = Uint8Array.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const failures = [3, 9].filter((device) => {
        try {
          read(changed, device);
          return false;
        } catch (error) {
          return error instanceof RecordsDamaged;
        }
      });
      assert.ok(failures.length > 0, `bit ${bit}`);
    }
  });

  it("has each device once", () => {
    const twice = [said(1), said(2)].map((record) => ({ device: 1, records: [record] }));
    assert.throws(() => putRow(new ByteSink(16), twice), /device 1 stands in a batch twice/);
  });
});

describe("a merge", () => {
  it("gives the plain merge of its sources", () => {
    fc.assert(
      fc.property(fc.array(some, { maxLength: 6 }), fc.nat(1000), (parts, early) => {
        const sources = parts.map((records) => ({
          first: Math.min(...records.map(({ time }) => time)) - early,
          open: () => new SortedRecords(packed(records)),
        }));
        assert.deepEqual(walked(new Merge(sources)), sortedOnce(parts.flat()));
      }),
    );
  });

  it("opens a source when its time has come, and leaves out what can't be opened", () => {
    const opened: string[] = [];
    const source = (name: string, first: number, records: readonly SaidRecord[] | undefined) => ({
      first,
      open: () => {
        opened.push(name);
        return records && new SortedRecords(packed(records));
      },
    });
    const merge = new Merge([
      source("late", start + 5000, [said(5)]),
      source("gone", start + 2000, undefined),
      source("early", start, [said(1), said(3)]),
    ]);
    merge.next();
    assert.deepEqual([merge.time, opened], [start + 1000, ["early"]]);
    merge.next();
    assert.deepEqual([merge.time, merge.rank, opened], [start + 3000, 2, ["early", "gone"]]);
    merge.next();
    assert.deepEqual([merge.time, merge.rank, merge.next()], [start + 5000, 0, false]);
  });
});

describe("cutting", () => {
  it("makes blocks of about the same size, and leaves moments whole", () => {
    const run = new RecordRun(16);
    const records = Array.from({ length: 2500 }, (_, at) => said(Math.floor(at / 700)));
    const walk = new SortedRecords(packed(records));
    while (walk.next()) run.add(walk);
    const counts = [...run.cut()].map((bytes) => readPacked(bytes).length);
    assert.deepEqual(counts, [1400, 1100]);
  });

  it("makes smaller blocks of long records", () => {
    const run = new RecordRun(16);
    const walk = new SortedRecords(
      packed(
        Array.from({ length: 100 }, (_, at) => said(at, { extras: `,"attributes":{"a":"${"x".repeat(20_000)}"` })),
      ),
    );
    while (walk.next()) run.add(walk);
    assert.ok([...run.cut()].every((bytes) => bytes.byteLength < 300_000));
  });
});

describe("clusters", () => {
  it("hold the blocks that overlap", () => {
    const head = (id: number, first: number, last: number, number = id) => ({ id, first, last, number, count: 10 });
    const clusters = clustersOf([
      head(4, 5, 30),
      head(1, 0, 10),
      head(2, 40, 50, 9),
      head(3, 50, 60, 8),
      head(5, 61, 62),
    ]);
    assert.deepEqual(
      clusters.map(({ first, last, count, heads }) => [first, last, count, heads.map(({ id }) => id)]),
      [
        [0, 30, 20, [1, 4]],
        [40, 60, 20, [3, 2]],
        [61, 62, 10, [5]],
      ],
    );
  });
});

describe("places", () => {
  it("are those of the rows that may hold records of a range, whatever rows came and went", () => {
    const act = fc.record({
      device: fc.nat(2),
      seq: fc.integer({ min: 1, max: 60 }),
      at: fc.nat(100),
      drop: fc.nat(9),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        const places = new Places();
        let rows: { device: number; seq: number; first: number; last: number }[] = [];
        for (const { device, seq, at, drop } of acts) {
          if (drop === 0) {
            places.drop(seq, new Set([2]));
            rows = rows.filter((row) => row.device === 2 || row.seq > seq);
          } else if (!rows.some((row) => row.device === device && row.seq === seq)) {
            places.add(device, seq, at * 1000, at * 1000 + 3000);
            rows.push({ device, seq, first: at * 1000, last: at * 1000 + 3000 });
          }
        }
        assert.ok(places.bytes >= 12 * rows.length && places.bytes <= 24 * rows.length, `${places.bytes}`);
        for (const device of [0, 1, 2]) {
          const meant = rows.filter((row) => row.device === device && row.first <= 60_000 && row.last >= 40_000);
          const found = places.of(device, 40_000, 60_000).map(({ seq }) => seq);
          assert.deepEqual(
            found,
            meant.map(({ seq }) => seq).toSorted((one, other) => one - other),
          );
        }
      }),
    );
  });

  it("have no bounds for times that have no seconds since 1970", () => {
    const places = new Places();
    places.add(1, 5, -1e15, -1e14);
    places.add(1, 6, 1e15, 8e15);
    assert.deepEqual(places.of(1, -1e15, -1e15 + 1), [{ seq: 5, first: Number.NEGATIVE_INFINITY, last: 999.999 }]);
    assert.equal(places.of(1, 7e15, 8e15)[0]?.last, Number.POSITIVE_INFINITY);
  });
});
