import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DeviceKey } from "../../../model/device.ts";
import type { PositionPlace, PositionRange, RenderedPage, Unreadable } from "../../../ports/positions.ts";
import { damageOf } from "../../sqlite/engine-errors.ts";
import { openBlock } from "../block.ts";
import { type BlockHead, byArrival } from "../clusters.ts";
import { LogRow } from "../log-row.ts";
import { Merge, type MergeSource } from "../merge.ts";
import { PackedCursor } from "../packed-record.ts";
import type { RecordWalk } from "../record-view.ts";
import { RenderedRecords } from "../rendered.ts";
import { ByteSink } from "../sink.ts";
import { SortedRecords } from "../sorted-records.ts";
import type { ReadAnswer, ReadRequest, RenderRequest, RowContents, RowPlace } from "./messages.ts";

/** A page ends behind so many bytes. */
const pageBytes = 1024 * 1024;
/** What a page of JSON takes: some 10 ms, so that short questions get in between. */
const renderedSize = { records: 4096, bytes: 1024 * 1024 };
/** A page's buffer that has grown larger is given back. */
const mostKept = 4 * 1024 * 1024;
/** Blocks that are looked at together. */
const windowBlocks = 8;
/** A part of a scan ends behind so many bytes. */
const scanBytes = 8 * 1024 * 1024;

type SqlRow = NonNullable<ReturnType<StatementSync["get"]>>;

function bytesOf(row: SqlRow | undefined): Uint8Array | undefined {
  return row?.data instanceof Uint8Array ? row.data : undefined;
}

