import { setImmediate as nextTurn } from "node:timers/promises";
import type { UnfollowedSpan } from "../../model/follow.ts";
import type { SaidRecord } from "../../model/said.ts";
import type { PositionPlace, PositionStore } from "../../ports/positions.ts";
import type { LongWork } from "../backup/refused.ts";
import type { Row, Side } from "./side.ts";
import { type MovedTable, movedTables } from "./tables.ts";

/** Rows of one transaction, and positions of one append. */
const rowsAtOnce = 500;
const positionsAtOnce = 5000;
/** Differences that are told: where everything differs there would be millions. */
const most = 200;

type Span = Omit<UnfollowedSpan, "device">;

const deviceTable: MovedTable = { name: "device", key: ["key"], numbered: true };

/** What was copied. */
export interface Copied {
  readonly devices: number;
  readonly positions: number;
  readonly rows: number;
  /** What of the source can't be read. */
  readonly unreadable: readonly string[];
}

/** Copies all rows and positions. */
export async function copyAll(source: Side, target: Side, work: LongWork): Promise<Copied> {
  let rows = 0;
  for (const table of movedTables) rows += await copyRows(table, source, target, work);
  for (const table of movedTables) if (table.numbered) await target.goOnBehind(table, await source.highest(table));
  const unreadable: string[] = [];
  let [devices, positions] = [0, 0];
  const behind = await unfollowedOf(source.positions);
  const copied = (count: number) => {
    positions += count;
    work.signal.throwIfAborted();
    work.progress(() => `copying positions: ${positions} of ${devices} devices`);
  };
  const spans: (readonly [device: number, Span])[] = [];
  for await (const key of devicesOf(source)) {
    const span = behind.get(key);
    if (span !== undefined) spans.push([key, span]);
    devices++;
    // Heads and days came with the rows: what is in them is not to be followed again.
    const isFollowed = ({ time }: SaidRecord) => span === undefined || time < span.from || time > span.to;
    for await (const page of pagesOf(key, source.positions)) {
      for (const { what } of page.unreadable) if (unreadable.length < most) unreadable.push(`device ${key}: ${what}`);
      const records = page.records.filter(isFollowed);
      if (records.length > 0) target.positions.followed(await target.positions.append([{ device: key, records }]));
      copied(records.length);
    }
  }
  // What a kill left is followed by the next start.
  for (const [device, span] of spans)
    for await (const { records } of pagesOf(device, source.positions, span)) {
      if (records.length > 0) await target.positions.append([{ device, records }]);
      copied(records.length);
    }
  return { devices, positions, rows, unreadable: unreadable.slice(0, most) };
}

async function copyRows(table: MovedTable, source: Side, target: Side, work: LongWork): Promise<number> {
  await target.together(() => target.clear(table));
  let count = 0;
  for (let after: Row | undefined; ; ) {
    const rows = await source.page(table, after, rowsAtOnce);
    if (rows.length > 0) await target.together(() => target.put(table, rows));
    count += rows.length;
    work.signal.throwIfAborted();
    work.progress(() => `copying ${table.name}: ${count} rows`);
    if (rows.length < rowsAtOnce) return count;
    after = rows.at(-1);
    await nextTurn();
  }
}

async function* devicesOf(side: Side): AsyncGenerator<number> {
  for (let after: Row | undefined; ; ) {
    const rows = await side.page(deviceTable, after, rowsAtOnce);
    for (const { key } of rows) yield Number(key);
    if (rows.length < rowsAtOnce) return;
    after = rows.at(-1);
  }
}

/** Event times of what is stored and in no head, by device. */
async function unfollowedOf(store: PositionStore): Promise<ReadonlyMap<number, Span>> {
  const found = new Map<number, Span>();
  for await (const { spans } of store.unfollowed("all"))
    for (const { device, from, to } of spans) {
      const before = found.get(device);
      found.set(device, { from: Math.min(from, before?.from ?? from), to: Math.max(to, before?.to ?? to) });
    }
  return found;
}

const always: Span = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

async function* pagesOf(device: number, store: PositionStore, span: Span = always) {
  const range = { ...span, limit: positionsAtOnce };
  for (let after: PositionPlace | undefined; ; ) {
    const page = await store.read(device, { ...range, ...(after && { after }) });
    yield page;
    if (page.next === undefined) return;
    after = page.next;
  }
}

/**
 * Reads both stores and compares counts of rows, and counts and sums of positions by device. Where they differ, for
 * people.
 */
export async function compareAll(source: Side, target: Side, work: LongWork): Promise<readonly string[]> {
  const differences: string[] = [];
  for (const table of movedTables) {
    work.progress(() => `comparing ${table.name} ...`);
    const [one, other] = [await source.count(table), await target.count(table)];
    if (one !== other) differences.push(`the table ${table.name} has ${other} rows in place of ${one}`);
    work.signal.throwIfAborted();
  }
  let devices = 0;
  for await (const key of devicesOf(source)) {
    const [one, other] = [await sumOf(key, source.positions), await sumOf(key, target.positions)];
    if (one.count !== other.count || one.sum !== other.sum)
      differences.push(`the positions of device ${key} differ: ${other.count} in place of ${one.count}`);
    devices++;
    work.signal.throwIfAborted();
    work.progress(() => `comparing positions: ${devices} devices`);
  }
  return differences.slice(0, most);
}

async function sumOf(device: number, store: PositionStore): Promise<{ readonly count: number; readonly sum: number }> {
  let [count, sum] = [0, 0];
  for await (const { records } of pagesOf(device, store)) {
    count += records.length;
    for (const { time, key, receivedAt } of records)
      sum = (31 * sum + (time % 1e9) + (key % 1e9) + (receivedAt % 1e9)) % 1e12;
  }
  return { count, sum };
}
