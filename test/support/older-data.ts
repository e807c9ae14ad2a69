import type { DatabaseSync } from "node:sqlite";

/** Takes back what migrations after 0013 did, so that the next start finds a folder of that version. */
export function backToBlocks(database: DatabaseSync): void {
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
