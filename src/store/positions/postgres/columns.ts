import type { SaidRecord } from "../../../model/said.ts";
import type { DeviceRecords } from "../../../ports/positions.ts";
import { bucketCount } from "../../../ports/processes.ts";
import { ArrayParameter } from "./array-parameter.ts";

const noExtras = ',"attributes":{';

/**
 * Appends rows in the order of their keys, so that two writers never wait for each other in a ring. `$1` and further:
 * the arrays of `columnsOf`, who appends, which shares it follows, and the arrays of `spansOf`. Returns the number of
 * the commit.
 */
export const appendRows = `
  with batch as (select nextval('position_commit') as commit),
  pending as (insert into position_pending
    select device % ${bucketCount}, commit, case when device % ${bucketCount} = any($12::int[]) then $11 end, array_agg(device), array_agg(first), array_agg(last)
    from batch, unnest($13::bigint[], $14::float8[], $15::float8[]) as span (device, first, last) group by 1, 2, 3),
  said as (
    select * from unnest($1::bigint[], $2::float8[], $3::bigint[], $4::float8[], $5::boolean[], $6::float8[], $7::float8[], $8::float8[], $9::float8[], $10::text[])
      with ordinality as row (device, time, key, received_at, valid, latitude, longitude, speed, course, readings, nth)
  ),
  appended as (insert into position (device, time, key, arrival, received_at, valid, latitude, longitude, speed, course, readings)
  select device, to_timestamp(time / 1000), key, (batch.commit << 20) + nth, to_timestamp(received_at / 1000), valid, latitude, longitude, speed, course, readings::json
  from said, batch order by device, time, key, nth
  on conflict do nothing)
  select commit::float8 as commit from batch`;

const rowColumns = `round(extract(epoch from time) * 1000)::float8 as time, round(extract(epoch from received_at) * 1000)::float8 as received_at,
    key, valid, latitude, longitude, speed, course, readings::text as readings`;

/** Rows of a device from a moment on, without the first of it that were read. */
export const readRows = `
  select ${rowColumns} from position
  where device = $1 and time >= greatest(to_timestamp($2::float8 / 1000), (select since from position_kept where device = $1)) and time <= to_timestamp($3::float8 / 1000)
  order by time, arrival offset $4 limit $5`;

/** The first rows of spans of some devices: which span, and the columns of `readRows`. */
export const readEachRows = `
  select span.nth::float8 as nth, row.* from unnest($1::bigint[], $2::float8[], $3::float8[]) with ordinality as span (device, first, last, nth),
    lateral (
      select ${rowColumns}, arrival from position where device = span.device
        and time >= greatest(to_timestamp(span.first / 1000), (select since from position_kept where device = span.device)) and time <= to_timestamp(span.last / 1000)
      order by position.time, arrival limit $4
    ) as row order by span.nth, row.time, row.arrival`;

/** A row that `readRows` gives. */
export interface PositionRow {
  readonly time: number;
  readonly received_at: number;
  readonly key: number;
  readonly valid: boolean;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly speed: number | null;
  readonly course: number | null;
  readonly readings: string | null;
}

/** A row that `readEachRows` gives. */
export interface EachRow extends PositionRow {
  readonly nth: number;
  readonly arrival: number;
}

/** A batch as arrays, one of each column. */
export function columnsOf(batch: readonly DeviceRecords[]): readonly Buffer[] {
  const count = batch.reduce((sum, { records }) => sum + records.length, 0);
  const numbers = (type: "int8" | "float8") => new ArrayParameter(type, count, 8 * count);
  const [device, time, key, receivedAt] = [numbers("int8"), numbers("float8"), numbers("int8"), numbers("float8")];
  const valid = new ArrayParameter("bool", count, count);
  const [latitude, longitude, speed, course] = [
    numbers("float8"),
    numbers("float8"),
    numbers("float8"),
    numbers("float8"),
  ];
  // A brace takes the place of the leading comma, and two close the object.
  const lengths = batch.map(({ records }) => records.map(({ extras }) => Buffer.byteLength(extras) + 2));
  const readings = new ArrayParameter(
    "text",
    count,
    lengths.flat().reduce((sum, bytes) => sum + bytes, 0),
  );
  for (const [at, { device: own, records }] of batch.entries())
    for (const [nth, record] of records.entries()) {
      device.int8(own);
      time.float8(record.time);
      key.int8(record.key);
      receivedAt.float8(record.receivedAt);
      valid.bool(record.valid);
      latitude.float8(record.unlocated ? undefined : record.latitude);
      longitude.float8(record.unlocated ? undefined : record.longitude);
      speed.float8(record.speed);
      course.float8(record.course);
      if (record.extras === noExtras) readings.null();
      else readings.text(`{${record.extras.slice(1)}}}`, lengths[at]?.[nth] ?? 0);
    }
  const columns = [device, time, key, receivedAt, valid, latitude, longitude, speed, course, readings];
  return columns.map(({ parameter }) => parameter);
}

/** The devices of a batch, and event times of the first and the last record of each. */
export function spansOf(batch: readonly DeviceRecords[]): readonly Buffer[] {
  const filled = batch.filter(({ records }) => records.length > 0);
  const device = new ArrayParameter("int8", filled.length, 8 * filled.length);
  const first = new ArrayParameter("float8", filled.length, 8 * filled.length);
  const last = new ArrayParameter("float8", filled.length, 8 * filled.length);
  const end = (records: readonly SaidRecord[], of: (...times: number[]) => number) =>
    records.reduce((time, record) => of(time, record.time), records[0]?.time ?? 0);
  for (const { device: own, records } of filled) {
    device.int8(own);
    first.float8(end(records, Math.min));
    last.float8(end(records, Math.max));
  }
  return [device, first, last].map(({ parameter }) => parameter);
}

/** The record of a row. */
export function recordOf({
  received_at,
  readings,
  latitude,
  longitude,
  speed,
  course,
  ...row
}: PositionRow): SaidRecord {
  return {
    ...row,
    receivedAt: received_at,
    ...(latitude === null && { unlocated: true }),
    latitude: latitude ?? 0,
    longitude: longitude ?? 0,
    ...(speed !== null && { speed }),
    ...(course !== null && { course }),
    extras: readings === null ? noExtras : `,${readings.slice(1, -2)}`,
  };
}
