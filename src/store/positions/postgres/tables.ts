import type { PoolClient } from "pg";

/*
 * - `position`: what trackers said, as any SQL tool reads it. `readings` is `json` and not `jsonb`: it keeps the text
 *   as it was said, and refuses no character that JSON allows. `arrival` orders records of one moment. It is no cursor:
 *   a higher number may be visible before a lower one.
 * - `position_pending`: a row for each commit and share of the devices that nobody is known to have followed: its
 *   devices, and event times of the first and the last position of each. `holder` is the process that knows of it;
 *   null: none does yet.
 * - `position_kept`: the event time from which on positions of a device are kept, where some were deleted.
 */
const tables = `
  create sequence if not exists position_commit;
  create table if not exists position (
    device bigint not null, time timestamptz not null, key bigint not null, arrival bigint not null, received_at timestamptz not null, valid boolean not null,
    latitude double precision, longitude double precision, speed double precision, course double precision, readings json, primary key (device, time, key)
  ) partition by range (time);
  create table if not exists position_default partition of position default;
  create table if not exists position_pending (
    bucket smallint, commit bigint, holder text, devices bigint[] not null, first float8[] not null, last float8[] not null, primary key (bucket, commit)
  );
  create index if not exists position_pending_unknown on position_pending (bucket) where holder is null;
  create table if not exists position_kept (device bigint primary key, since timestamptz not null);
`;

/** Any number: sessions that make tables or partitions wait for each other by it. */
const lock = 0x57_41_59_50;

/**
 * What was said has a partition for its month. What is older or newer than these goes to the default partition. Months
 * that are over are made with the first ones only: when nobody keeps anything of one, it is dropped.
 */
const [monthsBehind, monthsAhead] = [12, 2];

/** One transaction at a time makes or drops partitions. */
export async function lockMonths(client: PoolClient): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(${lock})`);
}

/** Makes the tables where they are not there, in a transaction of the caller. */
export async function makeTables(client: PoolClient): Promise<void> {
  await lockMonths(client);
  await client.query(tables);
}

/** Makes the partitions of the months around now that are not there, in a transaction of the caller. */
export async function makeMonths(client: PoolClient): Promise<void> {
  await lockMonths(client);
  const { rows } = await client.query<{ name: string; from: string; to: string }>(`
    select 'position_' || to_char(month, 'YYYY_MM') as name, to_char(month, 'YYYY-MM-DD') || ' 00:00:00+00' as from,
      to_char(month + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00' as to
    from generate_series(date_trunc('month', now() at time zone 'utc') - interval '1 month' *
        case (select count(*) from pg_inherits where inhparent = 'position'::regclass) when 1 then ${monthsBehind} else 0 end,
      date_trunc('month', now() at time zone 'utc') + interval '${monthsAhead} months', interval '1 month') as month
    where to_regclass('position_' || to_char(month, 'YYYY_MM')) is null`);
  for (const month of rows) await makeMonth(client, month);
}

/** A clock that was ahead may have put positions of the month into the default partition. They move. */
async function makeMonth(
  client: PoolClient,
  { name, from, to }: { readonly name: string; readonly from: string; readonly to: string },
): Promise<void> {
  await client.query(`create table ${name} (like position including all)`);
  await client.query(`
    with moved as (delete from position_default where time >= '${from}' and time < '${to}' returning *)
    insert into ${name} select * from moved`);
  await client.query(`alter table position attach partition ${name} for values from ('${from}') to ('${to}')`);
}
