import type { DeviceKey } from "../../model/device.ts";
import { type ReaderCalls, type RowsAnswer, type StatesAnswer, scanColumns } from "../locations/calls.ts";
import { EngineError, noMatch, stateDamaged } from "../locations/failures.ts";
import { asOfQuery } from "../locations/stored-states.ts";
import { unpackRecords } from "../records/packed-rows.ts";
import { isWhole } from "../records/row-sum.ts";
import { ByteSink } from "../records/sink.ts";
import { tailBytes, tailRowOf } from "./chunk-rows.ts";
import type { Connection } from "./connection.ts";
import { endOfPortion } from "./portions.ts";
import { isDamage } from "./thread-errors.ts";
import type { Statement } from "./wire/messages.ts";
import { type Result, step } from "./wire/session.ts";
import { int, ints, type Value } from "./wire/values.ts";

/** Rows of one answer of a scan. */
const scanRows = 2000;
/** So few rows are read without asking for their sizes first. */
const few = 16;

const select = {
  scan: {
    name: "scan",
    sql: `select seq, device, first, last, count, ${tailBytes}, seq from tail where seq >= $1::bigint order by seq limit ${scanRows}`,
  },
  scanBlocks: {
    name: "scan_blocks",
    sql: `select seq, device, first, last, count, bytes, as_of from block where seq >= $1::bigint order by seq limit ${scanRows}`,
  },
  blockCounts: { name: "block_counts", sql: "select device, count(*) from block group by device" },
  lastBlock: { name: "last_block", sql: "select coalesce(max(seq), 0) from block" },
  holdsAny: {
    name: "holds_any",
    sql: `select 1::bigint from tail where seq = any ($1::bigint[]) union all select 1 from block where seq = any ($1::bigint[]) limit 1`,
  },
  patches: {
    name: "waiting_patches",
    sql: "select device, max(seq), min(first), sum(count)::bigint from patch group by device",
  },
  shifts: { name: "waiting_shifts", sql: "select device, seq, since, count from shifts" },
  asOf: { name: "as_of", sql: asOfQuery },
  sizesOfStates: {
    name: "sizes_of_states",
    sql: "select device, octet_length(data)::bigint from device_state where device = any ($1::bigint[])",
  },
  states: {
    name: "states",
    sql: "select device, version, as_of, crc, data from device_state where device = any ($1::bigint[])",
  },
  sizesOfRows: {
    name: "sizes_of_rows",
    sql: `select seq, ${tailBytes} from tail where seq = any ($1::bigint[])`,
  },
  rows: {
    name: "rows",
    sql: "select seq, device, first, last, count, crc, data from tail where seq = any ($1::bigint[])",
  },
  check: { name: "check", sql: "select 1::bigint from tail order by seq desc limit 1" },
} as const satisfies Readonly<Record<string, Statement>>;

const noBytes = new Uint8Array(0);

