import type { RefusedReport } from "../../model/commit.ts";
import type { DeviceKey } from "../../model/device.ts";
import { storedText } from "./text.ts";
import type { Statement } from "./wire/messages.ts";
import { type Session, step } from "./wire/session.ts";
import { int, ints, texts } from "./wire/values.ts";

/** When a device has too many bytes, they are deleted down to an eighth below the limit, so that not every report deletes another. */
const slack = 8;

const reports = `unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[]) with ordinality
  as new (device, received_at, time, cause, report, place)`;
const ofDevices = "exists (select 1 from device_state as own where own.device = new.device)";
const insert = "insert into refused (device, received_at, time, cause, report)";
const columns = "new.device, new.received_at, new.time, new.cause, new.report";

const sql = {
  insert: {
    name: "insert_refused",
    sql: `${insert} select ${columns} from ${reports} where ${ofDevices} order by new.place returning device, octet_length(report)::bigint`,
  },
  // The condition on the device lets the search use an index.
  insertNew: {
    name: "insert_new_refused",
    sql: `${insert} select ${columns} from (select distinct on (device, received_at, time, cause, report) * from ${reports}) as new
      where ${ofDevices} and not exists (select 1 from refused as own where own.device = new.device and own.received_at = new.received_at
        and own.time = new.time and own.cause = new.cause and own.report = new.report)
      order by new.place returning device, octet_length(report)::bigint`,
  },
  add: {
    name: "add_refused_room",
    sql: `insert into refused_room (device, bytes, dropped) select new.device, new.bytes, 0 from unnest($1::bigint[], $2::bigint[]) as new (device, bytes)
      on conflict (device) do update set bytes = refused_room.bytes + excluded.bytes returning device, bytes`,
  },
  makeRoom: {
    name: "make_refused_room",
    sql: `with placed as (
        select seq, octet_length(report) as bytes, sum(octet_length(report)) over (order by seq) as upTo from refused where device = $1::bigint
      ), gone as (
        delete from refused where seq in (select seq from placed where upTo - bytes < $2::bigint) returning received_at, octet_length(report) as bytes
      ), dropped as (
        select count(*) as reports, coalesce(sum(bytes), 0) as bytes, coalesce(max(received_at), 0) as until from gone
      )
      update refused_room as own set bytes = own.bytes - dropped.bytes, dropped = own.dropped + dropped.reports,
        dropped_until = greatest(coalesce(own.dropped_until, 0), dropped.until)
      from dropped where own.device = $1::bigint returning dropped.reports`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

/**
 * Writes refused reports in the caller's transaction. If a device then has more than `most` bytes of them, its oldest are deleted; returns how many. Reports of devices that are gone are
 * left out. `before`: some of the reports may be stored already, and are left out too.
 */
export async function writeRefused(
  session: Session,
  refused: readonly RefusedReport[],
  most: number,
  before: boolean,
): Promise<number> {
  const values = [
    ints(refused.map(({ device }) => device)),
    ints(refused.map(({ receivedAt }) => receivedAt)),
    ints(refused.map(({ time }) => time)),
    texts(refused.map(({ cause }) => cause)),
    texts(refused.map(({ report }) => storedText(report))),
  ];
  const [inserted] = await session.run(step(before ? sql.insertNew : sql.insert, ...values));
  const added = new Map<DeviceKey, number>();
  for (const row of inserted?.rows ?? []) {
    const device = row.int();
    added.set(device, (added.get(device) ?? 0) + row.int());
  }
  if (added.size === 0) return 0;
  const [all] = await session.run(step(sql.add, ints([...added.keys()]), ints([...added.values()])));
  let dropped = 0;
  for (const row of all?.rows ?? []) {
    const [device, bytes] = [row.int(), row.int()];
    if (bytes <= most) continue;
    const room = bytes - (most - Math.floor(most / slack));
    const [made] = await session.run(step(sql.makeRoom, int(device), int(room)));
    dropped += made?.rows[0]?.int() ?? 0;
  }
  return dropped;
}
