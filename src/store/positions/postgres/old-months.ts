import type { PoolClient } from "pg";
import { bucketCount } from "../../../ports/processes.ts";
import { lockMonths } from "./tables.ts";

/** What works in a transaction of its own, and is tried again where it met another one. */
export type InTransaction = (work: (client: PoolClient) => Promise<void>) => Promise<void>;

/** Rows that are deleted in a transaction. */
const rowsAtOnce = 10_000;
/** A month that somebody reads for longer is dropped the next time: whoever appends would wait behind, ms. */
const lockMs = 1000;
const defaultPartition = "position_default";

interface Month {
  /** `position_2026_11`, of which nothing needs to be quoted. */
  readonly name: string;
  /** When it ends. */
  readonly to: string;
  readonly isAttached: boolean;
}

/**
 * Deletes what `position_kept` hides. A month of which no device keeps anything is dropped, whole and at once. Of other
 * months, the rows of those devices go that keep nothing of it, or have nothing newer. So what is hidden is gone from
 * the disk within a month. A month that fails holds up no other one; the first failure is thrown at the end.
 */
export async function deleteOld(inTransaction: InTransaction): Promise<void> {
  const months: Month[] = [];
  await inTransaction(async (client) => {
    months.splice(0, months.length, ...(await monthsOf(client)));
  });
  const failures: unknown[] = [];
  const alone = (work: Promise<void>) => work.catch((error: unknown) => void failures.push(error));
  for (const month of months) await alone(deleteOf(inTransaction, month));
  await alone(deleteRows(inTransaction, defaultPartition, "true", "own.time < kept.since"));
  if (failures.length > 0) throw failures[0];
}

async function deleteOf(inTransaction: InTransaction, month: Month): Promise<void> {
  let found = { isFilled: true, isKept: false };
  if (month.isAttached)
    await inTransaction(async (client) => {
      found = await lookAt(client, month);
    });
  // One without rows costs nothing, and may get late ones.
  if (!found.isFilled) return;
  if (!found.isKept) return drop(inTransaction, month);
  await deleteRows(inTransaction, month.name, `kept.since >= '${month.to}'`, "true");
  // The day of a device's newest position is kept, so of one that is silent no more of the month becomes old.
  const isSilent = `not exists (select from position as later where later.device = kept.device and later.time >= '${month.to}')`;
  await deleteRows(inTransaction, month.name, `kept.since < '${month.to}' and ${isSilent}`, "own.time < kept.since");
}

/** The months that have ended, those included that were detached and not dropped: the process was killed in between. */
async function monthsOf(client: PoolClient): Promise<readonly Month[]> {
  const { rows } = await client.query<Month>(String.raw`
    select * from (
      select relname as name, to_char(to_date(right(relname, 7), 'YYYY_MM') + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00' as to,
        relispartition as "isAttached"
      from pg_class where relname ~ '^position_\d{4}_\d\d$' and relkind = 'r' and relnamespace = current_schema()::regnamespace
    ) as month where "to"::timestamptz <= now() order by name`);
  return rows;
}

/** The devices of a month that keep something of it. Their keys are found one by one in the index. */
const keeping = ({ name, to }: Month) => `
  with recursive own as (
    (select device from ${name} order by device limit 1)
    union all
    select (select next.device from ${name} as next where next.device > own.device order by next.device limit 1)
    from own where own.device is not null
  ), keeping as (
    select device, since from own left join position_kept using (device) where device is not null and (since is null or since < '${to}')
  )`;

/** Whether the month has rows, and whether some device keeps any of them. */
async function lookAt(client: PoolClient, month: Month): Promise<{ isFilled: boolean; isKept: boolean }> {
  const { rows } = await client.query<{ isFilled: boolean; isKept: boolean }>(
    `${keeping(month)} select exists (select from ${month.name}) as "isFilled", exists (select from keeping) as "isKept"`,
  );
  return rows[0] ?? { isFilled: false, isKept: false };
}

/**
 * First nobody can append to the month any more; then what came since it was looked at moves to the default partition,
 * and the rest goes. What moves was missing in between, so it is followed again.
 */
async function drop(inTransaction: InTransaction, month: Month): Promise<void> {
  await inTransaction(async (client) => {
    await lockMonths(client);
    if (!(await isPartition(client, month))) return;
    await client.query(`set local lock_timeout = ${lockMs}`);
    await client.query(`alter table position detach partition ${month.name}`);
  });
  await inTransaction(async (client) => {
    await lockMonths(client);
    if ((await isPartition(client, month)) !== false) return;
    await client.query(`set local lock_timeout = ${lockMs}`);
    await client.query(`${keeping(month)}, moved as (
        insert into position select own.* from keeping join ${month.name} as own using (device) where own.time >= coalesce(since, '-infinity')
        on conflict do nothing returning device, time
      ), spans as (
        select device, extract(epoch from min(time)) * 1000 as first, extract(epoch from max(time)) * 1000 as last from moved group by device
      )
      insert into position_pending (bucket, commit, holder, devices, first, last)
      select device % ${bucketCount}, nextval('position_commit'), null, array[device], array[first::float8], array[last::float8] from spans`);
    await client.query(`drop table ${month.name}`);
  });
}

/** Undefined: the table is gone. */
async function isPartition(client: PoolClient, { name }: Month): Promise<boolean | undefined> {
  const found = "select relispartition as partition from pg_class where oid = to_regclass($1)";
  const { rows } = await client.query<{ partition: boolean }>(found, [name]);
  return rows[0]?.partition;
}

/** Deletes some rows at a time. `which`: of these devices. `row`: these of each. */
async function deleteRows(inTransaction: InTransaction, table: string, which: string, row: string): Promise<void> {
  const deletion = `
    with old as (
      select row.* from position_kept as kept cross join lateral (
        select own.device, own.time, own.key from ${table} as own where own.device = kept.device and ${row} limit ${rowsAtOnce}
      ) as row where ${which} limit ${rowsAtOnce}
    )
    delete from ${table} as own using old where own.device = old.device and own.time = old.time and own.key = old.key`;
  for (let deleted = rowsAtOnce; deleted === rowsAtOnce; )
    await inTransaction(async (client) => {
      deleted = (await client.query(deletion)).rowCount ?? 0;
    });
}
