import { DatabaseSync } from "node:sqlite";
import type { DeviceKey } from "../../model/device.ts";
import { BlockCache } from "../locations/block-cache.ts";
import { type ReaderCalls, type RowsAnswer, type StatesAnswer, scanColumns } from "../locations/calls.ts";
import { unpackRequests } from "../locations/context-requests.ts";
import { EngineError, noMatch, stateDamaged } from "../locations/failures.ts";
import { asOfQuery } from "../locations/stored-states.ts";
import { ByteSink } from "../records/sink.ts";
import { cacheBytes, databaseOfWorker, plain, serve } from "../workers/serve.ts";
import { damageOf, failureOf, isDamage } from "./engine-errors.ts";
import type { SqliteReaderCalls } from "./messages.ts";
import { asDoubles, isRowWhole, summed } from "./row-sums.ts";
import { Statements } from "./statements.ts";
import { StoredChunks } from "./stored-chunks.ts";

/** Reading never waits for the writer (WAL); only a log that is being recovered makes it wait, ms. */
const busyTimeoutMs = 1000;
/** Rows of one answer of a scan: a few megabytes of numbers at most. */
const scanRows = 20_000;
/** Where each row of a scan has the length of its data. */
const lengthColumn = 5;
/** Bytes of states in one answer; with many rules a state has a hundred kilobytes. */
const statesBytes = 4 * 1024 * 1024;
/** And of rows of the tail. */
const rowsBytes = 4 * 1024 * 1024;

/** A row number, as a column without a name of its own: the order is to be that of the rows. See `asDoubles`. */
const doubleSeq = "cast(seq as real)";

class Reader {
  readonly database = new DatabaseSync(databaseOfWorker(), { readOnly: true, timeout: busyTimeoutMs });
  readonly statements = new Statements(this.database);
  readonly chunks = new StoredChunks(this.database, new BlockCache(cacheBytes()));
  readonly #scan = this.database.prepare(
    `select ${doubleSeq}, ${asDoubles(["device", "first", "last", "count"])}, length(data), ${doubleSeq} from tail where seq >= ? order by seq limit ?`,
    { returnArrays: true },
  );
  /** The same without the length: what a damaged row has in its first columns. */
  readonly #scanHeads = this.database.prepare(
    `select ${doubleSeq}, ${asDoubles(["device", "first", "last", "count"])}, 0, ${doubleSeq} from tail where seq >= ? order by seq limit ?`,
    { returnArrays: true },
  );
  readonly #length = this.database.prepare("select length(data) from tail where seq = ?", { returnArrays: true });
  readonly #scanBlocks = this.database.prepare(
    `select ${doubleSeq}, ${asDoubles(["device", "first", "last", "count", "bytes", "as_of"])} from block where seq >= ? order by seq limit ?`,
    { returnArrays: true },
  );
  readonly #state = this.database.prepare(
    `select ${asDoubles([...summed.device_state, "crc"])}, data from device_state where device = ?`,
  );
  readonly #row = this.database.prepare(`select ${asDoubles([...summed.tail, "crc"])}, data from tail where seq = ?`);

  constructor() {
    // 8 MB: a history's pages are read once, and the system's own cache has them; this is for the inner pages and the row tables.
    this.database.exec("pragma cache_size = -8000");
  }

  scan(from: number): Float64Array<ArrayBuffer> {
    try {
      return numbersOf(this.#scan.all(from, scanRows));
    } catch (error) {
      if (!isDamage(error)) throw error;
      return this.#scanDamaged(from);
    }
  }

  /** A row that tells whose it is costs its device alone, when its data are read: then the length that is not known here does not matter. */
  #scanDamaged(from: number): Float64Array<ArrayBuffer> {
    const numbers = numbersOf(this.#scanHeads.all(from, scanRows));
    for (let at = 0; at < numbers.length; at += scanColumns) numbers[at + lengthColumn] = this.#lengthOf(numbers[at]);
    return numbers;
  }

  #lengthOf(seq = 0): number {
    try {
      const row: unknown = this.#length.get(seq);
      return Array.isArray(row) ? Number(row[0]) : 0;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return 0;
    }
  }

  scanBlocks(from: number): Float64Array<ArrayBuffer> {
    return numbersOf(this.#scanBlocks.all(from, scanRows));
  }

  holdsAny(seqs: readonly number[]): boolean {
    const old = "seq in (select value from json_each(?))";
    const sql = `select 1 from tail where ${old} union all select 1 from block where ${old} limit 1`;
    const list = JSON.stringify(seqs);
    return this.statements.run({ sql, parameters: [list, list] }).rows.length > 0;
  }

  waiting(): ReaderCalls["waiting"]["answer"] {
    const found = (sql: string) =>
      this.statements.run({ sql, parameters: [] }).rows.map(({ device, seq, since, count }) => ({
        device: Number(device),
        seq: Number(seq),
        since: Number(since),
        count: Number(count),
      }));
    const each = `select ${asDoubles(["device", "seq", "first", "count"])} from patch`;
    const patches = `select device, max(seq) as seq, min(first) as since, sum(count) as count from (${each}) group by device`;
    const shifts = `select ${asDoubles(["device", "seq", "since", "count"])} from shifts`;
    return { shifts: found(shifts), patches: found(patches) };
  }

  states(devices: readonly DeviceKey[]): StatesAnswer {
    const table: number[] = [];
    const sink = new ByteSink(devices.length * 256);
    let answered = 0;
    for (; answered < devices.length && (answered === 0 || sink.length < statesBytes); answered++) {
      const device = devices[answered] ?? 0;
      const row = this.#state.get(device);
      if (row === undefined) continue;
      if (isRowWhole("device_state", { ...row, device }) === false)
        throw new EngineError(stateDamaged(device, noMatch));
      table.push(device, Number(row.version), Number(row.as_of), sink.length);
      if (row.data instanceof Uint8Array) sink.append(row.data);
      table.push(sink.length);
    }
    return { answered, table: Float64Array.from(table), bytes: sink.cut() };
  }

  rows(seqs: readonly number[]): RowsAnswer {
    const ends: number[] = [];
    const sink = new ByteSink(64 * 1024);
    for (const seq of seqs) {
      if (ends.length > 0 && sink.length >= rowsBytes) break;
      const data = this.#dataOf(seq);
      if (data !== undefined) sink.append(data);
      ends.push(sink.length);
    }
    return { ends: Float64Array.from(ends), bytes: sink.cut() };
  }

  /** The bytes of a row of the tail. Undefined where the row is gone, damaged, or can't be read. */
  #dataOf(seq: number): Uint8Array | undefined {
    try {
      const row = this.#row.get(seq);
      return row?.data instanceof Uint8Array && isRowWhole("tail", row) !== false ? row.data : undefined;
    } catch (error) {
      if (damageOf(error) === undefined) throw error;
      return undefined;
    }
  }
}

