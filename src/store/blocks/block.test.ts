import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import fc from "fast-check";
import { record, someRecord } from "../../../test/contract/store/records.ts";
import { packedRecords, storedBlock } from "../../../test/support/blocks.ts";
import { draftOf } from "../../ingest/draft.ts";
import { ordered } from "../../ingest/pending.ts";
import { planAppend } from "../../ingest/plan.ts";
import { contentHashOf } from "../../model/content-hash.ts";
import type { Fix, Report } from "../../model/effects.ts";
import { firstArrival, type LocationRecord, neverReported } from "../../model/location.ts";
import { locationJson, noAlertMembers } from "../../model/location-json.ts";
import { isOutOfMemory } from "../records/damage.ts";
import { LocationRenderer } from "../records/location-bytes.ts";
import { ByteSink } from "../records/sink.ts";
import { decompressBlock, openBody, unpackBlock } from "./block.ts";
import { BlockCursor } from "./block-cursor.ts";
import { BlockDamaged, BodyReader } from "./bytes.ts";
import { checksumFor, type StoredBlock } from "./layout.ts";
import { putNumbers, readNumbers } from "./numbers.ts";

const start = Date.UTC(2026, 5, 1);

function unpacked(block: StoredBlock): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(unpackBlock(block, 16));
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

const oddNumber = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(
    -0,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53 + 2,
    2 ** 49,
    2 ** 49 - 1,
    1e-300,
    5e-324,
    8.64e15 + 1,
  ),
);
const optional = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const oddExtras = fc.oneof(
  fc.json().map((json) => `,"attributes":{"x":${json}`),
  fc
    .dictionary(
      fc.oneof(text, fc.constantFrom("__proto__", "inputs", "ignition", "archive")),
      fc.oneof(value, fc.string({ unit: "binary" }), oddNumber.map(String)),
      { noNullPrototype: true },
    )
    .map((attributes) => `,"attributes":${JSON.stringify(attributes).slice(0, -1)}`),
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "",
    "\u0001",
    '"\u0002":"x"',
    "\ud800",
    "x".repeat(65_536),
    `,"attributes":{"text":"${'\\"'.repeat(32_768)}"`,
    ',"attributes":{"archive":"true","more":"b"',
  ),
);
const oddPosition = fc.record({ time: oddNumber, latitude: oddNumber, longitude: oddNumber });
/** Records that no tracker sends, but that earlier versions or damaged memory may have left. */
const oddRecord: fc.Arbitrary<LocationRecord> = fc
  .record({
    time: fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(start, start, start + 1000)),
    arrival: fc.oneof(
      oddNumber,
      fc.nat(100).map((number) => firstArrival + number),
    ),
    hash: optional(oddNumber),
    isNumbered: fc.boolean(),
    receivedAt: oddNumber,
    valid: fc.boolean(),
    latitude: oddNumber,
    longitude: oddNumber,
    speed: optional(oddNumber),
    course: optional(oddNumber),
    unlocated: optional(fc.constant(true as const)),
    positionTime: optional(oddNumber),
    extras: oddExtras,
    alerts: optional(fc.string({ unit: "binary" })),
    totals: fc.record({
      odometerMm: oddNumber,
      sensorMs: fc.tuple(oddNumber, oddNumber, oddNumber, oddNumber),
      movedAt: oddNumber,
      inputsKnown: fc.nat(255),
      inputsActive: fc.nat(255),
      anchor: optional(oddPosition),
      uncounted: optional(fc.record({ from: oddPosition, lengthMm: oddNumber })),
      underway: optional(fc.constant(true as const)),
    }),
  })
  .map(({ hash, isNumbered, ...said }) => {
    const record = { ...said, hash: 0 } as LocationRecord;
    const own = hash ?? contentHashOf(record);
    return { ...record, hash: own, arrival: isNumbered ? record.arrival : own };
  });

function alertsOf(at: number): string {
  return noAlertMembers.replace("false", String(at % 2 === 0));
}

const parked = { type: "fix", valid: true, longitude: 11, alarms: [], readings: {}, attributes: {} } as const;

