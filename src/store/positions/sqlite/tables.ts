import type { DatabaseSync } from "node:sqlite";

/*
 * - `log`: a commit each row, see `log-row.ts`. No number is used again: `log_end` has the highest that was deleted,
 *   and the one up to which everything is followed. (`autoincrement` would write a page more with each commit.)
 * - `block`: packed records of a device, see `block.ts`. A rowid table, and an index that answers which blocks overlap
 *   a range without reading any of them.
 * - `kept`: the event time from which on records of a device are kept, where some were deleted.
 */
const tables = `
  create table if not exists log (seq integer primary key, data blob not null);
  create table if not exists log_end (seq integer not null, followed integer not null);
  create table if not exists block (
    id integer primary key, device integer not null, first integer not null, last integer not null, number integer not null, count integer not null, data blob not null
  );
  create index if not exists block_place on block (device, first, number, last, count);
  create table if not exists kept (device integer primary key, since real not null);
  insert into log_end select 0, 0 where not exists (select 1 from log_end);
`;

/** Makes the tables of positions where they are not there. */
export function makeTables(database: DatabaseSync): void {
  database.exec(tables);
}
