import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DeviceKey } from "../../model/device.ts";
import {
  type DropAnswer,
  type DropRequest,
  liftNumbers,
  type SwapRequest,
  type WaitingLeft,
} from "../locations/calls.ts";
import type { Trim } from "../locations/spent-tail.ts";
import { rowSum } from "../records/row-sum.ts";
import { packStays } from "../records/spent.ts";
import { RowCheck } from "./row-check.ts";
import { doubles, summed } from "./row-sums.ts";
import { ShiftRows } from "./shift-rows.ts";
import { inTransaction } from "./transaction.ts";

/** The writer's part of sealing and of retention: replaces chunks by blocks, or deletes them, each time in one transaction. */
export class Swap {
  readonly #database: DatabaseSync;
  readonly #removals: readonly StatementSync[];
  readonly #insert: StatementSync;
  readonly #insertData: StatementSync;
  readonly #lift: StatementSync;
  readonly #shifts: ShiftRows;
  readonly #unmark: StatementSync;
  readonly #keep: StatementSync;
  readonly #forget: StatementSync;
  readonly #forgetPatches: StatementSync;
  readonly #patchesLeft: StatementSync;
  readonly #deleted: StatementSync;
  readonly #inTail: StatementSync;
  readonly #spend: StatementSync;
  readonly #rowsOf: StatementSync;
  readonly #check: RowCheck;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#removals = ["tail", "block", "block_data"].map((table) =>
      database.prepare(`delete from ${table} where seq = ?`),
    );
    this.#insert = database.prepare(
      "insert into block (seq, device, first, last, count, bytes, as_of, crc) values (?, ?, ?, ?, ?, ?, ?, ?)",
    );
    this.#insertData = database.prepare("insert into block_data (seq, data) values (?, ?)");
    this.#lift = database.prepare(
      `update block set as_of = ?1, odometer_mm = odometer_mm + ?2, sensor1_ms = sensor1_ms + ?3, sensor2_ms = sensor2_ms + ?4,
       sensor3_ms = sensor3_ms + ?5, sensor4_ms = sensor4_ms + ?6, crc = new_crc(cast(crc as real), ${doubles(summed.block)},
       ${doubles(summed.block.slice(0, 6))}, ?1, odometer_mm + ?2, sensor1_ms + ?3, sensor2_ms + ?4, sensor3_ms + ?5, sensor4_ms + ?6, null) where seq = ?7 and as_of < ?1`,
    );
    this.#shifts = new ShiftRows(database);
    this.#unmark = database.prepare("update device_state set shifted = 0 where device = ?");
    this.#keep = database.prepare("update shifts set since = ?, count = ?, data = ?, crc = ? where device = ?");
    this.#forget = database.prepare("delete from shifts where device = ?");
    this.#forgetPatches = database.prepare("delete from patch where device = ? and seq <= ?");
    this.#patchesLeft = database.prepare(
      "select coalesce(sum(count), 0) as count, min(first) as since from patch where device = ?",
    );
    this.#deleted = database.prepare("update device_state set deleted = deleted + ? where device = ?");
    this.#inTail = database.prepare("select 1 from tail where seq = ?");
    this.#spend = database.prepare(
      `insert into spent (device, seq, data, crc) values (?, ?, ?, ?)
       on conflict (device) do update set seq = excluded.seq, data = excluded.data, crc = excluded.crc`,
    );
    this.#rowsOf = database.prepare("select count(*) as rows from tail where seq between ? and ?");
    this.#check = new RowCheck(database);
  }

  /** Deletes a chunk: a row of the tail, or a block. Returns false when there is none. */
  remove(seq: number): boolean {
    let changes = 0;
    for (const removal of this.#removals) changes += Number(removal.run(seq).changes);
    return changes > 0;
  }

  /** Replaces chunks by blocks. Does nothing and returns false when one of the chunks is gone. */
  swap({ device, seqs, seq, blocks, lifts, until, spent }: SwapRequest): boolean {
    return this.#transaction(() => {
      for (const old of seqs) {
        const isLeft = spent !== undefined && this.#inTail.get(old) !== undefined;
        if (!isLeft && !this.remove(old)) return false;
      }
      if (spent !== undefined) {
        const stays = packStays(spent.stays);
        this.#spend.run(device, spent.seq, stays, rowSum([device, spent.seq], stays));
      }
      blocks.forEach(({ first, last, count, bytes, data }, index) => {
        const numbers = [seq + index, device, first, last, count, bytes, until];
        this.#insert.run(...numbers, rowSum([...numbers, 0, 0, 0, 0, 0], data));
        this.#insertData.run(seq + index, data);
      });
      for (let at = 0; at < lifts.length; at += liftNumbers) {
        const [block = 0, ...sums] = lifts.subarray(at, at + liftNumbers);
        this.#lift.run(until, ...sums, block);
      }
      return true;
    });
  }

  /** Deletes spent rows of a range, unless too many of the range's rows are in use. Returns how many are in use. */
  trim({ from, to, seqs, mostInUse }: Trim): number {
    const inUse = Number(this.#rowsOf.get(from, to)?.rows) - seqs.length;
    const [removal] = this.#removals;
    if (inUse <= mostInUse)
      this.#transaction(() => {
        for (const seq of seqs) removal?.run(seq);
        return true;
      });
    return inUse;
  }

  /** Deletes old chunks of a device and counts their records. Deletes none if one is gone, or if the times of one can't be trusted. */
  drop({ device, seqs, count, stays }: DropRequest): DropAnswer {
    const damaged: number[] = [];
    const done = this.#transaction(() => {
      for (const seq of [...seqs, stays]) {
        const isWhole = this.#check.isWhole(device, seq);
        if (isWhole === undefined) return false;
        if (!isWhole) damaged.push(seq);
      }
      if (damaged.length > 0) return false;
      for (const seq of seqs) this.remove(seq);
      this.#deleted.run(count, device);
      return true;
    });
    return { done, damaged };
  }

  /** Deletes a device's shifts and patches up to a row number. All chunks that they concern include them by now. Returns what is left. */
  forget(device: DeviceKey, seq: number): WaitingLeft {
    let shifts = { count: 0, since: Number.POSITIVE_INFINITY };
    this.#transaction(() => {
      const known = this.#shifts.read(device);
      const { count, since, bytes } = known.shifts.after(seq);
      if (count === 0) {
        this.#forget.run(device);
        this.#unmark.run(device);
      } else this.#keep.run(since, count, bytes, rowSum([device, known.seq, since, count], bytes), device);
      this.#forgetPatches.run(device, seq);
      shifts = { count, since };
      return true;
    });
    const { count, since } = this.#patchesLeft.get(device) ?? {};
    return { shifts, patches: { count: Number(count), since: Number(since ?? Number.POSITIVE_INFINITY) } };
  }

  /** Commits what `work` did if `work` returns true. */
  #transaction(work: () => boolean): boolean {
    return inTransaction(this.#database, work, (done) => done);
  }
}
