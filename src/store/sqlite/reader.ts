import { DatabaseSync } from "node:sqlite";
import type { DeviceKey } from "../../model/device.ts";
import { BlockCache } from "../locations/block-cache.ts";
import type { ReaderCalls, RowsAnswer, StatesAnswer } from "../locations/calls.ts";
import { unpackRequests } from "../locations/context-requests.ts";
import { EngineError, noMatch, stateDamaged } from "../locations/failures.ts";
import { mostSeq } from "../locations/sizes.ts";
import { asOfQuery } from "../locations/stored-states.ts";
import { RecordsDamaged } from "../records/damage.ts";
import { unpackRecords } from "../records/packed-rows.ts";
import { ByteSink } from "../records/sink.ts";
import { SpentRows } from "../records/spent.ts";
import { cacheBytes, databaseOfWorker, plain, serve } from "../workers/serve.ts";
import { damageOf, failureOf } from "./engine-errors.ts";
import type { SqliteReaderCalls } from "./messages.ts";
import { asDoubles, isRowWhole, summed } from "./row-sums.ts";
import { Scan } from "./scans.ts";
import { spentIn } from "./spent-table.ts";
import { Statements } from "./statements.ts";
import { StoredChunks } from "./stored-chunks.ts";
import { problemsOf } from "./verify.ts";
import { waitingIn } from "./waiting.ts";

/** Reading never waits for the writer (WAL); only a log that is being recovered makes it wait, ms. */
const busyTimeoutMs = 1000;
/** Bytes of states in one answer; with many rules a state has a hundred kilobytes. */
const statesBytes = 4 * 1024 * 1024;
/** Bytes of rows of the tail in one answer. */
const rowsBytes = 4 * 1024 * 1024;
/** 8 MB: a history's pages are read once, and the system's own cache has them; this is for the inner pages and the row tables. */
const cacheSize = "pragma cache_size = -8000";

/** Runs `read`, which goes over a whole table: its pages would fill the cache, and nobody asks for them again soon. */
function withSmallCache<T>(database: DatabaseSync, read: () => T): T {
  database.exec("pragma cache_size = -500");
  try {
    return read();
  } finally {
    database.exec(cacheSize);
  }
}

/** Blocks of which one has the highest row number, unless all of their numbers are damaged. */
const lastRows = 1000;

class Reader {
  readonly database = new DatabaseSync(databaseOfWorker(), { readOnly: true, timeout: busyTimeoutMs });
  readonly statements = new Statements(this.database);
  readonly chunks = new StoredChunks(this.database, new BlockCache(cacheBytes()));
  readonly #scan = new Scan(this.database, "tail");
  readonly #scanBlocks = new Scan(this.database, "block");
  readonly #state = this.database.prepare(
    `select ${asDoubles([...summed.device_state, "crc"])}, data from device_state where device = ?`,
  );
  readonly #row = this.database.prepare(`select ${asDoubles([...summed.tail, "crc"])}, data from tail where seq = ?`);

  constructor() {
    this.database.exec(cacheSize);
  }

  scan(from: number): Float64Array<ArrayBuffer> {
    return this.#scan.read(from);
  }

  scanBlocks(from: number): Float64Array<ArrayBuffer> {
    return withSmallCache(this.database, () => this.#scanBlocks.read(from));
  }

  lastBlock(): number {
    const rows = this.database.prepare(
      `select cast(seq as real) as seq from block where seq < ${mostSeq} order by seq desc limit ${lastRows}`,
    );
    return rows.all().reduce((last, { seq }) => Math.max(last, Number(seq)), 0);
  }

  blockCounts(): Float64Array<ArrayBuffer> {
    try {
      const rows = withSmallCache(this.database, () =>
        this.database
          .prepare("select cast(device as real) as device, count(*) as blocks from block group by device")
          .all(),
      );
      return Float64Array.from(rows.flatMap(({ device, blocks }) => [Number(device), Number(blocks)]));
    } catch (error) {
      if (damageOf(error) === undefined) throw error;
      return new Float64Array(0);
    }
  }

  holdsAny(seqs: readonly number[]): boolean {
    const list = JSON.stringify(seqs);
    const chosen = "seq in (select value from json_each(?))";
    const blocks = this.database.prepare(`select 1 from block where ${chosen} limit 1`);
    if (blocks.get(list) !== undefined) return true;
    const rows = this.database.prepare(`select ${asDoubles(["seq", "device"])} from tail where ${chosen}`);
    const spent = new SpentRows(spentIn(this.database));
    return rows.all(list).some(({ seq, device }) => !spent.has({ seq: Number(seq), device: Number(device) }));
  }

  waiting(): ReaderCalls["waiting"]["answer"] {
    return waitingIn(this.database);
  }

  states(devices: readonly DeviceKey[]): StatesAnswer {
    const table: number[] = [];
    const sink = new ByteSink(devices.length * 256);
    let answered = 0;
    for (; answered < devices.length && (answered === 0 || sink.length < statesBytes); answered++) {
      const device = devices[answered] ?? 0;
      const row = this.#stateRow(device);
      if (row === undefined) continue;
      table.push(device, Number(row.version), Number(row.as_of), sink.length);
      if (row.data instanceof Uint8Array) sink.append(row.data);
      table.push(sink.length);
    }
    return { answered, table: Float64Array.from(table), bytes: sink.cut() };
  }

  #stateRow(device: DeviceKey) {
    try {
      const row = this.#state.get(device);
      if (row !== undefined && isRowWhole("device_state", { ...row, device }) === false)
        throw new RecordsDamaged(noMatch);
      return row;
    } catch (error) {
      const problem = damageOf(error);
      throw problem === undefined ? error : new EngineError(stateDamaged(device, problem));
    }
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

  /** The records of a row of the tail. Undefined if the row is gone, damaged or unreadable. */
  #dataOf(seq: number): Uint8Array | undefined {
    try {
      const row = this.#row.get(seq);
      if (!(row?.data instanceof Uint8Array) || isRowWhole("tail", row) === false) return undefined;
      return unpackRecords(row.data);
    } catch (error) {
      if (damageOf(error) === undefined) throw error;
      return undefined;
    }
  }
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
    blockCounts: () => {
      const answer = reader().blockCounts();
      return { answer, transfer: [answer.buffer] };
    },
    lastBlock: () => plain(reader().lastBlock()),
    verify: (table) => {
      const { database } = reader();
      return plain(withSmallCache(database, () => problemsOf(database, table)));
    },
    spent: () => plain(spentIn(reader().database)),
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
