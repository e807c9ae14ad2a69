import fc from "fast-check";
import type { CommitBatch, DeviceCommit } from "../../../src/model/commit.ts";
import { contentHashOf } from "../../../src/model/content-hash.ts";
import type { DeviceKey } from "../../../src/model/device.ts";
import {
  type DeviceState,
  firstArrival,
  type LocationRecord,
  type RecordPlace,
  type Totals,
  withTotals,
} from "../../../src/model/location.ts";
import type { HistoryRange, Store } from "../../../src/ports/store.ts";
import { now } from "./harness.ts";

/** A range that has everything. */
export const everything: HistoryRange = { from: 0, to: 8e15, limit: 1_000_000, account: 1, odometerStart: 0 };

/** A record at a second, as a tracker in motion reports. */
export function record(seconds: number, changes: Partial<LocationRecord> = {}): LocationRecord {
  const time = now + seconds * 1000;
  const made: LocationRecord = {
    time,
    arrival: firstArrival + seconds,
    hash: 0,
    receivedAt: time + 800,
    valid: true,
    latitude: 4.5 + seconds / 1000,
    longitude: -74.1,
    speed: 42,
    course: 270.5,
    extras: `,"battery":85,"attributes":{"satellites":"${seconds % 12}"`,
    totals: {
      odometerMm: seconds / 10,
      sensorMs: [0, 0, 0, 0],
      movedAt: time,
      inputsKnown: 0,
      inputsActive: 0,
      anchor: { time, latitude: 4.5 + seconds / 1000, longitude: -74.1 },
    },
    ...changes,
  };
  return { ...made, hash: changes.hash ?? contentHashOf(made) };
}

/** A commit of new records at the end. */
export function append(
  device: DeviceKey,
  version: number,
  records: readonly LocationRecord[],
  changes: Partial<DeviceCommit> = {},
): DeviceCommit {
  const last = records.at(-1);
  const state: DeviceState = {
    version,
    time: last?.time ?? 0,
    arrivals: records.length,
    totals: last?.totals ?? record(0).totals,
    ...(last && { last }),
  };
  return { device, records, patches: [], state, ...changes };
}

export function batchOf(...devices: readonly DeviceCommit[]): CommitBatch {
  return { devices, refused: [] };
}

/** A whole history as text, and the pieces' sizes and keys. */
export async function readAll(store: Store, device: DeviceKey, range: HistoryRange = everything) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const texts: string[] = [];
  let count = 0;
  let last: RecordPlace | undefined;
  for await (const piece of store.locations.history(device, range)) {
    texts.push(decoder.decode(piece.json));
    count += piece.count;
    last = piece.last;
  }
  return { json: texts.join(","), pieces: texts.length, count, last };
}

/** The API's Reading of a record, in the plainest form. */
export function readingOf({ time, receivedAt, positionTime, unlocated, extras, ...record }: LocationRecord): object {
  const { latitude, longitude, speed, course } = record;
  const own = !unlocated && positionTime === undefined;
  const motion = { ...(speed !== undefined && { speed }), ...(course !== undefined && { course }) };
  const { attributes, ...rest } = JSON.parse(`{${extras.slice(1)}}}`);
  const late = receivedAt - time > 60_000 && { receivedAt: new Date(receivedAt).toISOString() };
  const dateTime = new Date(time).toISOString();
  const position = own && { latitude, longitude, ...motion };
  // JSON has no -0.
  return JSON.parse(JSON.stringify({ dateTime, ...position, ...rest, attributes: { ...attributes, ...late } }));
}

const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const seconds = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e9, noNaN: true }));

/** Event times close to each other, so that records meet, overlap and come late. */
export const someTime = fc.integer({ min: 0, max: 300 }).map((tick) => now + tick * 500);

export const someHash = fc.integer({ min: 0, max: 2 ** 52 - 1 });

const someAnchor = fc.record({ time: someTime, latitude: finite, longitude: finite }, { noNullPrototype: true });

export const someTotals: fc.Arbitrary<Totals> = fc
  .record(
    {
      odometerMm: fc.double({ min: 0, max: 1e7, noNaN: true }),
      sensorMs: fc.tuple(seconds, seconds, seconds, seconds),
      movedAt: someTime,
      inputsKnown: fc.integer({ min: 0, max: 15 }),
      inputsActive: fc.integer({ min: 0, max: 15 }),
      anchor: someAnchor,
      doubted: someAnchor,
      uncounted: fc.record({ from: someAnchor, lengthMm: finite }, { noNullPrototype: true }),
      underway: fc.constant(true as const),
    },
    { requiredKeys: ["odometerMm", "sensorMs", "movedAt", "inputsKnown", "inputsActive"], noNullPrototype: true },
  )
  .map(({ doubted, ...totals }) => ({ ...totals, ...(doubted && totals.anchor && { doubted }) }));

function alertMembersOf(text: string): string {
  return `,"alerts":[${JSON.stringify(text)}],"alertTexts":["ñ"],"warnings":[],"warningTexts":[],"hasCriticalAlert":true`;
}

/** Any record that the model allows, with fields missing and text of any script. */
export const someRecord: fc.Arbitrary<LocationRecord> = fc
  .record(
    {
      time: someTime,
      hash: someHash,
      /** None: a record that an earlier version stored. */
      number: fc.option(fc.nat({ max: 1000 }), { nil: undefined }),
      delay: fc.oneof(fc.integer({ min: -5000, max: 100_000 }), fc.integer({ min: 0, max: 2 ** 40 })),
      valid: fc.boolean(),
      latitude: finite,
      longitude: finite,
      speed: fc.oneof(fc.integer({ min: 0, max: 300 }), finite),
      course: fc.oneof(fc.integer({ min: 0, max: 359 }), finite),
      positionTime: someTime,
      alerts: fc.option(fc.string({ unit: "grapheme", maxLength: 20 }).map(alertMembersOf), {
        nil: undefined,
        freq: 3,
      }),
      note: fc.oneof(fc.constant(undefined), fc.string({ unit: "grapheme", maxLength: 40 })),
      totals: someTotals,
      ownAnchor: fc.boolean(),
      unlocated: fc.integer({ min: 0, max: 3 }).map((choice) => choice === 0),
    },
    {
      requiredKeys: [
        "time",
        "hash",
        "number",
        "delay",
        "valid",
        "latitude",
        "longitude",
        "alerts",
        "note",
        "totals",
        "ownAnchor",
        "unlocated",
      ],
      noNullPrototype: true,
    },
  )
  .map(({ delay, number, alerts, note, ownAnchor, unlocated, ...fields }): LocationRecord => {
    const { time, latitude, longitude } = fields;
    const record = {
      ...fields,
      arrival: number === undefined ? fields.hash : firstArrival + number,
      receivedAt: time + delay,
      ...(alerts !== undefined && { alerts }),
      extras: note === undefined ? ',"attributes":{' : `,"attributes":{"note":${JSON.stringify(note)}`,
      totals: ownAnchor ? { ...fields.totals, movedAt: time, anchor: { time, latitude, longitude } } : fields.totals,
    };
    const keyed = (made: LocationRecord) => (number === undefined ? made : { ...made, hash: contentHashOf(made) });
    if (!unlocated) return keyed(record);
    const { positionTime: _own, ...rest } = record;
    return keyed(withTotals({ ...rest, valid: false, latitude: 0, longitude: 0, unlocated: true }, record.totals));
  });
