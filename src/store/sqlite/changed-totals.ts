import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DeviceKey } from "../../model/device.ts";
import type { ChunkHead } from "../locations/chunks.ts";
import { changesDamaged, noMatch } from "../locations/failures.ts";
import { RecordsDamaged } from "../records/damage.ts";
import { Patches, type PatchRow } from "../records/patches.ts";
import { fitsNumbers } from "../records/row-sum.ts";
import type { Shifts } from "../records/shifts.ts";
import { damageOf } from "./engine-errors.ts";
import { asDoubles, doubles, isRowWhole, summed } from "./row-sums.ts";
import { ShiftRows } from "./shift-rows.ts";

/** What late reports changed in the totals of some chunks' records, and is not in the chunks yet. */
interface Changes {
  readonly shifts: Shifts;
  readonly patches: Patches;
}

/** All that waits of one device. `patches`: numbers of the rows, `patchNumbers` for each, in the order in which they were written. */
interface OfDevice {
  readonly device: DeviceKey;
  readonly shifts: Shifts;
  readonly patches: Float64Array;
  /** Rows of patches that were read, by key, and their bytes. */
  readonly read: Map<number, PatchRow>;
  bytes: number;
}

/** Bytes of the rows of patches that are kept until the transaction ends: those of thousands of late records. */
const mostBytes = 4 * 1024 * 1024;
/** Numbers of a row of patches: key, row number, first, last. */
const patchNumbers = 4;
const noPatches = new Patches([]);

/**
 * Reads shifts and patches. Those of one device are kept until the transaction ends: a tracker's backlog in random order asks for dozens of places in its history in one transaction, and
 * hundreds of rows may wait.
 */
export class ChangedTotals {
  readonly #shifts: ShiftRows;
  readonly #heads: StatementSync;
  readonly #patch: StatementSync;
  #known: OfDevice | undefined;

  constructor(database: DatabaseSync) {
    this.#shifts = new ShiftRows(database);
    const numbers = summed.patch.filter((column) => column !== "device");
    // All patches of the device, and not only those in range: the range of a damaged one may be wrong.
    this.#heads = database.prepare(
      `select cast(key as real), ${doubles([...numbers, "crc"])} from patch where device = ? order by key`,
      { returnArrays: true },
    );
    this.#patch = database.prepare(`select ${asDoubles([...numbers, "crc"])}, data from patch where key = ?`);
  }

  /** Forgets what was read. Call it where a transaction ends. */
  forget(): void {
    this.#known = undefined;
  }

  /** What concerns these chunks. `rows`: in the order of their beginnings. `until`: patches with a higher row number are left out. */
  of(device: DeviceKey, rows: readonly ChunkHead[], until: number): Changes {
    try {
      this.#known = this.#known?.device === device ? this.#known : this.#read(device);
      return { shifts: this.#known.shifts, patches: this.#patches(this.#known, rows, until) };
    } catch (error) {
      const problem = damageOf(error);
      throw problem === undefined ? error : changesDamaged(device, problem);
    }
  }

  #read(device: DeviceKey): OfDevice {
    const rows = this.#heads.all(device);
    const patches = new Float64Array(rows.length * patchNumbers);
    for (const [index, row] of rows.entries()) {
      const [key = 0, seq = 0, first = 0, last = 0, count = 0] = numbersOf(row);
      const sum = Array.isArray(row) ? row[5] : undefined;
      // Older versions wrote no checksum.
      if (sum !== null && !fitsNumbers(Number(sum), [device, seq, first, last, count]))
        throw new RecordsDamaged(noMatch);
      patches.set([key, seq, first, last], index * patchNumbers);
    }
    return { device, shifts: this.#shifts.read(device).shifts, patches, read: new Map(), bytes: 0 };
  }

  #patches(known: OfDevice, rows: readonly ChunkHead[], until: number): Patches {
    const { patches } = known;
    if (patches.length === 0) return noPatches;
    const first = rows[0]?.first ?? 0;
    let last = Number.NEGATIVE_INFINITY;
    for (const row of rows) if (row.last > last) last = row.last;
    const found: PatchRow[] = [];
    for (let at = 0; at < patches.length; at += patchNumbers) {
      const seq = patches[at + 1] ?? 0;
      if (seq > until || (patches[at + 2] ?? 0) > last || (patches[at + 3] ?? 0) < first) continue;
      found.push(this.#patchRow(known, patches[at] ?? 0, seq));
    }
    return found.length === 0 ? noPatches : new Patches(found);
  }

  #patchRow(known: OfDevice, key: number, seq: number): PatchRow {
    const read = known.read.get(key);
    if (read !== undefined) return read;
    const row = this.#patch.get(key);
    if (!(row?.data instanceof Uint8Array) || isRowWhole("patch", { ...row, device: known.device }) === false)
      throw new RecordsDamaged(noMatch);
    const { data } = row;
    if (known.bytes + data.byteLength <= mostBytes) {
      known.read.set(key, { seq, data });
      known.bytes += data.byteLength;
    }
    return { seq, data };
  }
}

function numbersOf(row: unknown): readonly number[] {
  return Array.isArray(row) ? row.map(Number) : [];
}