/** A block of 13 records with counted and uncounted ways, inputs, a pause, texts and one moment twice, and SHA-256 of the records. */
const earlierBlock = [
  "V0JCMSaOVQcNAAAAOQIAAAAAwK4H6HlCAAAj3QfoeUIotS/9YDkBzQoANlNJPiDlKh0gwDFxsUfrTzgOqKAJlMaWiAOpEF7YyxBh",
  "IvLd669JooGaRERkBM0oUbLSpypnUPN7oRaD1Z6/JVKmPwA5ADgAH6vZita1zMiQc73a/6+JjIBm80pqFSMGZQNuYy7/qYS9kNhO",
  "JQxGhTyDchDkF3IH5McDQQIAaAAodwuSI/IN9OMwnDQR8brNlNr+FOefSziQjbHMGgEJAjQh339nv2i0fNFI9I++Cv+M8QQ46aB4",
  "aDvjlHzzrBQEqHCjKenDiyG2UKEGFV2segF2q7pWqbEpyHvRpMpo2txgVw6xdgfYLbG6SiOr1rDpgv1iibWGpQ7/Q9/XLXfMHfO/",
  "DyE7hPyF3M3OPG94Oyv7TubNl/+vxx4PbMdLU6qxjqnTGGqwTWMTADYN52UDBpt/kRb8MOSShZ3iwiomuq0/AGEMB4GMuoheCQFu",
  "gAUrWwEMZMYkwQEp",
];
const earlierRecords = "199997f1d44e77a15df8dc277e97734e85f075b458e4333821a0e9bde6dac109";

