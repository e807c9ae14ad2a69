import type { DatabaseSync } from "node:sqlite";
import { unpackRecords } from "../../src/store/records/packed-rows.ts";
import { addSpentFunction } from "../../src/store/sqlite/spent-table.ts";

const handledIndexes = [
  "alert_account",
  "alert_type",
  "alert_of_rule",
  "alert_found",
  "alert_critical",
  "alert_open",
  "alert_open_rule",
  "alert_open_found",
];
const handledColumns = [
  "account",
  "state",
  "ended_at",
  "acknowledged_at",
  "acknowledged_by",
  "acknowledged_note",
  "closed_at",
  "closed_by",
  "closed_note",
];

/** SQL, for either engine, that undoes the migrations after 0022 (packed rows). */
export const backToPackedRows = [
  'alter table "user" drop column password_signs_in',
  "drop table share",
  "drop table sign_in",
  "drop table second_factor",
  "drop table mute",
  "drop table notice_pause",
  ...handledIndexes.map((index) => `drop index ${index}`),
  ...handledColumns.map((column) => `alter table alert drop column ${column}`),
  "alter table notice drop column owner",
  "alter table notice drop column lease",
  "alter table command drop column owner",
  "delete from migration where number > 22",
].join("; ");

/** Takes back what migration 0022 led to: packed rows of the tail. Their checksums are no longer right, so a caller must see to these. */
export function unpackTail(database: DatabaseSync, chosen = "true"): void {
  database.function("unpacked", (data) => (data instanceof Uint8Array ? unpackRecords(data) : data));
  database.exec(`update tail set data = unpacked(data) where ${chosen}`);
}

/** Takes back what migrations after 0013 did, so that the next start finds a folder of that version. */
export function backToBlocks(database: DatabaseSync): void {
  addSpentFunction(database);
  database.exec("delete from tail where is_spent(device, seq)");
  unpackTail(database);
  database.exec(backToPackedRows);
  database.exec(`
    drop index geofence_positions; alter table geofence drop column positions;
    drop table rule_zone; drop trigger rule_zone_made; drop trigger rule_zone_changed; drop trigger rule_zone_removed;
    alter table account drop column position_days; alter table device drop column position_days;
    alter table device_state drop column deleted; alter table device_state drop column shifted; alter table device_state drop column as_of; delete from setting where name in ('states', 'states again');
    drop table spent;
    delete from migration where number > 13`);
  for (const table of ["tail", "block", "shifts", "patch", "device_state"])
    database.exec(`alter table ${table} drop column crc`);
}

/** As `backToBlocks`, for migrations after 0012. All positions are in the tail. */
export function backToBeforeBlocks(database: DatabaseSync): void {
  backToBlocks(database);
  database.exec("drop table block; drop table block_data; drop table patch; delete from migration where number > 12");
}
