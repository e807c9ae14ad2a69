import fc from "fast-check";
import type { DeviceKey } from "../../../src/model/device.ts";
import { keyOf, type SaidRecord } from "../../../src/model/said.ts";
import type { PositionStore, Unreadable } from "../../../src/ports/positions.ts";

/** The moment that tests count from. */
export const start = Date.UTC(2026, 10, 20, 12);

/** All of a device's time. */
export const everything = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** What a tracker in motion says at a second. */
export function said(seconds: number, changes: Partial<SaidRecord> = {}): SaidRecord {
  const time = start + seconds * 1000;
  const record = {
    time,
    receivedAt: time + 800,
    valid: true,
    latitude: Math.round((4.5 + seconds / 1e5) * 1e7) / 1e7,
    longitude: -74.1,
    speed: 42,
    course: 270.5,
    extras: ',"attributes":{',
    ...changes,
  };
  return { ...record, key: keyOf(record) };
}

/** A record without a position. */
export function unlocated(seconds: number): SaidRecord {
  const { speed: _speed, course: _course, ...rest } = said(seconds);
  const record = { ...rest, valid: false, unlocated: true as const, latitude: 0, longitude: 0 };
  return { ...record, key: keyOf(record) };
}

/** Records as tests compare them. */
export function sortedOnce(records: readonly SaidRecord[]): readonly SaidRecord[] {
  const seen = new Set<string>();
  return records
    .filter(({ time, key }) => seen.size < seen.add(`${time} ${key}`).size)
    .toSorted((one, other) => one.time - other.time);
}

/** All pages of a device. */
export async function readAll(
  store: PositionStore,
  device: DeviceKey,
  { limit = 1000, ...range }: { from: number; to: number; limit?: number } = everything,
): Promise<{ readonly records: readonly SaidRecord[]; readonly unreadable: readonly Unreadable[] }> {
  const records: SaidRecord[] = [];
  const unreadable = new Map<string, Unreadable>();
  for (let page = await store.read(device, { ...range, limit }); ; ) {
    records.push(...page.records);
    for (const one of page.unreadable) unreadable.set(one.what, one);
    if (page.next === undefined) return { records, unreadable: [...unreadable.values()] };
    page = await store.read(device, { ...range, limit, after: page.next });
  }
}

// Ingest makes a minus zero plain.
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const text = fc
  .string({ unit: "grapheme", maxLength: 20 })
  .map((note) => `,"attributes":{"note":${JSON.stringify(note)}`);

/** Anything that the model allows, at times close to each other: records meet, overlap, come late and come again. */
export const someSaid: fc.Arbitrary<SaidRecord> = fc
  .record(
    {
      tick: fc.oneof(
        { weight: 20, arbitrary: fc.nat(300) },
        { weight: 1, arbitrary: fc.integer({ min: -1e9, max: 1e9 }) },
      ),
      delay: fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: -5000, max: 2 ** 40 })),
      valid: fc.boolean(),
      latitude: fc.oneof(
        fc.nat(20).map((at) => 48 + at / 1e5),
        finite,
      ),
      longitude: fc.oneof(
        fc.nat(20).map((at) => -11 - at / 1e5),
        finite,
      ),
      speed: fc.oneof(
        fc.nat(30_000).map((speed) => speed / 100),
        finite,
      ),
      course: fc.oneof(
        fc.nat(35_999).map((course) => course / 100),
        finite,
      ),
      extras: fc.oneof(
        fc.constantFrom(',"attributes":{', ',"battery":85,"inputs":[true],"attributes":{"hdop":"0.9"'),
        text,
      ),
      isFromMemory: fc.boolean(),
      unlocated: fc.nat(4).map((choice) => choice === 0),
    },
    {
      requiredKeys: ["tick", "delay", "valid", "latitude", "longitude", "extras", "isFromMemory", "unlocated"],
      noNullPrototype: true,
    },
  )
  .map(({ tick, delay, isFromMemory, unlocated, extras, ...fields }) => {
    const time = start + tick * 500;
    const mark = `${extras.endsWith("{") ? "" : ","}"archive":"true"`;
    const when = { time, receivedAt: time + delay, extras: isFromMemory ? extras + mark : extras };
    const record = unlocated
      ? { ...when, valid: false, unlocated: true as const, latitude: 0, longitude: 0 }
      : { ...when, ...fields };
    return { ...record, key: keyOf(record) };
  });