describe("a block", () => {
  it("gives back what ingest stored, byte for byte", () => {
    fc.assert(
      fc.property(reports, (some) => {
        const records = historyOf(some);
        assert.deepEqual(unpacked(storedBlock(records)), packedRecords(records));
      }),
    );
  });

  it("gives back records that no fold and no hash explains", () => {
    fc.assert(
      fc.property(fc.array(someRecord, { minLength: 1, maxLength: 20 }), (records) => {
        assert.deepEqual(unpacked(storedBlock(records)), packedRecords(records));
      }),
    );
  });

  it("gives back records with any numbers and texts, and equal records of one moment", () => {
    fc.assert(
      fc.property(fc.array(oddRecord, { minLength: 1, maxLength: 30 }), fc.nat(3), (some, choice) => {
        const records = choice === 0 ? some.flatMap((one) => [one, one, one]) : some;
        assert.ok(Buffer.from(unpacked(storedBlock(records))).equals(packedRecords(records)));
      }),
      { numRuns: 1000 },
    );
  });

  it("stays one of columns where no increment gives the totals of some records, and holds those totals whole", () => {
    const records = historyOf(
      Array.from({ length: 20 }, (_, at): Report => ({ ...parked, time: start + at * 1000, latitude: at / 1000 })),
    ).map((record, at) => (at % 7 === 3 ? { ...record, totals: { ...record.totals, movedAt: Number.NaN } } : record));
    const block = storedBlock(records);
    assert.ok(openBody(decompressBlock(block)) instanceof BlockCursor);
    assert.deepEqual(unpacked(block), packedRecords(records));
  });

  it("is rendered as its records are, whatever else is asked of them meanwhile", () => {
    fc.assert(
      fc.property(reports, fc.nat(3), (some, choice) => {
        const records = historyOf(some).map((one, at) => (at % 3 === 2 ? { ...one, alerts: alertsOf(at) } : one));
        const block = openBody(decompressBlock(storedBlock(records)));
        const renderer = new LocationRenderer(7);
        const json = new ByteSink(16);
        for (const one of records) {
          assert.ok(block.next());
          if (choice & 1) assert.equal(block.hash, one.hash);
          json.length = 0;
          renderer.render(block, json);
          if (block.isShown) assert.equal(Buffer.from(json.cut()).toString(), locationJson(one, 7));
          if (choice & 2) assert.equal(block.hash, one.hash);
        }
        assert.ok(!block.next());
      }),
    );
  });

  it("gives back values of a name that stands twice in a record", () => {
    const records = Array.from({ length: 9 }, (_, at) => ({
      ...record(at),
      extras: `,"attributes":{"a":"${at}","b":"x${at % 4}","a":"${at * at}","b":"y${at % 3}"${at % 2 ? `,"a":"${-at}"` : ""}`,
    }));
    const block = storedBlock(records);
    assert.ok(openBody(decompressBlock(block)) instanceof BlockCursor);
    assert.deepEqual(unpacked(block), packedRecords(records));
  });

  it("is read even if a damaged row names a wrong number of bytes, and room is not made for that many", () => {
    const block = storedBlock([record(1)]);
    for (const bytes of [1e15, Number.POSITIVE_INFINITY, -1])
      assert.deepEqual(Uint8Array.from(unpackBlock(block, bytes)), packedRecords([record(1)]));
  });

  it("is not damaged where memory runs out while it is decompressed", (context) => {
    const block = storedBlock([record(1)]);
    // More than any machine has, so that Node says what it says where memory runs out.
    context.mock.method(Buffer, "allocUnsafe", () => Buffer.allocUnsafeSlow(Number.MAX_SAFE_INTEGER - 1));
    assert.throws(() => decompressBlock(block), isOutOfMemory);
  });

  it("is rendered without numbers that are not finite, as the model does", () => {
    const extras = (at: number) =>
      `,"battery":Infinity,"fuel":${at},"rpm":NaN,"attributes":{"note":"a\\",\\"fuel\\":NaN${at}"`;
    const records = Array.from({ length: 5 }, (_, at) => ({ ...record(at), extras: extras(at) }));
    const block = openBody(decompressBlock(storedBlock(records)));
    assert.ok(block instanceof BlockCursor);
    const json = new ByteSink(16);
    while (block.next()) new LocationRenderer(0).render(block, json);
    assert.equal(Buffer.from(json.cut()).toString(), records.map((one) => locationJson(one, 0)).join(""));
  });

  it("of an earlier version is read as it was packed: blocks are kept for ever", () => {
    const data = Buffer.from(earlierBlock.join(""), "base64");
    const block = { device: 1, first: start, last: start + 190_000, count: 13, data };
    // The way that is not counted yet is measured anew when a block is read: a change of `distanceKm` needs a new kind of block, and not another hash here.
    assert.equal(createHash("sha256").update(unpacked(block)).digest("hex"), earlierRecords);
  });

  it("of a drive holds little but what the tracker said: nine bytes a position, ten with readings", () => {
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
    const size = (readings: boolean) => storedBlock(historyOf(drive(readings))).data.length / 512;
    assert.ok(size(false) < 9, `${size(false)} bytes a position`);
    assert.ok(size(true) < 10, `${size(true)} bytes a position with readings`);
  });

  it("whose bytes are damaged is refused, wherever the damage is", () => {
    const block = storedBlock(
      historyOf([{ type: "readings", time: start, alarms: [], readings: { battery: 1 }, attributes: {} }]),
    );
    const { data } = block;
    const refused = (change: Partial<StoredBlock>) => {
      assert.throws(() => unpacked({ ...block, ...change }), BlockDamaged);
    };
    for (let at = 0; at < data.length; at++) {
      for (let bit = 1; bit < 256; bit *= 2) refused({ data: data.with(at, (data[at] ?? 0) ^ bit) });
      refused({ data: data.subarray(0, at) });
      if (data.subarray(at).some((byte) => byte !== 0)) refused({ data: data.slice().fill(0, at) });
    }
    for (const change of [{ first: start - 1 }, { last: start + 1 }, { count: 2 }]) refused(change);
    assert.ok(unpacked(block).length > 0);
  });

  it("is refused in the place of another device's block, even one of the same times", () => {
    const block = storedBlock(historyOf([{ type: "readings", time: start, alarms: [], readings: {}, attributes: {} }]));
    assert.throws(() => unpacked({ ...block, device: 2 }), BlockDamaged);
  });

  it("takes no memory for numbers in its header that can't be right", () => {
    const block = storedBlock(historyOf([{ type: "readings", time: start, alarms: [], readings: {}, attributes: {} }]));
    for (const at of [8, 12]) {
      const data = block.data.slice();
      const view = new DataView(data.buffer);
      view.setUint32(at, 0xffff_fff0, true);
      view.setUint32(4, checksumFor(block.device, data), true);
      assert.throws(() => unpacked({ ...block, count: view.getUint32(8, true), data }), BlockDamaged);
    }
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
