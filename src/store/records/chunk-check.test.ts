import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ContentHash, contentHashOf } from "../../model/content-hash.ts";
import { firstArrival, type LocationRecord, noTotals } from "../../model/location.ts";
import { checkChunk } from "./chunk-check.ts";
import { writeRecord } from "./record-codec.ts";
import { ByteSink } from "./sink.ts";

const time = Date.UTC(2026, 10, 21);

function recordAt(second: number): LocationRecord {
  const extras = `,"battery":${second},"attributes":{"satellites":"9"}`;
  const fields = { valid: true, latitude: 4 + second / 1e4, longitude: -74, speed: 42, course: 270.5, extras };
  const record = { time: time + second * 1000, receivedAt: time + second * 1000 + 800, totals: noTotals, ...fields };
  return { ...record, arrival: firstArrival + second, hash: contentHashOf({ ...record, arrival: 0, hash: 0 }) };
}

function chunk(count: number) {
  const sink = new ByteSink(1024);
  for (let second = 0; second < count; second++) writeRecord(sink, recordAt(second));
  return { first: time, last: time + (count - 1) * 1000, count, data: sink.cut() };
}

test("a whole chunk has no problem", () => {
  assert.deepEqual(checkChunk(chunk(5)), { records: 5, numbered: 5, problem: undefined });
});

test("any bytes are looked at to an end, and no failure but a problem comes of them", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc.tuple(fc.nat(700), fc.nat(255), fc.nat(700)).map(([at, value, end]) => {
      const { data } = chunk(5);
      data[at % data.length] = value;
      return data.subarray(0, data.length - (end % 3 === 0 ? end % data.length : 0));
    }),
  );
  fc.assert(
    fc.property(bytes, (data) => {
      const { records, numbered, problem } = checkChunk({ ...chunk(5), data });
      return numbered <= records && records <= 5 * 400 && (problem !== undefined || records === 5);
    }),
    { numRuns: 3000 },
  );
});

test("a changed octet of what was reported is found", () => {
  const { data } = chunk(3);
  const whole = chunk(3);
  // Hash, latitude, longitude; and the end of the last record: its extras.
  const places = [
    ...Array.from({ length: 24 }, (_, index) => 16 + index),
    ...Array.from({ length: 40 }, (_, index) => data.length - 1 - index),
  ];
  for (const at of places) {
    const spoiled = Uint8Array.from(data);
    spoiled[at] = (spoiled[at] ?? 0) ^ 4;
    assert.notEqual(checkChunk({ ...whole, data: spoiled }).problem, undefined, `octet ${at}`);
  }
});

test("a record from a tracker's memory is whole with either hash: earlier versions counted the mark of the memory", () => {
  const extras = ',"attributes":{"satellites":"9","archive":"true"';
  const record = { ...recordAt(0), extras };
  const bytes = Buffer.from(extras);
  const viewed = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
  const { valid, latitude, longitude, speed, course } = record;
  const located = { valid, latitude, longitude, speed, course };
  const before = new ContentHash().withMark(located, viewed, 0, bytes.byteLength);
  const now = contentHashOf(record);
  assert.notEqual(before, now);
  for (const hash of [before, now, now + 1]) {
    const sink = new ByteSink(1024);
    writeRecord(sink, { ...record, hash });
    const { problem } = checkChunk({ first: time, last: time, count: 1, data: sink.cut() });
    assert.equal(problem === undefined, hash !== now + 1);
  }
});
