import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { append, readingOf, record, someRecord, someTotals } from "../../../test/contract/store/records.ts";
import type { DeviceState } from "../../model/location.ts";
import { locationJson } from "../../model/location-json.ts";
import { chunkRecords, packBatch, unpackBatch } from "./batch.ts";
import { recordsDamage } from "./damage.ts";
import { LocationRenderer, ReadingRenderer } from "./location-bytes.ts";
import { RecordCursor, readRecords, writeRecord } from "./record-codec.ts";
import { ByteSink } from "./sink.ts";
import { readState, writeState } from "./state-codec.ts";

const someTimes = fc.oneof(
  fc.constantFrom(-1, 0, 0.5, 86_399_999, 86_400_000, 1_795_219_199_999.5, 253_402_300_800_000, -62_200_000_000_000),
  fc.date({ noInvalidDate: true }).map((date) => date.getTime()),
);

/** Records with times of all ages beside those that a tracker gives. */
const anyRecord = fc
  .tuple(someRecord, fc.option(someTimes, { nil: undefined }), fc.option(someTimes, { nil: undefined }))
  .map(([record, time, receivedAt]) => ({
    ...record,
    time: time ?? record.time,
    receivedAt: receivedAt ?? record.receivedAt,
  }));

/** As versions before alerts wrote `record(1)`, and a state with it. */
const oldRecord =
  "6a0000001f0200000080be71b61f7a4200000000000020401b2fdd240601124066666666668652c09a9999999999b93f200300002a000000000000e870402c2262617474657279223a38352c2261747472696275746573223a7b22736174656c6c69746573223a223122";
const oldState = `07000000${oldRecord.slice(16, 32)}${oldRecord}${Buffer.from(',"attributes":{').toString("hex")}`;

/** As versions before retention wrote a state with all that it may have. */
const stateBeforeRetention =
  "f90000000080be71b61f7a42020000005b5d000001009a9999999999b93f00000000000000000000000000000000000000000000000000000000000000000080be71b61f7a420080be71b61f7a421b2fdd240601124066666666668652c06a0000001f0200000080be71b61f7a4200000000000020401b2fdd240601124066666666668652c09a9999999999b93f200300002a000000000000e870402c2262617474657279223a38352c2261747472696275746573223a7b22736174656c6c69746573223a2231220090f071b61f7a420000000000001c40a011d625";

describe("packed records", () => {
  it("are read as older versions wrote them", () => {
    assert.deepEqual(readRecords(Buffer.from(oldRecord, "hex")), [record(1, { arrival: 8, hash: 8 })]);
    const last = record(1, { arrival: 8, hash: 8 });
    const state = { version: 3, time: last.time, arrivals: 0, totals: last.totals, last };
    assert.deepEqual(readState(Buffer.from(oldState, "hex"), 3), state);
  });

  it("are written as before retention where nothing was deleted, and read so", () => {
    const last = record(1, { arrival: 8, hash: 8 });
    const more = { receivedAt: last.receivedAt + 1, rules: "[]" };
    const state = { version: 5, time: last.time, arrivals: 7, totals: { ...last.totals }, last, ...more };
    const sink = new ByteSink(0);
    writeState(sink, state);
    assert.equal(Buffer.from(sink.cut()).toString("hex"), stateBeforeRetention);
    assert.deepEqual(readState(Buffer.from(stateBeforeRetention, "hex"), 5), state);
  });

  it("come back as they were", () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 5 }), (records) => {
        const sink = new ByteSink(0);
        for (const record of records) writeRecord(sink, record);
        assert.deepEqual(readRecords(sink.cut()), records);
      }),
    );
  });

  it("are rendered byte for byte as the model's locationJson", () => {
    fc.assert(
      fc.property(
        fc.array(anyRecord, { minLength: 1, maxLength: 5 }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        (records, odometerStart) => {
          const packed = new ByteSink(16);
          for (const record of records) writeRecord(packed, record);
          const cursor = new RecordCursor(packed.cut());
          const renderer = new LocationRenderer(odometerStart);
          const json = new ByteSink(16);
          for (let at = 0; at < packed.length; at = cursor.end) {
            cursor.read(at);
            renderer.render(cursor, json);
          }
          const text = new TextDecoder().decode(json.cut());
          assert.equal(text, records.map((record) => locationJson(record, odometerStart)).join(""));
        },
      ),
    );
  });
});

describe("packed records as readings", () => {
  it("tell what was reported, and nothing else", () => {
    fc.assert(
      fc.property(fc.array(someRecord, { minLength: 1, maxLength: 5 }), (records) => {
        const packed = new ByteSink(16);
        for (const record of records) writeRecord(packed, record);
        const cursor = new RecordCursor(packed.cut());
        const renderer = new ReadingRenderer();
        const json = new ByteSink(16);
        for (let at = 0; at < packed.length; at = cursor.end) {
          cursor.read(at);
          if (at > 0) json.byte(0x2c);
          renderer.render(cursor, json);
        }
        const text = new TextDecoder().decode(json.cut());
        assert.deepEqual(JSON.parse(`[${text}]`), records.map(readingOf));
      }),
    );
  });
});

