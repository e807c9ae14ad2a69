import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DeviceKey } from "../../model/device.ts";
import type { ChunkHead, ChunkRow, ChunksFound } from "../locations/chunks.ts";
import { damaged, EngineError } from "../locations/failures.ts";
import { RecordsDamaged } from "../records/damage.ts";
import { recordBytes } from "../records/packed-rows.ts";
import { areNumbersWhole, isWhole } from "../records/row-sum.ts";
import { unpackStays } from "../records/spent.ts";
import { ChangedTotals } from "./changed-totals.ts";
import { damageOf } from "./engine-errors.ts";
import { asDoubles, summed, tailBytes } from "./row-sums.ts";

const tailHead = asDoubles(["seq", "first", "last", "count", "crc"]);
const blockHead = asDoubles([...summed.block.filter((column) => column !== "device"), "crc"]);

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
  readonly #blockData: StatementSync;
  readonly #spent: StatementSync;
  readonly #changes: ChangedTotals;

  constructor(database: DatabaseSync) {
    const arrays = { returnArrays: true };
    this.#database = database;
    this.#begin = database.prepare("begin");
    // Once a page could not be read, a commit fails, too, though nothing was written: it would take the place of the answer, or of the failure that names the device.
    this.#end = database.prepare("rollback");
    const chosen = "seq in (select value from json_each(?))";
    const tail = `select ${tailHead}, data from tail`;
    const blocks = `select ${blockHead}, data from block left join block_data using (seq)`;
    this.#tail = database.prepare(`${tail} where ${chosen}`, arrays);
    this.#tailRow = database.prepare(`${tail} where seq = ?`, arrays);
    this.#blocks = database.prepare(`${blocks} where ${chosen}`, arrays);
    this.#blockRow = database.prepare(`${blocks} where seq = ?`, arrays);
    this.#tailHeads = database.prepare(`select ${tailHead}, ${tailBytes} from tail where ${chosen}`, arrays);
    this.#blockHeads = database.prepare(`select ${blockHead} from block where ${chosen}`, arrays);
    this.#blockData = database.prepare("select data from block_data where seq = ?");
    this.#spent = database.prepare(`select ${asDoubles(["seq", "crc"])}, data from spent where device = ?`);
    this.#changes = new ChangedTotals(database);
  }

  /** Runs `read` in one transaction, so that chunks, shifts and patches are of one snapshot. */
  asOfNow<T>(read: () => T): T {
    this.#begin.run();
    try {
      return read();
    } finally {
      this.#changes.forget();
      // SQLite itself ends the transaction if the disk can't be read or memory runs out. Then that failure must be thrown, not one of `commit`.
      if (this.#database.isTransaction) this.#end.run();
    }
  }

  /** Continues inside `asOfNow` after a failure, which may have ended the transaction. */
  goOn(): void {
    if (this.#database.isTransaction) return;
    this.#changes.forget();
    this.#begin.run();
  }

  /** Finds chunks of a device. Returns undefined when one of them is not there, or is spent. */
  find(device: DeviceKey, seqs: readonly number[]): ChunksFound | undefined {
    const rows = this.#ofDevice(device, () =>
      seqs.length > fewRows ? this.#many(device, seqs) : this.#few(device, seqs),
    );
    if (rows.length !== seqs.length || this.#areSpent(device, rows)) return undefined;
    return this.#withOthers(device, rows, Number.MAX_SAFE_INTEGER);
  }

  /**
   * Whether some of these rows of the tail are in blocks by now. Somebody looked for them before that, and shifts and patches that concern them may be folded into the blocks and
   * deleted: from these rows, totals would be wrong.
   */
  #areSpent(device: DeviceKey, rows: readonly ChunkRow[]): boolean {
    if (rows.every(({ sealed }) => sealed)) return false;
    const entry = this.#entryOf(device);
    if (!(entry?.data instanceof Uint8Array)) return false;
    const { data } = entry;
    const [seq, sum] = [Number(entry.seq), Number(entry.crc)];
    if (isWhole(sum, [device, seq], data) !== true) return false;
    const stays = unpackStays(data);
    return rows.some((row) => !row.sealed && row.seq <= seq && !stays.includes(row.seq));
  }

  /** What is spent of a device. Undefined where that can't be read: the index was made without it, too. */
  #entryOf(device: DeviceKey) {
    try {
      return this.#spent.get(device);
    } catch (error) {
      if (damageOf(error) === undefined) throw error;
      return undefined;
    }
  }

  /** Runs `read`. An error about damage names the device. */
  #ofDevice<T>(device: DeviceKey, read: () => T): T {
    try {
      return read();
    } catch (error) {
      const problem = damageOf(error);
      if (problem === undefined) throw error;
      throw new EngineError(damaged(`positions of device ${device} can't be read: ${problem}`));
    }
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

  /** Like `find`, but without the bytes, and with patches only up to the row number `until`. */
  heads(device: DeviceKey, seqs: readonly number[], until: number): ChunksFound<ChunkHead> | undefined {
    const list = JSON.stringify(seqs);
    const rows: ChunkHead[] = [];
    for (const row of this.#tailHeads.all(list))
      if (Array.isArray(row)) rows.push(tailHeadOf(device, row, Number(row[5])));
    for (const row of this.#blockHeads.all(list)) if (Array.isArray(row)) rows.push(blockHeadOf(device, row));
    return rows.length === seqs.length ? this.#withOthers(device, rows, until) : undefined;
  }

  /** Reads a chunk with its bytes. */
  read(head: ChunkHead): ChunkRow {
    const { device, seq, sealed } = head;
    const row = sealed ? undefined : tailRowOf(device, this.#tailRow.get(seq));
    if (row !== undefined) return row;
    const data = sealed && this.#blockData.get(seq)?.data;
    if (data instanceof Uint8Array) return { ...head, data };
    throw new RecordsDamaged("its bytes are missing");
  }

  #withOthers<Row extends ChunkHead>(device: DeviceKey, rows: Row[], until: number): ChunksFound<Row> {
    rows.sort((one, other) => one.first - other.first || one.seq - other.seq);
    return { rows, ...this.#changes.of(device, rows, until) };
  }
}

const noBytes = new Uint8Array(0);

function tailRowOf(device: DeviceKey, row: unknown): ChunkRow | undefined {
  if (!Array.isArray(row)) return undefined;
  const data: unknown = row[5];
  // A row without bytes counts as damaged, not as gone.
  if (!(data instanceof Uint8Array)) return { ...tailHeadOf(device, row, 0), data: noBytes, whole: false };
  const head = tailHeadOf(device, row, recordBytes(data));
  const { seq, first, last, count } = head;
  return { ...head, data, whole: isWhole(row[4], [seq, device, first, last, count], data) };
}

function blockRowOf(device: DeviceKey, row: unknown): ChunkRow | undefined {
  if (!Array.isArray(row)) return undefined;
  const data: unknown = row[12];
  // A block whose bytes are missing counts as damaged, not as gone.
  return { ...blockHeadOf(device, row), data: data instanceof Uint8Array ? data : noBytes };
}

function tailHeadOf(device: DeviceKey, row: readonly unknown[], bytes: number): ChunkHead {
  const [seq = 0, first = 0, last = 0, count = 0] = row.slice(0, 4).map(Number);
  return { device, seq, first, last, count, bytes, sealed: false, asOf: seq };
}

function blockHeadOf(device: DeviceKey, row: readonly unknown[]): ChunkHead {
  const numbers = row.slice(0, 11).map(Number);
  const [seq = 0, first = 0, last = 0, count = 0, bytes = 0, asOf = 0] = numbers;
  const [odometerMm = 0, one = 0, two = 0, three = 0, four = 0] = numbers.slice(6);
  const whole = areNumbersWhole(row[11], [seq, device, ...numbers.slice(1)]);
  const head = { device, seq, first, last, count, bytes, sealed: true, asOf, whole };
  if (odometerMm === 0 && one === 0 && two === 0 && three === 0 && four === 0) return head;
  return { ...head, sums: { odometerMm, sensorMs: [one, two, three, four] } };
}
