import type { DeviceKey } from "../../model/device.ts";
import { BlockCache } from "../locations/block-cache.ts";
import { type ReaderCalls, type RowsAnswer, type StatesAnswer, scanColumns } from "../locations/calls.ts";
import { unpackRequests } from "../locations/context-requests.ts";
import { EngineError, noMatch, stateDamaged } from "../locations/failures.ts";
import { asOfQuery } from "../locations/stored-states.ts";
import { isWhole } from "../records/row-sum.ts";
import { ByteSink } from "../records/sink.ts";
import { cacheBytes, plain, serve } from "../workers/serve.ts";
import { tailRowOf } from "./chunk-rows.ts";
import { readingConnection } from "./connection.ts";
import type { PostgresReaderCalls } from "./messages.ts";
import { StoredChunks } from "./stored-chunks.ts";
import { callFailure, isDamage } from "./thread-errors.ts";
import type { Statement } from "./wire/messages.ts";
import { type Result, step } from "./wire/session.ts";
import { int, ints, type Value } from "./wire/values.ts";

/** Rows of one answer of a scan: a few megabytes of numbers at most. */
const scanRows = 20_000;
/** Bytes of states, or of rows of the tail, in one answer. With many rules a state has a hundred kilobytes. */
const mostBytes = 4 * 1024 * 1024;
/** Rows of the tail that one query reads at most: an answer may have room for a few long ones only. */
const rowsAtOnce = 256;
/** States that one query reads at most. */
const statesAtOnce = 256;

const select = {
  scan: {
    name: "scan",
    sql: `select seq, device, first, last, count, octet_length(data)::bigint, seq from tail where seq >= $1::bigint order by seq limit ${scanRows}`,
  },
  scanBlocks: {
    name: "scan_blocks",
    sql: `select seq, device, first, last, count, bytes, as_of from block where seq >= $1::bigint order by seq limit ${scanRows}`,
  },
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
  states: {
    name: "states",
    sql: "select device, version, as_of, crc, data from device_state where device = any ($1::bigint[])",
  },
  rows: {
    name: "rows",
    sql: "select seq, device, first, last, count, crc, data from tail where seq = any ($1::bigint[])",
  },
  check: { name: "check", sql: "select 1::bigint from tail order by seq desc limit 1" },
} as const satisfies Readonly<Record<string, Statement>>;

const noBytes = new Uint8Array(0);

class Reader {
  readonly connection = readingConnection("reader");
  readonly chunks = new StoredChunks(this.connection, new BlockCache(cacheBytes()));

  async ask(statement: Statement, ...values: Value[]): Promise<Result["rows"]> {
    const session = await this.connection.session();
    return (await session.run(step(statement, ...values)))[0]?.rows ?? [];
  }

  async scan(statement: Statement, from: number): Promise<Float64Array<ArrayBuffer>> {
    const numbers = new Float64Array(scanRows * scanColumns);
    let at = 0;
    // Infinity is behind every row: see `placeBehind`.
    const rows = Number.isFinite(from) ? await this.ask(statement, int(from)) : [];
    for (const row of rows) for (let column = 0; column < scanColumns; column++) numbers[at++] = row.int();
    return numbers.slice(0, at);
  }

  async holdsAny(seqs: readonly number[]): Promise<boolean> {
    return (await this.ask(select.holdsAny, ints(seqs))).length > 0;
  }

  async waiting(): Promise<ReaderCalls["waiting"]["answer"]> {
    const session = await this.connection.session();
    const results = await session.run(step(select.shifts), step(select.patches));
    const [shifts = [], patches = []] = results.map(({ rows }) =>
      rows.map((row) => ({ device: row.int(), seq: row.int(), since: row.int(), count: row.int() })),
    );
    return { shifts, patches };
  }

  async statesAsOf(): Promise<ReaderCalls["statesAsOf"]["answer"]> {
    return (await this.ask(select.asOf)).map((row) => ({ value: row.text() }));
  }

  async states(devices: readonly DeviceKey[]): Promise<StatesAnswer> {
    const table: number[] = [];
    const sink = new ByteSink(Math.min(devices.length, statesAtOnce) * 256);
    let answered = 0;
    while (answered < devices.length && (answered === 0 || sink.length < mostBytes)) {
      const some = devices.slice(answered, answered + statesAtOnce);
      for (const row of await this.ask(select.states, ints(some))) {
        const [device, version, asOf] = [row.int(), row.int(), row.int()];
        const crc = row.maybeInt();
        const data = row.bytes() ?? noBytes;
        if (isWhole(crc, [device, version, asOf], data) === false) throw new EngineError(stateDamaged(device, noMatch));
        table.push(device, version, asOf, sink.length);
        sink.append(data);
        table.push(sink.length);
      }
      answered += some.length;
    }
    return { answered, table: Float64Array.from(table), bytes: sink.cut() };
  }

  async rows(seqs: readonly number[]): Promise<RowsAnswer> {
    const ends: number[] = [];
    const sink = new ByteSink(64 * 1024);
    while (ends.length < seqs.length && (ends.length === 0 || sink.length < mostBytes)) {
      const some = seqs.slice(ends.length, ends.length + rowsAtOnce);
      const data = await this.#dataOf(some);
      for (const seq of some) {
        const own = data.get(seq);
        if (own !== undefined) sink.append(own);
        ends.push(sink.length);
      }
    }
    return { ends: Float64Array.from(ends), bytes: sink.cut() };
  }

  /** The bytes of rows of the tail, without the rows that are gone, damaged or unreadable. */
  async #dataOf(seqs: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>> {
    try {
      const found = new Map<number, Uint8Array>();
      for (const row of await this.ask(select.rows, ints(seqs))) {
        const [seq, device] = [row.int(), row.int()];
        const chunk = tailRowOf(seq, row)(device);
        if (chunk.whole !== false) found.set(seq, chunk.data);
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

const reader = new Reader();

serve<PostgresReaderCalls>(
  {
    scan: async (from) => {
      const answer = await reader.scan(select.scan, from);
      return { answer, transfer: [answer.buffer] };
    },
    scanBlocks: async (from) => {
      const answer = await reader.scan(select.scanBlocks, from);
      return { answer, transfer: [answer.buffer] };
    },
    holdsAny: async (seqs) => plain(await reader.holdsAny(seqs)),
    waiting: async () => plain(await reader.waiting()),
    statesAsOf: async () => plain(await reader.statesAsOf()),
    states: async (devices) => {
      const answer = await reader.states(devices);
      return { answer, transfer: [answer.table.buffer, answer.bytes.buffer] };
    },
    rows: async (seqs) => {
      const answer = await reader.rows(seqs);
      return { answer, transfer: [answer.ends.buffer, answer.bytes.buffer] };
    },
    history: async (request) => {
      const answer = await reader.chunks.history(request);
      return { answer, transfer: answer?.map(({ json }) => json.buffer) ?? [] };
    },
    contexts: async (requests) => {
      const answer = await reader.chunks.contexts(unpackRequests(requests));
      return { answer, transfer: [answer.table.buffer, answer.bytes.buffer] };
    },
    moment: async (request) => {
      const answer = await reader.chunks.moment(request);
      return { answer, transfer: answer === undefined ? [] : [answer.hashes.buffer, answer.newest.buffer] };
    },
    check: async () => {
      await reader.ask(select.check);
      return plain(null);
    },
    close: async () => {
      await reader.connection.close();
      return plain(null);
    },
  },
  callFailure,
);
