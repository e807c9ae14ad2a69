import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { FleetTracker } from "./crash-fleet.ts";
import {
  type Content,
  expectedLast,
  foldedTotals,
  type Location,
  totalsOf,
  withoutTotals,
} from "./location-content.ts";
import { call, type Service } from "./service.ts";

/*
 * What trackers sent and what the service acknowledged, compared with what the API answers: record by record.
 */

/** How many of the missing records a message numbers. */
const shown = 20;

/** Reads the whole history of a device, page after page. */
async function history(service: Service, device: string): Promise<readonly Location[]> {
  const range = { from: "2000-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" };
  const all: Location[] = [];
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const body = { ...range, ...(cursor !== undefined && { cursor }) };
    type Page = { locations: Location[]; nextCursor?: string | null };
    const page = await call<Page>(service, "POST", `/api/devices/${device}/locations`, body);
    for (const location of page.locations) all.push(location);
    cursor = page.nextCursor ?? undefined;
  }
  return all;
}

/** A record's content as text, its members in an order of their own. */
function key(content: object): string {
  return JSON.stringify(content, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
}

/** Each record that was sent, in the order of sending, and what was in flight at the end. */
function sentBy(tracker: FleetTracker) {
  const acknowledged = new Map<string, Content>();
  for (let message = 0; message < tracker.acked; message++)
    for (const content of tracker.expected(message)) {
      const text = key(content);
      if (!acknowledged.has(text)) acknowledged.set(text, content);
    }
  const inFlight = tracker.sent > tracker.acked ? tracker.expected(tracker.acked).map(key) : [];
  return { acknowledged, fresh: inFlight.filter((text) => !acknowledged.has(text)) };
}

/** How many records of a tracker were acknowledged. */
export function promisedOf(tracker: FleetTracker): number {
  return sentBy(tracker).acknowledged.size;
}

/** From when on records arrived and are kept, epoch ms. */
export interface Since {
  /** Nothing arrived before; absent where the service's clock was changed. */
  readonly began?: number | undefined;
  /** Older records may have been deleted, the oldest first; absent where nothing is deleted. */
  readonly keptFrom?: number | undefined;
}

const timeOf = ({ dateTime }: Content) => Date.parse(dateTime);

/**
 * Every record that was acknowledged is stored as it was sent, once, unless it may be deleted; what else is stored was
 * sent too, in whole messages. Records of one moment stand as they were sent: there is one message in flight at a time.
 * Gives what was deleted, in the order of time.
 */
function compareRecords(
  tracker: FleetTracker,
  stored: readonly Location[],
  { began, keptFrom = Number.NEGATIVE_INFINITY }: Since,
): readonly Content[] {
  const { device } = tracker;
  const { acknowledged, fresh } = sentBy(tracker);
  const numbers = new Map([...acknowledged.keys(), ...fresh].map((text, number) => [text, number]));
  const left = new Set<string>();
  let before = { dateTime: "", number: -1 };
  for (const location of stored) {
    const { content, receivedAt } = withoutTotals(location);
    const text = key(content);
    assert.ok(!left.has(text), `${device}: stored twice: ${text}`);
    const arrived = Date.parse(receivedAt);
    assert.ok(began === undefined || (arrived >= began && arrived <= Date.now()), `arrived at ${receivedAt}`);
    left.add(text);
    const number = numbers.get(text) ?? assert.fail(`${device}: stored and never sent: ${text}`);
    const { dateTime } = content;
    assert.ok(dateTime !== before.dateTime || number > before.number, `${device}: moment in another order: ${text}`);
    before = { dateTime, number };
  }
  const [first] = stored;
  const deletedBefore = Math.min(keptFrom, first === undefined ? keptFrom : timeOf(first));
  const absent = [...acknowledged].filter(([text]) => !left.has(text));
  const missing = absent.filter(([, content]) => timeOf(content) >= deletedBefore);
  const numbered = missing.map(([text]) => numbers.get(text)).slice(0, shown);
  assert.equal(
    missing.length,
    0,
    `${device}: acknowledged and not stored: ${missing.length} of ${acknowledged.size}, numbers ${numbered} ...: ${missing[0]?.[0]}`,
  );
  const landed = fresh.filter((text) => left.has(text));
  assert.ok(landed.length === 0 || landed.length === fresh.length, `${device}: half of a message is stored`);
  const deleted = absent.map(([, content]) => content).filter((content) => timeOf(content) < deletedBefore);
  return deleted.toSorted((one, other) => timeOf(one) - timeOf(other));
}

/**
 * Totals and last location are those of all records in the order of time, whatever order they came in, and whether they
 * were deleted since.
 */
async function compareTotals(
  service: Service,
  device: string,
  stored: readonly Location[],
  deleted: readonly Content[],
): Promise<void> {
  const times = stored.map(({ dateTime }) => dateTime);
  assert.deepEqual(times, times.toSorted(), `${device}: by time`);
  // Where all was deleted, what came since may be too old to be stored.
  if (stored.length === 0 && deleted.length > 0) return;
  const folded = foldedTotals([...deleted, ...stored]).slice(deleted.length);
  // One by one: of two long lists that differ, the message would hold the whole.
  for (const [index, location] of stored.entries())
    assert.deepEqual(totalsOf(location), folded[index], `${device}: totals of record ${index}, ${location.dateTime}`);
  await compareLast(service, device, stored);
}

/** When the metrics say for this long that no device is behind, all late reports are folded, ms. */
const atRestMs = 5000;

/**
 * The last location is that of all records, when the late ones among them are folded in their places. That takes as
 * long as the machine makes it: a device pauses for ten times what its last turn took.
 */
export async function compareLast(service: Service, device: string, stored: readonly Location[]): Promise<void> {
  const expected = expectedLast(stored) ?? null;
  const path = `/api/devices/${device}/lastLocation`;
  for (let restsSince = Date.now(); ; await sleep(50)) {
    const { lastLocation } = await call<{ lastLocation: Location }>(service, "GET", path);
    if (isDeepStrictEqual(lastLocation, expected)) return;
    if (!/^waybeam_follow_devices_behind 0$/m.test(await service.metrics())) restsSince = Date.now();
    else if (Date.now() - restsSince > atRestMs) assert.deepEqual(lastLocation, expected, `${device}: last location`);
  }
}

/**
 * Compares what a tracker sent and what was acknowledged with what is stored, and all that is derived with the plain
 * fold. Gives the number of stored records.
 */
export async function compareTracker(service: Service, tracker: FleetTracker, since: Since): Promise<number> {
  const stored = await history(service, tracker.device);
  const deleted = compareRecords(tracker, stored, since);
  await compareTotals(service, tracker.device, stored, deleted);
  return stored.length;
}
