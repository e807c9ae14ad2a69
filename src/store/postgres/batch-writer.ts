import type { DeviceKey } from "../../model/device.ts";
import type { CommitAnswer, CommitRequest } from "../locations/calls.ts";
import { changesDamaged, noMatch } from "../locations/failures.ts";
import { type BatchVisitor, type LaidPatches, type PackedState, type Rewrite, unpackBatch } from "../records/batch.ts";
import { endedColumns } from "../records/ended-alerts.ts";
import { packRecords, unpackRecords } from "../records/packed-rows.ts";
import { Rewriter } from "../records/rewrite.ts";
import { extendedSum, misfit, rowSum } from "../records/row-sum.ts";
import { Shifts } from "../records/shifts.ts";
import { tailRowOf } from "./chunk-rows.ts";
import { insertRows } from "./insert-rows.ts";
import { writeRefused } from "./refused-writer.ts";
import { type FoundShifts, foundShifts, shiftRows, shiftsOf } from "./shift-rows.ts";
import { inTransaction } from "./transaction.ts";
import type { Statement, Step } from "./wire/messages.ts";
import { type Result, type Session, step } from "./wire/session.ts";
import { int, ints, manyBytes, type Row, text, texts, type Value } from "./wire/values.ts";

const sql = {
  // A device's state row is inserted and deleted with the device, so this finds stale versions and deleted devices alike.
  writeStates: {
    name: "write_states",
    sql: `update device_state as own set version = new.version, as_of = new.as_of, data = new.data, crc = new.crc
      from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bigint[]) as new (device, version, before, as_of, data, crc)
      where own.device = new.device and own.version = new.before returning own.device`,
  },
  checkStates: {
    name: "check_states",
    sql: `select own.device from unnest($1::bigint[], $2::bigint[]) as asked (device, version)
      join device_state as own on own.device = asked.device and own.version = asked.version`,
  },
  chunks: { name: "chunks", sql: "select seq, first, last, count, crc, data from tail where seq = any ($1::bigint[])" },
  append: {
    name: "append",
    sql: `insert into tail (seq, device, first, last, count, data, crc)
      select $1::bigint + new.place - 1, new.device, new.first, new.last, new.count, new.data, new.crc
      from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bytea[], $7::bigint[]) with ordinality
        as new (device, first, last, count, data, crc, place)`,
  },
  // The numbers replace those of the row; the bytes are appended.
  shift: {
    name: "shift",
    sql: `insert into shifts (device, seq, since, count, data, crc)
      select new.device, $1::bigint, new.since, new.count, new.data, new.crc
      from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bigint[]) as new (device, since, count, data, crc)
      on conflict (device) do update set seq = excluded.seq, since = excluded.since, count = excluded.count,
        data = shifts.data || excluded.data, crc = excluded.crc`,
  },
  mark: {
    name: "mark_shifted",
    sql: "update device_state set shifted = 1 where device = any ($1::bigint[]) and shifted is distinct from 1",
  },
  rewrite: {
    name: "rewrite",
    sql: `update tail as own set data = new.data, crc = new.crc from unnest($1::bigint[], $2::bytea[], $3::bigint[]) as new (seq, data, crc)
      where own.seq = new.seq`,
  },
  // There is one writer, so nobody else takes this key.
  lay: {
    name: "lay",
    sql: `insert into patch (key, device, seq, first, last, count, data, crc)
      select (select coalesce(max(key), 0) from patch) + new.place, new.device, $1::bigint, new.first, new.last, new.count, new.data, new.crc
      from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bytea[], $7::bigint[]) with ordinality
        as new (device, first, last, count, data, crc, place)`,
  },
  // Locks the alerts in the order of their keys, as an acknowledgement does. The first of two ends of an alert counts. A withdrawn alert closes even if it is critical.
  endAlerts: {
    name: "end_alerts",
    sql: `with open as (
        select own."key", ended.time, ended.found_at, ended.withdrawn <> '' as gone
        from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[]) as ended (device, rule, time, found_at, withdrawn)
        join alert as own on own.device = ended.device and own.rule = ended.rule and own.state < 2 and own.phase = 'raised'
          and case when ended.withdrawn = '' then own.time <= ended.time and own.ended_at is null else own.id = ended.withdrawn end
        order by own."key" for update of own),
      first as (select distinct on ("key") * from open order by "key", gone desc, time)
      update alert set ${endedColumns("case when first.gone then alert.ended_at else first.time end", "first.found_at", "first.gone")}
      from first where alert."key" = first."key"`,
  },
  asOf: {
    name: "set_as_of",
    sql: `insert into setting (name, value) values ('states', $1::text), ('states again', $1::text)
      on conflict (name) do update set value = excluded.value`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

const noBytes = new Uint8Array(0);

/** Rows of a table with bytes and a checksum. */
interface SummedRow {
  readonly data: Uint8Array;
  readonly crc: number;
}

/** The rows of a batch. Byte arrays are views of the batch, but for packed records. */
class Rows implements BatchVisitor {
  readonly devices: DeviceKey[] = [];
  readonly written: (SummedRow & { device: DeviceKey; version: number; before: number; asOf: number })[] = [];
  readonly checked: { device: DeviceKey; before: number }[] = [];
  readonly shifted: { device: DeviceKey; since: number; count: number; data: Uint8Array }[] = [];
  readonly chunks: (SummedRow & { device: DeviceKey; first: number; last: number; count: number })[] = [];
  #seq: number;

  constructor({ buffer, seq }: CommitRequest) {
    this.#seq = seq;
    unpackBatch(buffer, this);
  }

  device(device: DeviceKey, { version, versionBefore: before, asOf, bytes: data }: PackedState): void {
    this.devices.push(device);
    if (data === undefined) this.checked.push({ device, before });
    else this.written.push({ device, version, before, asOf, data, crc: rowSum([device, version, asOf], data) });
  }

  shifts(device: DeviceKey, count: number, since: number, data: Uint8Array): void {
    this.shifted.push({ device, since, count, data });
  }

  chunk(device: DeviceKey, first: number, last: number, count: number, records: Uint8Array): void {
    const data = packRecords(records);
    const crc = rowSum([this.#seq++, device, first, last, count], data);
    this.chunks.push({ device, first, last, count, data, crc });
  }
}

/** A column of rows, as a parameter. */
function column<K extends string>(rows: readonly Readonly<Record<K, number>>[], name: K): Value {
  return ints(rows.map((row) => row[name]));
}

function bytesOf(rows: readonly { readonly data: Uint8Array }[]): Value {
  return manyBytes(rows.map(({ data }) => data));
}

/** The rows that a commit changes, as they were before it. */
interface Stored {
  readonly shifts: ReadonlyMap<DeviceKey, FoundShifts>;
  readonly chunks: ReadonlyMap<number, Row>;
}

/**
 * Writes a commit's batch in one transaction. The first round trip compares versions, writes states and reads the rows to be changed. The second writes everything else and commits.
 * Refused reports take more round trips.
 */
export async function writeBatch(session: Session, request: CommitRequest): Promise<CommitAnswer> {
  const { buffer, rewrites, refused, refusedBytes, refusedBefore } = request;
  const batch = new Rows(request);
  return inTransaction(session, async (transaction) => {
    const { conflicts, stored } = await begin(transaction.begin, batch, rewrites);
    if (conflicts.length > 0) {
      await transaction.rollback();
      return { conflicts, missing: 0, madeRoom: 0, buffer };
    }
    const rewritten = rewrite(rewrites, stored, batch);
    const madeRoom = refused.length === 0 ? 0 : await writeRefused(session, refused, refusedBytes, refusedBefore);
    const shifts = shiftsAfter(request.seq, batch, stored);
    await transaction.commit(...writesOf(request, batch.chunks, shifts, rewritten.rows));
    return { conflicts, missing: rewritten.missing, madeRoom, buffer };
  });
}

/** Begins the transaction and finds the devices whose versions are not those that the batch was planned with. */
async function begin(
  run: Session["run"],
  { devices, written, checked, shifted }: Rows,
  rewrites: readonly Rewrite[],
): Promise<{ readonly conflicts: readonly DeviceKey[]; readonly stored: Stored }> {
  const [device, version, before] = [column(written, "device"), column(written, "version"), column(written, "before")];
  const steps: Step[] = [
    step(sql.writeStates, device, version, before, column(written, "asOf"), bytesOf(written), column(written, "crc")),
    step(sql.checkStates, column(checked, "device"), column(checked, "before")),
  ];
  const changed = [...shifted, ...rewrites];
  if (changed.length > 0) steps.push(step(shiftRows, column(changed, "device")));
  if (rewrites.length > 0) steps.push(step(sql.chunks, ints(rewrites.flatMap(({ seqs }) => seqs))));
  const [updated, found, shifts, chunks] = await run(...steps);
  const met = new Set<DeviceKey>();
  for (const result of [updated, found]) for (const row of result?.rows ?? []) met.add(row.int());
  const conflicts = devices.filter((one) => !met.has(one));
  return { conflicts, stored: { shifts: keyed(shifts, foundShifts), chunks: keyed(chunks, (_, row) => row) } };
}

function keyed<T>(result: Result | undefined, read: (key: number, row: Row) => T): ReadonlyMap<number, T> {
  const found = new Map<number, T>();
  for (const row of result?.rows ?? []) {
    const key = row.int();
    found.set(key, read(key, row));
  }
  return found;
}

/** The row of a device's shifts after a commit. `data` holds only the shifts that the commit appends. */
interface ShiftsAfter extends SummedRow {
  readonly device: DeviceKey;
  readonly since: number;
  readonly count: number;
}

/** A row that does not match its checksum does not match its new one either, and neither does one that replaces a missing row: damage stays visible. */
function shiftsAfter(seq: number, { shifted }: Rows, { shifts }: Stored): readonly ShiftsAfter[] {
  return shifted.map(({ device, since, count, data }) => {
    const before = shifts.get(device);
    if (before === undefined) return { device, since, count, data, crc: rowSum([device, seq, since, count], data) };
    if (before === "missing") return { device, since, count, data, crc: misfit };
    const [, , sinceBefore, countBefore] = before.numbers;
    const after = [device, seq, Math.min(since, sinceBefore), count + countBefore] as const;
    const all = () => rowSum(after, Buffer.concat([before.data, data]));
    const crc = before.crc === null ? all() : extendedSum(before.crc, before.numbers, after, data);
    return { device, since: after[2], count: after[3], data, crc };
  });
}

/** A chunk with new totals. */
interface RewrittenRow extends SummedRow {
  readonly seq: number;
}

/** Gives records new totals. Readers add shifts, so the totals are written without them. `missing`: how many patches' records were not found. */
function rewrite(rewrites: readonly Rewrite[], { chunks, shifts }: Stored, { shifted }: Rows) {
  const rows: RewrittenRow[] = [];
  let missing = 0;
  for (const { device, seqs, patches } of rewrites) {
    const before = shifts.get(device);
    const appended = shifted.find((one) => one.device === device)?.data ?? noBytes;
    shiftsOf(device, before);
    const stored = before === undefined || before === "missing" ? noBytes : before.data;
    const rewriter = new Rewriter(patches, new Shifts(Buffer.concat([stored, appended])));
    for (const seq of seqs) {
      const row = chunks.get(seq);
      if (row === undefined) continue;
      const { first, last, count, data, whole } = tailRowOf(seq, row)(device);
      // A new checksum would hide the damage.
      if (whole === false) throw changesDamaged(device, `in row ${seq}, ${noMatch}`);
      const changed = rewriter.rewrite(unpackRecords(data), seq);
      if (changed === undefined) continue;
      const packed = packRecords(changed);
      rows.push({ seq, data: packed, crc: rowSum([seq, device, first, last, count], packed) });
    }
    missing += rewriter.missing;
  }
  return { rows, missing };
}

function writesOf(
  { seq, laid, asOf, alerts, notices, ended }: CommitRequest,
  chunks: Rows["chunks"],
  shifts: readonly ShiftsAfter[],
  rewritten: readonly RewrittenRow[],
): Step[] {
  const steps: Step[] = [];
  if (chunks.length > 0) {
    const [device, first, last] = [column(chunks, "device"), column(chunks, "first"), column(chunks, "last")];
    const more = [column(chunks, "count"), bytesOf(chunks), column(chunks, "crc")];
    steps.push(step(sql.append, int(seq), device, first, last, ...more));
  }
  if (shifts.length > 0) {
    const [device, since, count] = [column(shifts, "device"), column(shifts, "since"), column(shifts, "count")];
    steps.push(step(sql.shift, int(seq), device, since, count, bytesOf(shifts), column(shifts, "crc")));
    steps.push(step(sql.mark, device));
  }
  if (rewritten.length > 0)
    steps.push(step(sql.rewrite, column(rewritten, "seq"), bytesOf(rewritten), column(rewritten, "crc")));
  if (laid.length > 0) steps.push(layStep(seq, laid));
  if (asOf !== undefined) steps.push(step(sql.asOf, text(String(asOf))));
  if (alerts.length > 0) steps.push(insertRows("alert", alerts));
  if (notices.length > 0) steps.push(insertRows("notice", notices));
  if (ended.length > 0) {
    const [device, rule] = [column(ended, "device"), column(ended, "rule")];
    const withdrawn = texts(ended.map((end) => end.withdrawn));
    steps.push(step(sql.endAlerts, device, rule, column(ended, "time"), column(ended, "foundAt"), withdrawn));
  }
  return steps;
}

function layStep(seq: number, laid: readonly LaidPatches[]): Step {
  const rows = laid.map(({ device, from, to, count, patches }) => ({
    ...{ device, from, to, count },
    data: patches,
    crc: rowSum([device, seq, from, to, count], patches),
  }));
  const [device, from, to, count] = [
    column(rows, "device"),
    column(rows, "from"),
    column(rows, "to"),
    column(rows, "count"),
  ];
  return step(sql.lay, int(seq), device, from, to, count, bytesOf(rows), column(rows, "crc"));
}
