import type { CommitBatch, DeviceCommit, RefusedReport } from "../../model/commit.ts";
import type { DeviceKey } from "../../model/device.ts";
import type { DeviceState, LocationRecord } from "../../model/location.ts";
import type { Log } from "../../ports/log.ts";
import type { CommitConflict, HistoryChunk, HistoryContext, HistoryRange, LocationStore } from "../../ports/store.ts";
import { packBatch, type Rewrite } from "../records/batch.ts";
import { readRecords } from "../records/record-codec.ts";
import { ByteSink } from "../records/sink.ts";
import { readState } from "../records/state-codec.ts";
import { alertRow } from "../rows/alerts.ts";
import { noticeRow } from "../rows/notices.ts";
import type { RefusedRows } from "../rows/refused.ts";
import type { NewAlertRow, NewNoticeRow } from "../schema.ts";
import type { ChunkIndex, DeviceChunks } from "./chunk-index.ts";
import { readHistory } from "./history.ts";
import type { CommitRequest, ReaderCalls, WriterCalls } from "./messages.ts";
import type { Mutex } from "./mutex.ts";
import { Sweep } from "./sweep.ts";
import type { WorkerLink } from "./worker-link.ts";

/** First size of the batch buffer: a batch of some hundred one-record commits fits without growing. */
const batchBytes = 256 * 1024;
/** A buffer that a great batch made larger than this is not kept. */
const keptBatchBytes = 8 * 1024 * 1024;

/** What the location store works with. */
export interface LocationParts {
  readonly writer: WorkerLink<WriterCalls>;
  readonly reader: WorkerLink<ReaderCalls>;
  readonly turns: Mutex;
  readonly index: ChunkIndex;
  readonly refused: RefusedRows;
  readonly log: Log;
}

/** Positions on SQLite: packed here, written by one worker, read and rendered by another. */
export class SqliteLocations implements LocationStore {
  readonly #parts: LocationParts;
  readonly #batch = new ByteSink(batchBytes);
  /** After a commit that failed, whether the tail has rows that the index does not know is found out before the next one. */
  #uncertain = false;

  constructor(parts: LocationParts) {
    this.#parts = parts;
  }

  /** Reads the tail from the highest known row on into the index. */
  async load(): Promise<void> {
    const { reader, index } = this.#parts;
    let pending = reader.call("scan", index.next);
    for (;;) {
      const rows = await pending;
      if (rows.length === 0) break;
      // The reader goes on while these are put in.
      pending = reader.call("scan", (rows[rows.length - 5] ?? 0) + 1);
      for (let at = 0; at < rows.length; at += 5) {
        const device = rows[at + 1] ?? 0;
        index.add(rows[at] ?? 0, device, rows[at + 2] ?? 0, rows[at + 3] ?? 0, rows[at + 4] ?? 0);
      }
    }
    this.#uncertain = false;
  }

  async states(devices: readonly DeviceKey[]): Promise<readonly DeviceState[]> {
    const { table, bytes } = await this.#parts.reader.call("states", devices);
    const found = new Map<DeviceKey, DeviceState>();
    for (let at = 0; at < table.length; at += 4)
      found.set(table[at] ?? 0, readState(bytes.subarray(table[at + 2], table[at + 3]), table[at + 1] ?? 0));
    const never = readState(new Uint8Array(0), 0);
    return devices.map((device) => found.get(device) ?? never);
  }

  commit(batch: CommitBatch): Promise<CommitConflict | undefined> {
    return this.#parts.turns.run(() => this.#commit(batch));
  }

  async #commit(batch: CommitBatch): Promise<CommitConflict | undefined> {
    await this.settle();
    const { writer, index, log } = this.#parts;
    const chunks = packBatch(this.#batch, batch);
    const rewrites = batch.devices.flatMap((device) => this.#rewriteOf(device) ?? []);
    const buffer = this.#batch.take();
    const first = index.next;
    try {
      const request = { buffer, seq: first, rewrites, refused: batch.refused, ...alertRows(batch) };
      const answer = await writer.call("append", request, [buffer]);
      if (answer.buffer.byteLength <= keptBatchBytes) this.#batch.restore(answer.buffer);
      if (answer.missing > 0) log.warn({ records: answer.missing }, "patches for records that are not stored");
      if (answer.conflicts.length > 0) return { conflicts: answer.conflicts };
    } catch (error) {
      this.#uncertain = true;
      throw error;
    }
    chunks.forEach((chunk, offset) => {
      index.add(first + offset, chunk.device, chunk.first, chunk.last, chunk.count);
    });
    return undefined;
  }

  /** Brings the index up to the tail after a commit of unknown outcome. To be called in a turn of one's own. */
  async settle(): Promise<void> {
    if (this.#uncertain) await this.load();
  }

  #rewriteOf({ device, patches, shift }: DeviceCommit): Rewrite | undefined {
    const chunks = this.#parts.index.get(device);
    if (chunks === undefined || (patches.length === 0 && shift === undefined)) return undefined;
    let from = shift?.afterTime ?? Number.POSITIVE_INFINITY;
    let to = shift === undefined ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    for (const { time } of patches) {
      if (time < from) from = time;
      if (time > to) to = time;
    }
    return { device, seqs: chunks.overlapping(from, to), patches, shift };
  }

  async context(device: DeviceKey, time: number, limit: number): Promise<HistoryContext> {
    const chunks = this.#parts.index.get(device);
    if (chunks === undefined) return { from: [], more: false };
    const [before, from] = await Promise.all([this.#newestBefore(chunks, time), this.#from(chunks, time, limit + 1)]);
    return { ...(before && { before }), from: from.slice(0, limit), more: from.length > limit };
  }

  async #newestBefore(chunks: DeviceChunks, time: number): Promise<LocationRecord | undefined> {
    const seqs = chunks.newestBefore(time);
    if (seqs.length === 0) return undefined;
    const [record] = readRecords(await this.#parts.reader.call("newestBefore", { seqs, time }));
    return record;
  }

  async #from(chunks: DeviceChunks, time: number, limit: number): Promise<LocationRecord[]> {
    const to = Number.POSITIVE_INFINITY;
    const sweep = new Sweep(chunks, time, to);
    const records: LocationRecord[] = [];
    let from = time;
    while (records.length < limit) {
      const step = sweep.next(limit - records.length);
      if (step === undefined) break;
      const request = { ...step, from, to, after: undefined, limit: limit - records.length };
      for (const record of readRecords(await this.#parts.reader.call("records", request))) records.push(record);
      from = Math.max(from, step.bound);
    }
    return records;
  }

  history(device: DeviceKey, range: HistoryRange): AsyncIterable<HistoryChunk> {
    return readHistory(this.#parts.reader, this.#parts.index.get(device), range);
  }

  refused(device: DeviceKey, limit: number): Promise<readonly RefusedReport[]> {
    return this.#parts.refused.newest(device, limit);
  }
}

/** The alerts of a batch and their notices as rows. Most batches have none, and nothing is made for a device without. */
function alertRows({ devices }: CommitBatch): Pick<CommitRequest, "alerts" | "notices"> {
  const rows: { readonly alerts: NewAlertRow[]; readonly notices: NewNoticeRow[] } = { alerts: [], notices: [] };
  for (const { alerts, notices } of devices) {
    if (alerts !== undefined) for (const alert of alerts) rows.alerts.push(alertRow(alert));
    if (notices !== undefined) for (const notice of notices) rows.notices.push(noticeRow(notice));
  }
  return rows;
}
