import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DeviceKey } from "../../model/device.ts";
import type { ChunkHead, ChunkRow, ChunksFound } from "../locations/chunks.ts";
import { damaged, EngineError } from "../locations/failures.ts";
import { RecordsDamaged, recordsDamage } from "../records/damage.ts";
import { Patches, type PatchRow } from "../records/patches.ts";
import { Shifts } from "../records/shifts.ts";
import { corrupt, failureOf } from "./engine-errors.ts";

/** Reads columns as doubles. Damage may leave a whole number that is too large for JavaScript. Read as an integer, it would make the whole query fail. */
export function asDoubles(columns: readonly string[]): string {
  return columns.map((column) => `cast(${column} as real) as ${column}`).join(", ");
}

const ofTail = asDoubles(["first", "last", "count"]);
const sums = ["odometer_mm", "sensor1_ms", "sensor2_ms", "sensor3_ms", "sensor4_ms"];
const blockHead = `seq, ${asDoubles(["first", "last", "count", "bytes", "as_of", ...sums])}`;

/** The most rows that are found one by one, which takes 4 µs a row. One statement for all rows takes 20 µs, and 1.5 µs a row. */
const fewRows = 8;

/** Reads chunks by their row numbers, from the tail and from blocks. */
export class ChunkRows {
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #tail: StatementSync;
  readonly #tailRow: StatementSync;
  readonly #blockRow: StatementSync;
  readonly #tailHeads: StatementSync;
  readonly #blocks: StatementSync;
  readonly #blockHeads: StatementSync;
  readonly #tailData: StatementSync;
  readonly #blockData: StatementSync;
  readonly #shiftsOf: StatementSync;
  readonly #patchesOf: StatementSync;

