import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { RefusedReport } from "../../model/commit.ts";
import type { DeviceKey } from "../../model/device.ts";

/** Deleting begins where a device has too many bytes and ends an eighth below, so that it is done now and then and not with each report. */
const slack = 8;
/** Rows that are looked at in one question. */
const sliceRows = 100;

/** Writes refused reports, within the bytes that each device may have of them: the oldest make room. In a transaction of the caller's. */
export class RefusedWriter {
  readonly #insert: StatementSync;
  readonly #stored: StatementSync;
  readonly #add: StatementSync;
  readonly #oldest: StatementSync;
  readonly #remove: StatementSync;
  readonly #dropped: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(
      `insert into refused (device, received_at, time, cause, report)
       select ?, ?, ?, ?, ? where exists (select 1 from device_state where device = ?)`,
    );
    // By the arrival, which has an index.
    this.#stored = database.prepare(
      "select 1 from refused where device = ? and received_at = ? and time = ? and cause = ? and report = ?",
    );
    this.#add = database.prepare(
      `insert into refused_room (device, bytes, dropped) values (?, ?, 0)
       on conflict (device) do update set bytes = bytes + excluded.bytes returning bytes`,
    );
    this.#oldest = database.prepare(
      `select seq, received_at, octet_length(report) as bytes from refused where device = ? order by seq limit ${sliceRows}`,
    );
    this.#remove = database.prepare("delete from refused where seq = ?");
    this.#dropped = database.prepare(
      `update refused_room set bytes = bytes - ?, dropped = dropped + ?,
       dropped_until = max(coalesce(dropped_until, 0), ?) where device = ?`,
    );
  }

  /** Those of devices that are gone are left out. How many made room. `before`: some of them may be stored already; these are left out too. */
  write(reports: readonly RefusedReport[], most: number, before: boolean): number {
    const added = new Map<DeviceKey, number>();
    for (const { device, receivedAt, time, cause, report } of reports) {
      if (before && this.#stored.get(device, receivedAt, time, cause, report) !== undefined) continue;
      if (this.#insert.run(device, receivedAt, time, cause, report, device).changes === 0) continue;
      added.set(device, (added.get(device) ?? 0) + Buffer.byteLength(report));
    }
    let dropped = 0;
    for (const [device, bytes] of added) {
      const all = Number(this.#add.get(device, bytes)?.bytes);
      if (all > most) dropped += this.#makeRoom(device, all - (most - Math.floor(most / slack)));
    }
    return dropped;
  }

  #makeRoom(device: DeviceKey, bytes: number): number {
    let freed = 0;
    let count = 0;
    let until = 0;
    while (freed < bytes) {
      const rows = this.#oldest.all(device);
      for (const row of rows) {
        if (freed >= bytes) break;
        this.#remove.run(row.seq ?? 0);
        freed += Number(row.bytes);
        until = Math.max(until, Number(row.received_at));
        count++;
      }
      if (rows.length < sliceRows) break;
    }
    this.#dropped.run(freed, count, until, device);
    return count;
  }
}
