import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { DeviceKey } from "../../model/device.ts";
import type { CommitAnswer, CommitRequest, EndedAlerts } from "../locations/calls.ts";
import { changesDamaged, noMatch } from "../locations/failures.ts";
import { type BatchVisitor, type PackedState, type Rewrite, unpackBatch } from "../records/batch.ts";
import { endedColumns } from "../records/ended-alerts.ts";
import { packRecords, unpackRecords } from "../records/packed-rows.ts";
import { Rewriter } from "../records/rewrite.ts";
import { rowSum } from "../records/row-sum.ts";
import { RefusedWriter } from "./refused-writer.ts";
import { asDoubles, doubles, isRowWhole, summed } from "./row-sums.ts";
import { ShiftRows } from "./shift-rows.ts";

/** Writes a commit's batch: one transaction, each row by a prepared statement, record bytes straight from the batch. */
export class BatchWriter implements BatchVisitor {
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #append: StatementSync;
  readonly #state: StatementSync;
  readonly #version: StatementSync;
  readonly #asOf: StatementSync;
  readonly #shift: StatementSync;
  readonly #shifts: ShiftRows;
  readonly #mark: StatementSync;
  readonly #chunk: StatementSync;
  readonly #rewrite: StatementSync;
  readonly #lay: StatementSync;
  readonly #refused: RefusedWriter;
  /** By table; made with the first row: most batches have none. */
  readonly #inserts = new Map<string, StatementSync>();
  #ends: StatementSync | undefined;
  #withdraws: StatementSync | undefined;
  #seq = 0;
  #conflicts: DeviceKey[] = [];

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#begin = database.prepare("begin immediate");
    this.#end = database.prepare("commit");
    this.#append = database.prepare(
      "insert into tail (seq, device, first, last, count, data, crc) values (?, ?, ?, ?, ?, ?, ?)",
    );
    // A device's state row is inserted and deleted with the device, so this finds stale versions and deleted devices alike.
    this.#state = database.prepare(
      "update device_state set version = ?, as_of = ?, data = ?, crc = ? where device = ? and version = ?",
    );
    this.#version = database.prepare("select 1 from device_state where device = ? and version = ?");
    this.#asOf = database.prepare(
      "insert into setting (name, value) values ('states', ?1), ('states again', ?1) on conflict (name) do update set value = excluded.value",
    );
    // `||` turns blobs into text of the same bytes.
    this.#shift = database.prepare(
      `insert into shifts (device, seq, since, count, data, crc) values (?, ?, ?, ?, ?, ?) on conflict (device) do update set
       seq = excluded.seq, since = min(since, excluded.since), count = count + excluded.count,
       data = cast(data || excluded.data as blob), crc = new_crc(cast(crc as real), ${doubles(summed.shifts)},
       cast(device as real), excluded.seq, cast(min(since, excluded.since) as real), cast(count + excluded.count as real),
       case when crc is null then cast(data || excluded.data as blob) else excluded.data end)`,
    );
    this.#shifts = new ShiftRows(database);
    this.#mark = database.prepare("update device_state set shifted = 1 where device = ? and shifted is not 1");
    this.#chunk = database.prepare(`select ${asDoubles([...summed.tail, "crc"])}, data from tail where seq = ?`);
    this.#rewrite = database.prepare("update tail set data = ?, crc = ? where seq = ?");
    this.#lay = database.prepare(
      "insert into patch (device, seq, first, last, count, data, crc) values (?, ?, ?, ?, ?, ?, ?)",
    );
    this.#refused = new RefusedWriter(database);
  }

  write(request: CommitRequest): CommitAnswer {
    const { buffer, seq, rewrites, laid, refused, refusedBefore, refusedBytes, alerts, notices, ended, asOf } = request;
    this.#seq = seq;
    this.#conflicts = [];
    this.#begin.run();
    try {
      unpackBatch(buffer, this);
      let missing = 0;
      // After the shifts of this commit: readers add these, so the patched records are written without them.
      for (const rewrite of rewrites) missing += this.#rewriteChunks(rewrite);
      for (const { device, from, to, count, patches } of laid) {
        const numbers = [device, seq, from, to, count];
        this.#lay.run(...numbers, patches, rowSum(numbers, patches));
      }
      if (asOf !== undefined) this.#asOf.run(String(asOf));
      const madeRoom = refused.length === 0 ? 0 : this.#refused.write(refused, refusedBytes, refusedBefore);
      if (this.#conflicts.length > 0) this.#database.exec("rollback");
      else {
        // Only without a conflict: if the batch was written before, its alerts and notices are there already, and their ids are unique.
        for (const alert of alerts) this.#insert("alert", alert);
        for (const notice of notices) this.#insert("notice", notice);
        for (const end of ended) this.#endAlerts(end);
        this.#end.run();
      }
      return { conflicts: this.#conflicts, missing, madeRoom, buffer };
    } catch (error) {
      // A full disk may have ended the transaction already.
      if (this.#database.isTransaction) this.#database.exec("rollback");
      throw error;
    }
  }

  device(key: DeviceKey, { version, versionBefore, asOf, bytes }: PackedState): void {
    const found =
      bytes === undefined
        ? this.#version.get(key, versionBefore) !== undefined
        : this.#state.run(version, asOf, bytes, rowSum([key, version, asOf], bytes), key, versionBefore).changes === 1;
    if (!found) this.#conflicts.push(key);
  }

  shifts(device: DeviceKey, count: number, since: number, bytes: Uint8Array): void {
    if (this.#conflicts.length > 0) return;
    const numbers = [device, this.#seq, since, count];
    this.#shift.run(...numbers, bytes, rowSum(numbers, bytes));
    this.#mark.run(device);
  }

  chunk(device: DeviceKey, first: number, last: number, count: number, records: Uint8Array): void {
    // With a conflict everything is rolled back; the remaining versions are compared only to name every conflict.
    if (this.#conflicts.length === 0) {
      const data = packRecords(records);
      const sum = rowSum([this.#seq, device, first, last, count], data);
      this.#append.run(this.#seq, device, first, last, count, data, sum);
    }
    this.#seq++;
  }

  #insert(table: "alert" | "notice", row: Readonly<Record<string, SQLInputValue>>): void {
    let statement = this.#inserts.get(table);
    if (statement === undefined) {
      const own = Object.keys(row);
      const account = "(select account from device where device.key = :device)";
      const columns = table === "alert" ? [...own, "account"] : own;
      const values = [...own.map((column) => `:${column}`), ...(table === "alert" ? [account] : [])];
      statement = this.#database.prepare(`insert into ${table} (${columns.join(", ")}) values (${values.join(", ")})`);
      this.#inserts.set(table, statement);
    }
    statement.run(row);
  }

  #endAlerts({ device, rule, time, foundAt, withdrawn }: EndedAlerts): void {
    if (withdrawn !== "") {
      this.#withdraws ??= this.#database.prepare(
        "update alert set state = 2, closed_at = :found where id = :id and state < 2",
      );
      this.#withdraws.run({ id: withdrawn, found: foundAt });
      return;
    }
    // By `+` the time is no reason to take the index of all alerts of the device.
    this.#ends ??= this.#database.prepare(
      `update alert set ${endedColumns(":time", ":found")}
       where device = :device and rule = :rule and state < 2 and phase = 'raised' and +time <= :time and ended_at is null`,
    );
    this.#ends.run({ device, rule, time, found: foundAt });
  }

  #rewriteChunks({ device, seqs, patches }: Rewrite): number {
    const rewriter = new Rewriter(patches, this.#shifts.read(device).shifts);
    for (const seq of seqs) {
      const row = this.#chunk.get(seq);
      if (row === undefined || !(row.data instanceof Uint8Array)) continue;
      // A new checksum would hide the damage.
      if (isRowWhole("tail", { ...row, device }) === false) throw changesDamaged(device, `in row ${seq}, ${noMatch}`);
      const changed = rewriter.rewrite(unpackRecords(row.data), seq);
      if (changed === undefined) continue;
      const data = packRecords(changed);
      const numbers = [row.first, row.last, row.count].map(Number);
      this.#rewrite.run(data, rowSum([seq, device, ...numbers], data), seq);
    }
    return rewriter.missing;
  }
}