describe("packed records of before numbers were looked at", () => {
  it("are rendered without what is no JSON, as the model does", () => {
    const extras =
      ',"battery":Infinity,"fuel":5,"temperature":-Infinity,"rpm":NaN,"inputs":[true],"attributes":{"note":"a\\",\\"fuel\\":NaN"';
    const old = { ...record(1), speed: Number.POSITIVE_INFINITY, extras };
    const packed = new ByteSink(0);
    writeRecord(packed, old);
    const cursor = new RecordCursor(packed.cut());
    cursor.read(0);
    const json = new ByteSink(0);
    new LocationRenderer(0).render(cursor, json);
    const text = new TextDecoder().decode(json.cut());
    assert.equal(text, locationJson(old, 0));
    const { fuel, battery, temperature, rpm, speed, attributes } = JSON.parse(text);
    assert.deepEqual([fuel, battery, temperature, rpm, speed], [5, undefined, undefined, undefined, undefined]);
    assert.equal(attributes.note, 'a","fuel":NaN');
  });
});

describe("packed states", () => {
  it("come back as they were, whether totals are the last record's or not", () => {
    const someState = fc
      .record(
        {
          version: fc.nat(),
          time: fc.nat(),
          arrivals: fc.nat(),
          totals: someTotals,
          last: someRecord,
          receivedAt: fc.nat(),
          rules: fc.string({ unit: "grapheme" }),
          keptFrom: fc.double({ noNaN: true }),
        },
        { requiredKeys: ["version", "time", "arrivals", "totals"], noNullPrototype: true },
      )
      .chain((state): fc.Arbitrary<DeviceState> => {
        const { last } = state;
        return last === undefined ? fc.constant(state) : fc.constantFrom(state, { ...state, totals: last.totals });
      });
    fc.assert(
      fc.property(someState, (state) => {
        const sink = new ByteSink(0);
        writeState(sink, state);
        assert.deepEqual(readState(sink.cut(), state.version), state);
      }),
    );
  });

  it("are never read as another state where any one bit was changed", () => {
    const last = record(1, { arrival: 8, hash: 8 });
    const state = { version: 3, time: last.time, arrivals: 2, totals: last.totals, last, rules: "[]", receivedAt: 5 };
    for (const written of [state, { version: 3, time: 0, arrivals: 0, totals: last.totals }]) {
      const sink = new ByteSink(0);
      writeState(sink, written);
      const bytes = sink.cut();
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const changed = bytes.slice();
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        assert.throws(
          () => readState(changed, 3),
          (error) => recordsDamage(error) !== undefined,
          `bit ${bit}`,
        );
      }
    }
  });
});

describe("packed batches", () => {
  it("give each device's state and chunks in order, no chunk longer than it may be, or with records that others separate", () => {
    const lists = fc.array(
      fc.oneof(
        fc.array(someRecord, { maxLength: 3 }),
        someRecord.map((one) => Array(600).fill(one)),
      ),
    );
    fc.assert(
      fc.property(lists, fc.integer({ min: 1, max: 5 }), (devices, every) => {
        const separates = (device: number, from: number, to: number) => Math.trunc(device + from + to) % every === 1;
        const sink = new ByteSink(8);
        const commits = devices.map((records, index) => append(index + 1, index + 7, records));
        const chunks = packBatch(sink, commits, 1, separates);
        const states: DeviceState[] = [];
        const found: unknown[] = [];
        const records = new Map<number, unknown[]>(commits.map(({ device }) => [device, []]));
        unpackBatch(sink.take(), {
          device(_, { version, versionBefore, asOf, bytes }) {
            assert.deepEqual([versionBefore, asOf <= chunks.length], [version - 1, true]);
            states.push(readState(bytes ?? assert.fail(), version));
          },
          shifts: () => assert.fail("there are none"),
          chunk(device, first, last, count, bytes) {
            found.push({ device, first, last, count, bytes: bytes.byteLength });
            assert.ok(count > 0 && count <= chunkRecords);
            const read = readRecords(bytes);
            assert.equal(read.length, count);
            read.forEach(({ time }, at) => {
              const before = read[at - 1];
              assert.ok(before === undefined || !separates(device, before.time, time));
            });
            records.get(device)?.push(...read);
          },
        });
        assert.deepEqual(found, chunks);
        assert.deepEqual(
          states,
          commits.map(({ state }) => state),
        );
        assert.deepEqual([...records.values()], devices);
      }),
    );
  });
});