  constructor(database: DatabaseSync) {
    const arrays = { returnArrays: true };
    this.#database = database;
    this.#begin = database.prepare("begin");
    this.#end = database.prepare("commit");
    const chosen = "seq in (select value from json_each(?))";
    const tail = `select seq, ${ofTail}, data from tail`;
    const blocks = `select ${blockHead}, data from block left join block_data using (seq)`;
    this.#tail = database.prepare(`${tail} where ${chosen}`, arrays);
    this.#tailRow = database.prepare(`${tail} where seq = ?`, arrays);
    this.#blocks = database.prepare(`${blocks} where ${chosen}`, arrays);
    this.#blockRow = database.prepare(`${blocks} where seq = ?`, arrays);
    this.#tailHeads = database.prepare(`select seq, ${ofTail}, length(data) from tail where ${chosen}`, arrays);
    this.#blockHeads = database.prepare(`select ${blockHead} from block where ${chosen}`, arrays);
    this.#tailData = database.prepare("select data from tail where seq = ?");
    this.#blockData = database.prepare("select data from block_data where seq = ?");
    this.#shiftsOf = database.prepare("select data from shifts where device = ?");
    this.#patchesOf = database.prepare(
      "select seq, data from patch where device = ? and seq <= ? and last >= ? and first <= ? order by key",
    );
  }

  /** Runs `read` in one transaction, so that chunks and what waits beside them are of one moment: a commit or a swap may change both. */
  asOfNow<T>(read: () => T): T {
    this.#begin.run();
    try {
      return read();
    } finally {
      // SQLite ends the transaction by itself where the disk can't be read or memory runs out. That failure is the one to tell.
      if (this.#database.isTransaction) this.#end.run();
    }
  }

  /** Continues inside `asOfNow` after a failure, which may have ended the transaction. */
  goOn(): void {
    if (!this.#database.isTransaction) this.#begin.run();
  }

  /** Finds chunks of a device. Returns undefined when one of them is not there. */
  find(device: DeviceKey, seqs: readonly number[]): ChunksFound | undefined {
    const rows = seqs.length > fewRows ? this.#many(device, seqs) : this.#few(device, seqs);
    return rows.length === seqs.length ? this.#withOthers(device, rows, Number.MAX_SAFE_INTEGER) : undefined;
  }

  #few(device: DeviceKey, seqs: readonly number[]): ChunkRow[] {
    const rows: ChunkRow[] = [];
    for (const seq of seqs) {
      const row = tailRowOf(device, this.#tailRow.get(seq)) ?? blockRowOf(device, this.#blockRow.get(seq));
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  #many(device: DeviceKey, seqs: readonly number[]): ChunkRow[] {
    const list = JSON.stringify(seqs);
    const rows: ChunkRow[] = [];
    for (const found of this.#tail.all(list)) {
      const row = tailRowOf(device, found);
      if (row !== undefined) rows.push(row);
    }
    if (rows.length === seqs.length) return rows;
    for (const found of this.#blocks.all(list)) {
      const row = blockRowOf(device, found);
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  /** As `find`, without the bytes, and with patches only up to the row number `until`. */
  heads(device: DeviceKey, seqs: readonly number[], until: number): ChunksFound<ChunkHead> | undefined {
    const list = JSON.stringify(seqs);
    const rows: ChunkHead[] = [];
    for (const row of this.#tailHeads.all(list))
      if (Array.isArray(row)) rows.push(tailHead(device, row, Number(row[4])));
    for (const row of this.#blockHeads.all(list)) if (Array.isArray(row)) rows.push(blockHeadOf(device, row));
    return rows.length === seqs.length ? this.#withOthers(device, rows, until) : undefined;
  }

  /** Reads the bytes of a chunk. */
  data({ seq, sealed }: ChunkHead): Uint8Array {
    const data = (sealed ? this.#blockData : this.#tailData).get(seq)?.data;
    if (data instanceof Uint8Array) return data;
    throw new RecordsDamaged("its bytes are missing");
  }

  #withOthers<Row extends ChunkHead>(device: DeviceKey, rows: Row[], until: number): ChunksFound<Row> {
    rows.sort((one, other) => one.first - other.first || one.seq - other.seq);
    try {
      return { rows, shifts: this.#shifts(device), patches: this.#patches(device, rows, until) };
    } catch (error) {
      const problem = damageOf(error);
      if (problem === undefined) throw error;
      throw new EngineError(
        damaged(`what late reports changed in the totals of device ${device} is damaged: ${problem}`),
      );
    }
  }

  #shifts(device: DeviceKey): Shifts {
    const data = this.#shiftsOf.get(device)?.data;
    return new Shifts(data instanceof Uint8Array ? data : undefined);
  }

  /** Reads the patches that may concern these chunks. `rows`: in the order of their beginnings. */
  #patches(device: DeviceKey, rows: readonly ChunkHead[], until: number): Patches {
    let last = Number.NEGATIVE_INFINITY;
    for (const row of rows) if (row.last > last) last = row.last;
    const patches: PatchRow[] = [];
    for (const { seq, data } of this.#patchesOf.all(device, until, rows[0]?.first ?? 0, last))
      if (data instanceof Uint8Array) patches.push({ seq: Number(seq), data });
    return patches.length === 0 ? noPatches : new Patches(patches);
  }
}

const noPatches = new Patches([]);
const noBytes = new Uint8Array(0);

function tailRowOf(device: DeviceKey, row: unknown): ChunkRow | undefined {
  const data: unknown = Array.isArray(row) ? row[4] : undefined;
  if (!Array.isArray(row) || !(data instanceof Uint8Array)) return undefined;
  return { ...tailHead(device, row, data.byteLength), data };
}

function blockRowOf(device: DeviceKey, row: unknown): ChunkRow | undefined {
  if (!Array.isArray(row)) return undefined;
  const data: unknown = row[11];
  // A block whose bytes are missing is damaged, but it is there.
  return { ...blockHeadOf(device, row), data: data instanceof Uint8Array ? data : noBytes };
}

function tailHead(device: DeviceKey, row: readonly unknown[], bytes: number): ChunkHead {
  const [seq = 0, first = 0, last = 0, count = 0] = row.slice(0, 4).map(Number);
  return { device, seq, first, last, count, bytes, sealed: false, asOf: seq };
}

function blockHeadOf(device: DeviceKey, row: readonly unknown[]): ChunkHead {
  const [
    seq = 0,
    first = 0,
    last = 0,
    count = 0,
    bytes = 0,
    asOf = 0,
    odometerMm = 0,
    one = 0,
    two = 0,
    three = 0,
    four = 0,
  ] = row.slice(0, 11).map(Number);
  const head = { device, seq, first, last, count, bytes, sealed: true, asOf };
  if (odometerMm === 0 && one === 0 && two === 0 && three === 0 && four === 0) return head;
  return { ...head, sums: { odometerMm, sensorMs: [one, two, three, four] } };
}

/** Returns what is wrong with a chunk's bytes, or with their page, or undefined when the error has another cause. */
export function damageOf(error: unknown): string | undefined {
  const isPage = error instanceof Error && "errcode" in error && Number(error.errcode) % 256 === corrupt;
  return isPage ? "a page can't be read" : recordsDamage(error);
}

/** Whether reading failed because something is damaged, or because a part of the disk can't be read. */
export function isDamage(error: unknown): boolean {
  return failureOf(error).trouble === "damaged" || damageOf(error) !== undefined;
}
