import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Writer } from "../../wire/writer.ts";
import { avlRecords } from "./avl.ts";
import { unknownName } from "./elements.ts";
import { type AvlRecord, codec8Packet, type IoElement } from "./encode.ts";
import { fmb, professional } from "./tables.ts";

const elements = (width: 1 | 2 | 4): fc.Arbitrary<IoElement[]> =>
  fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 2 ** (8 * width) - 1 })), {
    maxLength: 12,
    selector: ([id]) => id,
  });

const record: fc.Arbitrary<AvlRecord> = fc.record({
  time: fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) }),
  priority: fc.integer({ min: 0, max: 2 }),
  longitude: fc.integer({ min: -1_800_000_000, max: 1_800_000_000 }),
  latitude: fc.integer({ min: -900_000_000, max: 900_000_000 }),
  altitude: fc.integer({ min: -400, max: 9000 }),
  angle: fc.integer({ min: 0, max: 360 }),
  satellites: fc.integer({ min: 0, max: 30 }),
  speed: fc.integer({ min: 0, max: 350 }),
  event: fc.integer({ min: 0, max: 255 }),
  one: elements(1),
  two: elements(2),
  four: elements(4),
});

/** Codec 8 Extended of the same records, with an element of variable length at the end of each. */
function extended(records: readonly AvlRecord[], last: Uint8Array): Uint8Array {
  const writer = new Writer(256).u8(0x8e).u8(records.length);
  for (const each of records) {
    writer
      .u64(each.time)
      .u8(each.priority ?? 0)
      .i32(each.longitude)
      .i32(each.latitude);
    writer
      .u16(each.altitude)
      .u16(each.angle)
      .u8(each.satellites)
      .u16(each.speed)
      .u16(each.event ?? 0);
    writer.u16(each.one.length + each.two.length + each.four.length + 1);
    writer.u16(each.one.length);
    for (const [id, value] of each.one) writer.u16(id).u8(value);
    writer.u16(each.two.length);
    for (const [id, value] of each.two) writer.u16(id).u16(value);
    writer.u16(each.four.length);
    for (const [id, value] of each.four) writer.u16(id).u32(value);
    writer.u16(0).u16(1).u16(50_000).u16(last.length).raw(last);
  }
  return writer.u8(records.length).done();
}

describe("Codec 8", () => {
  it("gives back the position of every record, whatever its elements", () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 20 }), (records) => {
        const packet = codec8Packet(records);
        const given = avlRecords(packet, 8, packet.length - 4, undefined);
        assert.equal(given?.length, records.length);
        for (const [index, fix] of given.entries()) {
          const sent = records[index];
          assert.ok(fix.type === "fix" && sent !== undefined);
          assert.equal(fix.time, sent.time);
          assert.equal(fix.valid, sent.satellites > 0);
          assert.ok(Math.abs(fix.latitude - sent.latitude / 1e7) < 1e-9);
          assert.ok(Math.abs(fix.longitude - sent.longitude / 1e7) < 1e-9);
          assert.equal(fix.altitude, sent.altitude);
          if (fix.valid) assert.deepEqual([fix.speed, fix.course], [sent.speed, sent.angle]);
          assert.equal(fix.readings.satellites, sent.satellites);
        }
      }),
    );
  });

  it("loses no element that no table knows", () => {
    fc.assert(
      fc.property(record, (sent) => {
        const packet = codec8Packet([sent]);
        const [fix] = avlRecords(packet, 8, packet.length - 4, undefined) ?? [];
        assert.ok(fix?.type === "fix");
        const unknown = [
          ...sent.one.filter(([id]) => fmb.one.get(id) === undefined),
          ...sent.two.filter(([id]) => fmb.two.get(id) === undefined),
          ...sent.four.filter(([id]) => fmb.four.get(id) === undefined),
        ];
        // An id that comes with two widths is told once.
        for (const [id] of unknown) assert.ok(unknownName(id) in fix.attributes, `io${id}`);
      }),
    );
  });

  it("reads the same records from Codec 8 Extended", () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 5 }), fc.uint8Array({ maxLength: 300 }), (records, last) => {
        const data = extended(records, last);
        const given = avlRecords(data, 0, data.length, undefined);
        assert.equal(given?.length, records.length);
        for (const [index, fix] of given.entries()) {
          const sent = records[index];
          assert.ok(fix.type === "fix" && sent !== undefined);
          assert.equal(fix.time, sent.time);
          assert.equal(fix.attributes.io50000, last.toHex());
        }
      }),
    );
  });
});

describe("a model", () => {
  const record = { time: 0, longitude: 0, latitude: 0, altitude: 0, angle: 0, satellites: 5, speed: 0, four: [] };
  const readings = (model: string | undefined, one: IoElement[], two: IoElement[]) => {
    const packet = codec8Packet([{ ...record, one, two }]);
    const [fix] = avlRecords(packet, 8, packet.length - 4, model) ?? [];
    assert.ok(fix?.type === "fix");
    return fix.readings;
  };

  it("chooses the tables where an id means two things", () => {
    const one: IoElement[] = [[30, 64]];
    assert.equal(readings("FMC650", one, []).vehicleSpeed, 64);
    assert.equal(readings("fmb640", one, []).vehicleSpeed, 64);
    assert.equal(readings("FMB130", one, []).vehicleSpeed, undefined);
    assert.equal(readings(undefined, one, []).vehicleSpeed, undefined);
  });

  it("that is not known leaves what only one family has with that width", () => {
    assert.equal(readings(undefined, [], [[70, 250]]).deviceTemperature, 25);
    assert.equal(readings(undefined, [[4, 1]], []).input4, true);
  });

  it("has each id once for each width", () => {
    assert.equal(professional.two.get(6)?.attribute, "dallasTemperature5");
    assert.equal(fmb.two.get(6)?.number, "analog2");
  });
});