/** Reads rows of tables as they are: those of which the index and the states are made. */
export class StoredRows {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async #ask(statement: Statement, ...values: Value[]): Promise<Result["rows"]> {
    const session = await this.#connection.session();
    return (await session.run(step(statement, ...values)))[0]?.rows ?? [];
  }

  /** Reads something. */
  async check(): Promise<void> {
    await this.#ask(select.check);
  }

  /** See `ReaderCalls.scan`. */
  async scan(what: "tail" | "blocks", from: number): Promise<Float64Array<ArrayBuffer>> {
    const statement = what === "tail" ? select.scan : select.scanBlocks;
    const numbers = new Float64Array(scanRows * scanColumns);
    let at = 0;
    // Infinity is behind every row: see `placeBehind`.
    const rows = Number.isFinite(from) ? await this.#ask(statement, int(from)) : [];
    for (const row of rows) for (let column = 0; column < scanColumns; column++) numbers[at++] = row.int();
    return numbers.slice(0, at);
  }

  /** See `ReaderCalls.lastBlock`. */
  async lastBlock(): Promise<number> {
    return (await this.#ask(select.lastBlock))[0]?.int() ?? 0;
  }

  /** See `ReaderCalls.blockCounts`. */
  async blockCounts(): Promise<Float64Array<ArrayBuffer>> {
    try {
      return Float64Array.from((await this.#ask(select.blockCounts)).flatMap((row) => [row.int(), row.int()]));
    } catch (error) {
      if (!isDamage(error)) throw error;
      return new Float64Array(0);
    }
  }

  /** See `ReaderCalls.holdsAny`. */
  async holdsAny(seqs: readonly number[]): Promise<boolean> {
    return (await this.#ask(select.holdsAny, ints(seqs))).length > 0;
  }

  /** See `ReaderCalls.waiting`. */
  async waiting(): Promise<ReaderCalls["waiting"]["answer"]> {
    const session = await this.#connection.session();
    const results = await session.run(step(select.shifts), step(select.patches));
    const [shifts = [], patches = []] = results.map(({ rows }) =>
      rows.map((row) => ({ device: row.int(), seq: row.int(), since: row.int(), count: row.int() })),
    );
    return { shifts, patches };
  }

  /** See `ReaderCalls.statesAsOf`. */
  async statesAsOf(): Promise<ReaderCalls["statesAsOf"]["answer"]> {
    return (await this.#ask(select.asOf)).map((row) => ({ value: row.text() }));
  }

  /** See `ReaderCalls.states`. With many rules a state has a hundred kilobytes. */
  async states(devices: readonly DeviceKey[]): Promise<StatesAnswer> {
    const some = await this.#portion(select.sizesOfStates, devices);
    const table: number[] = [];
    const sink = new ByteSink(some.length * 256);
    for (const row of await this.#ask(select.states, ints(some))) {
      const [device, version, asOf] = [row.int(), row.int(), row.int()];
      const crc = row.maybeInt();
      const data = row.bytes() ?? noBytes;
      if (isWhole(crc, [device, version, asOf], data) === false) throw new EngineError(stateDamaged(device, noMatch));
      table.push(device, version, asOf, sink.length);
      sink.append(data);
      table.push(sink.length);
    }
    return { answered: some.length, table: Float64Array.from(table), bytes: sink.cut() };
  }

  /** See `ReaderCalls.rows`. */
  async rows(seqs: readonly number[]): Promise<RowsAnswer> {
    const some = await this.#portion(select.sizesOfRows, seqs);
    const data = await this.#dataOf(some);
    const ends: number[] = [];
    const sink = new ByteSink(64 * 1024);
    for (const seq of some) {
      const own = data.get(seq);
      if (own !== undefined) sink.append(own);
      ends.push(sink.length);
    }
    return { ends: Float64Array.from(ends), bytes: sink.cut() };
  }

  /** The first of some rows: as many as one answer may have. If a damaged page hides their sizes, few are read at a time. */
  async #portion(sizes: Statement, keys: readonly number[]): Promise<readonly number[]> {
    if (keys.length <= few) return keys;
    try {
      const found = new Map((await this.#ask(sizes, ints(keys))).map((row) => [row.int(), row.int()]));
      return keys.slice(0, endOfPortion(keys, 0, found));
    } catch (error) {
      if (!isDamage(error)) throw error;
      return keys.slice(0, few);
    }
  }

  /** The records of rows of the tail, without the rows that are gone, damaged or unreadable. */
  async #dataOf(seqs: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>> {
    try {
      const found = new Map<number, Uint8Array>();
      for (const row of await this.#ask(select.rows, ints(seqs))) {
        const [seq, device] = [row.int(), row.int()];
        const chunk = tailRowOf(seq, row)(device);
        if (chunk.whole !== false) found.set(seq, unpackRecords(chunk.data));
      }
      return found;
    } catch (error) {
      if (!isDamage(error)) throw error;
      if (seqs.length <= 1) return new Map();
      const half = seqs.length >> 1;
      const first = await this.#dataOf(seqs.slice(0, half));
      return new Map([...first, ...(await this.#dataOf(seqs.slice(half)))]);
    }
  }
}