/** The numbers of each row. */
function numbersOf(rows: readonly unknown[]): Float64Array<ArrayBuffer> {
  const numbers = new Float64Array(rows.length * scanColumns);
  let at = 0;
  for (const row of rows) {
    if (!Array.isArray(row)) continue;
    for (let column = 0; column < scanColumns; column++) numbers[at++] = Number(row[column]);
  }
  return numbers;
}

let opened: Reader | undefined;
/** Opened by a call, so that a failure to open is that call's answer. */
function reader(): Reader {
  opened ??= new Reader();
  return opened;
}

serve<SqliteReaderCalls>(
  {
    sql: (request) => plain(reader().statements.run(request)),
    scan: (from) => {
      const answer = reader().scan(from);
      return { answer, transfer: [answer.buffer] };
    },
    scanBlocks: (from) => {
      const answer = reader().scanBlocks(from);
      return { answer, transfer: [answer.buffer] };
    },
    holdsAny: (seqs) => plain(reader().holdsAny(seqs)),
    waiting: () => plain(reader().waiting()),
    statesAsOf: () => plain(reader().statements.run({ sql: asOfQuery, parameters: [] }).rows),
    states: (devices) => {
      const answer = reader().states(devices);
      return { answer, transfer: [answer.table.buffer, answer.bytes.buffer] };
    },
    rows: (seqs) => {
      const answer = reader().rows(seqs);
      return { answer, transfer: [answer.ends.buffer, answer.bytes.buffer] };
    },
    history: (request) => {
      const answer = reader().chunks.history(request);
      return { answer, transfer: answer?.map(({ json }) => json.buffer) ?? [] };
    },
    contexts: (requests) => {
      const answer = reader().chunks.contexts(unpackRequests(requests));
      return { answer, transfer: [answer.table.buffer, answer.bytes.buffer] };
    },
    moment: (request) => {
      const answer = reader().chunks.moment(request);
      return { answer, transfer: answer === undefined ? [] : [answer.hashes.buffer, answer.newest.buffer] };
    },
    check: () => {
      reader().database.prepare("select 1 from tail order by seq desc limit 1").get();
      return plain(null);
    },
    close: () => {
      opened?.database.close();
      return plain(null);
    },
  },
  failureOf,
);
