import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { someRecord } from "../../../test/contract/store/records.ts";
import { draftOf } from "../../ingest/draft.ts";
import { ordered } from "../../ingest/pending.ts";
import { planAppend } from "../../ingest/plan.ts";
import type { Fix, Report } from "../../model/effects.ts";
import { type LocationRecord, neverReported } from "../../model/location.ts";
import { writeRecord } from "../records/record-codec.ts";
import { ByteSink } from "../records/sink.ts";
import { packBlock, unpackBlock } from "./block.ts";
import { BlockDamaged, BodyReader } from "./bytes.ts";
import { blockHeader } from "./layout.ts";
import { putNumbers, readNumbers } from "./numbers.ts";

const start = Date.UTC(2026, 5, 1);

function packed(records: readonly LocationRecord[]): Uint8Array<ArrayBuffer> {
  const sink = new ByteSink(1024);
  for (const record of records) writeRecord(sink, record);
  return sink.cut();
}

function unpacked(block: Uint8Array): Uint8Array<ArrayBuffer> {
  const sink = new ByteSink(16);
  unpackBlock(block, sink);
  return sink.cut();
}

/** Records as ingest makes them of reports. */
function historyOf(reports: readonly Report[]): readonly LocationRecord[] {
  const drafts = reports.map((report) => draftOf(report, report.time ?? start, (report.time ?? start) + 800, false));
  return planAppend(neverReported, ordered(drafts)).plan.records;
}

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("1.50", "007", "-0", "1e5", "true"),
);
const value = fc.oneof(text, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean());
const reports: fc.Arbitrary<readonly Report[]> = fc.array(
  fc
    .record({
      time: fc.integer({ min: 0, max: 100_000 }),
      located: fc.boolean(),
      valid: fc.boolean(),
      latitude: fc.integer({ min: -900_000_000, max: 900_000_000 }).map((scaled) => scaled / 1e7),
      longitude: fc.integer({ min: -1_800_000_000, max: 1_800_000_000 }).map((scaled) => scaled / 1e7),
      speed: fc.option(fc.integer({ min: 0, max: 20_000 }).map((scaled) => scaled / 100)),
      battery: fc.option(fc.integer({ min: 0, max: 100 })),
      input1: fc.option(fc.boolean()),
      ignition: fc.option(fc.boolean()),
      attributes: fc.dictionary(text, value, { maxKeys: 3, noNullPrototype: true }),
    })
    .map(({ time, located, valid, latitude, longitude, speed, battery, input1, ignition, attributes }): Report => {
      const readings = {
        ...(battery !== null && { battery }),
        ...(input1 !== null && { input1 }),
        ...(ignition !== null && { ignition }),
      };
      const said = { time: start + time * 1000, alarms: [], readings, attributes };
      if (!located) return { type: "readings", ...said };
      return { type: "fix", ...said, valid, latitude, longitude, ...(speed !== null && { speed }) };
    }),
  { minLength: 1, maxLength: 60 },
);

describe("a block", () => {
  it("gives back what ingest stored, byte for byte", () => {
    fc.assert(
      fc.property(reports, (some) => {
        const records = historyOf(some);
        const bytes = packed(records);
        const block = packBlock(bytes);
        assert.deepEqual(unpacked(block), bytes);
        const { count, first, last } = blockHeader(block);
        assert.deepEqual([count, first, last], [records.length, records[0]?.time, records.at(-1)?.time]);
      }),
    );
  });

  it("gives back records that no fold and no hash explains", () => {
    fc.assert(
      fc.property(fc.array(someRecord, { minLength: 1, maxLength: 20 }), (records) => {
        const bytes = packed(records);
        const block = packBlock(bytes);
        assert.deepEqual(unpacked(block), bytes);
      }),
    );
  });

  it("of a drive holds little but what the tracker said: seven bytes a position, twelve with readings", () => {
    let noise = 1;
    const random = () => {
      noise = Math.imul(noise ^ (noise >>> 15), 0x2c1b3c6d);
      noise ^= noise >>> 12;
      return (noise >>> 0) / 2 ** 32;
    };
    const drive = (readings: boolean) => {
      let latitude = 48;
      let longitude = 11;
      let course = 90;
      return Array.from({ length: 512 }, (_, index): Fix => {
        course = (course + random() * 20 - 10 + 360) % 360;
        const km = 0.1 + random() * 0.05;
        latitude += (km * Math.cos((course * Math.PI) / 180)) / 111.2;
        longitude += (km * Math.sin((course * Math.PI) / 180)) / 74;
        const more = readings
          ? {
              satellites: 6 + Math.floor(random() * 6),
              voltage: Math.round(13_800 + random() * 200) / 1000,
              battery: 90,
            }
          : {};
        return {
          type: "fix",
          time: start + index * 10_000,
          valid: true,
          latitude,
          longitude,
          speed: Math.round(km * 360),
          course: Math.round(course),
          alarms: [],
          readings: more,
          attributes: {},
        };
      });
    };
    const size = (readings: boolean) => packBlock(packed(historyOf(drive(readings)))).length / 512;
    assert.ok(size(false) < 12, `${size(false)} bytes a position`);
    assert.ok(size(true) < 14, `${size(true)} bytes a position with readings`);
  });

  it("whose bytes are damaged is refused, wherever the damage is", () => {
    const block = packBlock(
      packed(historyOf([{ type: "readings", time: start, alarms: [], readings: { battery: 1 }, attributes: {} }])),
    );
    fc.assert(
      fc.property(fc.nat({ max: block.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const damaged = block.slice();
        damaged[at] = (damaged[at] ?? 0) ^ flip;
        assert.throws(() => unpacked(damaged), BlockDamaged);
        assert.throws(() => unpacked(block.subarray(0, at)), BlockDamaged);
      }),
    );
  });
});

describe("a column of numbers", () => {
  it("gives back every double as it was", () => {
    const number = fc.oneof(
      fc.double(),
      fc.integer(),
      fc.maxSafeInteger(),
      fc.integer().map((scaled) => scaled / 1e7),
    );
    fc.assert(
      fc.property(fc.array(number), (values) => {
        const sink = new ByteSink(16);
        putNumbers(sink, values);
        const body = new BodyReader(sink.cut());
        assert.deepEqual([...readNumbers(body, values.length)], values);
        assert.equal(body.at, sink.length);
      }),
    );
  });
});