/** Reads positions, on a connection that only reads. */
export class LogReader {
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof statementsOf>;
  /** JSON is put together here: new buffers for each page would keep the collector busy. */
  readonly #json = new ByteSink(64 * 1024);

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = statementsOf(database);
  }

  /** Runs `work` on one snapshot. */
  inSnapshot<T>(work: () => T): T {
    this.#database.exec("begin");
    try {
      return work();
    } finally {
      // After a page could not be read, only this ends a transaction.
      if (this.#database.isTransaction) this.#database.exec("rollback");
    }
  }

  /** Rows behind a number in their order, up to another. Rows whose page can't be read have no data. */
  *rows(after: number, through: number): Iterable<{ readonly seq: number; readonly data: Uint8Array | undefined }> {
    for (let seq = after; seq < through; ) {
      const row = this.#readRow(() => this.#statements.nextRow.get(seq, through));
      if (row === undefined) return;
      // Of a damaged page the rows may not be in their order.
      if (row !== "unreadable" && Number(row.seq) > seq) {
        seq = Number(row.seq);
        yield { seq, data: bytesOf(row) };
        continue;
      }
      // Rows on other pages are found by their numbers.
      const key = ++seq;
      const other = this.#readRow(() => this.#statements.row.get(key));
      if (other !== undefined) yield { seq, data: other === "unreadable" ? undefined : bytesOf(other) };
    }
  }

  #readRow(get: () => SqlRow | undefined): SqlRow | undefined | "unreadable" {
    try {
      return get();
    } catch (error) {
      if (damageOf(error) === undefined) throw error;
      return "unreadable";
    }
  }

  scan(after: number, through: number): readonly RowContents[] {
    return this.inSnapshot(() => {
      const found: RowContents[] = [];
      let bytes = 0;
      for (const { seq, data } of this.rows(after, through)) {
        found.push({ seq, bytes: data?.byteLength ?? 0, spans: data && spansOf(data) });
        bytes += data?.byteLength ?? 0;
        if (bytes > scanBytes) break;
      }
      return found;
    });
  }

  /** Devices with blocks of rows behind a number, and event times of the first and the last record of these. */
  packedBehind(number: number): Float64Array<ArrayBuffer> {
    const rows = this.#statements.packedBehind.all(number);
    return Float64Array.from(rows.flatMap(({ device, first, last }) => [Number(device), Number(first), Number(last)]));
  }

  /** From when on records of a device are kept. */
  since(device: DeviceKey): number {
    return Number(this.#statements.since.get(device)?.since ?? Number.NEGATIVE_INFINITY);
  }

  /** A device's blocks with records of a range, in the order in which these came. */
  heads(device: DeviceKey, from: number, to: number): readonly BlockHead[] {
    return this.#statements.heads
      .all(device, to, from)
      .map(({ id, first, last, number, count }) => ({
        id: Number(id),
        first: Number(first),
        last: Number(last),
        number: Number(number),
        count: Number(count),
      }))
      .sort(byArrival);
  }

  /** Opens a block. `onDamage`: it can't be read. */
  open(device: DeviceKey, head: BlockHead, onDamage: (unreadable: Unreadable) => void): RecordWalk | undefined {
    try {
      const data = bytesOf(this.#statements.block.get(head.id));
      if (data !== undefined) return openBlock({ ...head, data }, device);
      onDamage({ from: head.first, to: head.last, what: `block ${head.id}: its bytes are missing` });
    } catch (error) {
      const why = damageOf(error);
      if (why === undefined) throw error;
      onDamage({ from: head.first, to: head.last, what: `block ${head.id}: ${why}` });
    }
    return undefined;
  }

  read({ device, range, rows }: ReadRequest): ReadAnswer {
    return this.inSnapshot(() => {
      const unreadable: Unreadable[] = [];
      const records = this.#records(device, range, rows, (one) => void unreadable.push(one));
      return { ...pageOf(records, range.limit), unreadable };
    });
  }

  /** Folds the records of a range, and writes them as JSON. */
  render({ device, ask, rows }: RenderRequest): RenderedPage {
    this.#json.shrink(mostKept);
    return this.inSnapshot(() => {
      const damages: Unreadable[] = [];
      const page = new RenderedRecords(ask, renderedSize, this.#json);
      for (const { record, time, nth } of this.#records(device, ask, rows, (one) => void damages.push(one))) {
        if (record === undefined || damages.some(({ from }) => time >= from)) break;
        if (!page.add(record, nth)) return page.page({ more: true });
      }
      return page.page({ damage: damages.toSorted((one, other) => one.from - other.from)[0] });
    });
  }

  /** A device's records of a range, one after the other. */
  *#records(
    device: DeviceKey,
    { from: asked, to, after }: PositionRange,
    rows: readonly RowPlace[],
    onDamage: (unreadable: Unreadable) => void,
  ): Generator<Merge, void, undefined> {
    const from = Math.max(asked, this.since(device), after?.time ?? Number.NEGATIVE_INFINITY);
    // So many records of that moment were read already.
    const skip = after?.time === from ? after.nth : 0;
    for (let begin = from; begin <= to && begin < Number.POSITIVE_INFINITY; ) {
      // A device may have ten thousands of blocks, and a page takes a few.
      const end = Number(this.#statements.window.get(device, begin, windowBlocks)?.first ?? Number.POSITIVE_INFINITY);
      const isIn = ({ first, last }: RowPlace) => last >= begin && first < end;
      const sources: MergeSource[] = [
        ...this.heads(device, begin, Math.min(to, end)).map((head) => ({
          first: head.first,
          open: () => this.open(device, head, onDamage),
        })),
        ...rows.filter(isIn).map((row) => ({ first: row.first, open: () => this.#openRow(device, row, onDamage) })),
      ];
      const merge = new Merge(sources);
      while (merge.next() && merge.time <= to && merge.time < end)
        if (merge.time > from ? merge.time >= begin : merge.time === from && merge.nth > skip) yield merge;
      begin = end;
    }
  }

  #openRow(device: DeviceKey, { seq, first, last }: RowPlace, onDamage: (unreadable: Unreadable) => void) {
    try {
      const data = bytesOf(this.#statements.row.get(seq));
      // A row that is gone is in a block of this snapshot.
      if (data === undefined) return undefined;
      const row = new LogRow(data);
      const index = row.indexOf(device);
      return index < 0 ? undefined : new SortedRecords(row.recordsAt(index));
    } catch (error) {
      const why = damageOf(error);
      if (why === undefined) throw error;
      onDamage({ from: first, to: last, what: `log row ${seq}: ${why}` });
      return undefined;
    }
  }
}

function pageOf(records: Iterable<Merge>, limit: number): Omit<ReadAnswer, "unreadable"> {
  const sink = new ByteSink(64 * 1024);
  let count = 0;
  let last: PositionPlace | undefined;
  for (const merge of records) {
    if (count >= limit || sink.length > pageBytes) return { records: sink.cut(), next: last };
    merge.write(sink);
    count++;
    last = { time: merge.time, nth: merge.nth };
  }
  return { records: sink.cut(), next: undefined };
}

/**
 * Of each device of a row: its key, and event times of its first and its last record. Undefined where the directory is
 * damaged.
 */
function spansOf(data: Uint8Array): Float64Array | undefined {
  try {
    const row = new LogRow(data);
    const spans = new Float64Array(3 * row.devices);
    for (let index = 0; index < row.devices; index++) {
      spans[3 * index] = row.deviceAt(index);
      spans.set(spanAt(row, index), 3 * index + 1);
    }
    return spans;
  } catch (error) {
    if (damageOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Where records are damaged, about when they came: reading tells of the damage. */
function spanAt(row: LogRow, index: number): readonly [number, number] {
  try {
    const cursor = new PackedCursor(row.recordsAt(index));
    let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let at = 0; at < cursor.bytes.byteLength; at = cursor.end) {
      cursor.readTime(at);
      first = Math.min(first, cursor.time);
      last = Math.max(last, cursor.time);
    }
    return [first, last];
  } catch (error) {
    if (damageOf(error) === undefined) throw error;
    return [row.moment, row.moment];
  }
}

function statementsOf(database: DatabaseSync) {
  return {
    nextRow: database.prepare("select seq, data from log where seq > ? and seq <= ? order by seq limit 1"),
    row: database.prepare("select data from log where seq = ?"),
    block: database.prepare("select data from block where id = ?"),
    window: database.prepare("select first from block where device = ? and first > ? order by first limit 1 offset ?"),
    packedBehind: database.prepare(
      "select device, min(first) as first, max(last) as last from block where number > ? group by device",
    ),
    since: database.prepare("select since from kept where device = ?"),
    heads: database.prepare(
      "select id, first, last, number, count from block where device = ? and first <= ? and last >= ?",
    ),
  };
}
