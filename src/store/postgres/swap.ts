import type { DeviceKey } from "../../model/device.ts";
import { isOwnRow } from "../blocks/own-row.ts";
import {
  type DropAnswer,
  type DropRequest,
  liftNumbers,
  type SwapRequest,
  type WaitingLeft,
} from "../locations/calls.ts";
import { extendedSum, fitsNumbers, rowSum } from "../records/row-sum.ts";
import { endOfPortion } from "./portions.ts";
import { foundShifts, shiftRows, shiftsOf } from "./shift-rows.ts";
import { inTransaction } from "./transaction.ts";
import type { Statement, Step } from "./wire/messages.ts";
import { changedBy, type Result, type Session, step } from "./wire/session.ts";
import { bytes, int, ints, manyBytes } from "./wire/values.ts";

/** In the order of the checksum. */
const tailColumns = ["seq", "device", "first", "last", "count"];
const sumColumns = ["odometer_mm", "sensor1_ms", "sensor2_ms", "sensor3_ms", "sensor4_ms"];
const blockColumns = [...tailColumns, "bytes", "as_of", ...sumColumns];
/** Positions in `blockColumns` of `as_of` (the row number up to which the block includes shifts) and of the first sum. */
const asOfAt = 6;
const sumsAt = 7;
/** The checksum alone checks the numbers. A row without a checksum has its bytes read instead: this is how many. */
const bytesIfNoSum = "case when crc is null then octet_length(data)::bigint end";

const sql = {
  removeTail: { name: "remove_tail", sql: "delete from tail where seq = any ($1::bigint[])" },
  removeBlocks: { name: "remove_blocks", sql: "delete from block where seq = any ($1::bigint[])" },
  removeData: { name: "remove_data", sql: "delete from block_data where seq = any ($1::bigint[])" },
  insert: {
    name: "insert_blocks",
    sql: `insert into block (seq, device, first, last, count, bytes, as_of, crc)
      select $1::bigint + new.place - 1, $2::bigint, new.first, new.last, new.count, new.bytes, $3::bigint, new.crc
      from unnest($4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[]) with ordinality as new (first, last, count, bytes, crc, place)`,
  },
  insertData: {
    name: "insert_data",
    sql: `insert into block_data (seq, data) select $1::bigint + new.place - 1, new.data from unnest($2::bytea[]) with ordinality as new (data, place)`,
  },
  toLift: {
    name: "to_lift",
    sql: `select ${blockColumns.join(", ")}, crc from block where seq = any ($1::bigint[]) and as_of < $2::bigint`,
  },
  lift: {
    name: "lift",
    sql: `update block as own set as_of = $1::bigint, odometer_mm = new.odometer, sensor1_ms = new.one, sensor2_ms = new.two,
        sensor3_ms = new.three, sensor4_ms = new.four, crc = new.crc
      from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
        as new (seq, odometer, one, two, three, four, crc) where own.seq = new.seq`,
  },
  keep: {
    name: "keep_shifts",
    sql: "update shifts set since = $2::bigint, count = $3::bigint, data = $4::bytea, crc = $5::bigint where device = $1::bigint",
  },
  forget: { name: "forget_shifts", sql: "delete from shifts where device = $1::bigint" },
  unmark: {
    name: "unmark_shifted",
    sql: "update device_state set shifted = 0 where device = $1::bigint and shifted = 1",
  },
  forgetPatches: { name: "forget_patches", sql: "delete from patch where device = $1::bigint and seq <= $2::bigint" },
  tailNumbers: {
    name: "tail_numbers",
    sql: `select ${tailColumns.join(", ")}, crc, ${bytesIfNoSum} from tail where seq = any ($1::bigint[])`,
  },
  blockNumbers: {
    name: "block_numbers",
    sql: `select ${blockColumns.join(", ")}, crc, ${bytesIfNoSum} from block left join block_data using (seq) where seq = any ($1::bigint[])`,
  },
  tailBytes: { name: "tail_bytes", sql: "select seq, data from tail where seq = any ($1::bigint[])" },
  blockBytes: { name: "block_bytes", sql: "select seq, data from block_data where seq = any ($1::bigint[])" },
  countDeleted: {
    name: "count_deleted",
    sql: "update device_state set deleted = deleted + $2::bigint where device = $1::bigint",
  },
  patchesLeft: {
    name: "patches_left",
    sql: "select coalesce(sum(count), 0)::bigint, count(*), min(first) from patch where device = $1::bigint",
  },
} as const satisfies Readonly<Record<string, Statement>>;

function removals(seqs: readonly number[]): readonly Step[] {
  const all = ints(seqs);
  return [step(sql.removeTail, all), step(sql.removeBlocks, all), step(sql.removeData, all)];
}

/** How many chunks `removals` deleted. */
function removedBy([tail, block]: readonly Result[]): number {
  return (tail ? changedBy(tail) : 0) + (block ? changedBy(block) : 0);
}

/** Deletes chunks: rows of the tail, or blocks. */
export async function purge(session: Session, seqs: readonly number[]): Promise<void> {
  await inTransaction(session, async ({ begin, commit }) => {
    await begin();
    await commit(...removals(seqs));
  });
}

/** Replaces chunks by blocks. Does nothing and returns false when one of the chunks is gone. */
export function swap(session: Session, request: SwapRequest): Promise<boolean> {
  const { seqs, blocks, lifts, until } = request;
  return inTransaction(session, async ({ begin, commit, rollback }) => {
    const lifted = new Map<number, readonly number[]>();
    for (let at = 0; at < lifts.length; at += liftNumbers) {
      const [seq = 0, ...sums] = lifts.subarray(at, at + liftNumbers);
      lifted.set(seq, sums);
    }
    const toLift = step(sql.toLift, ints([...lifted.keys()]), int(until));
    const results = await begin(...removals(seqs), toLift);
    const found = results.at(-1);
    if (removedBy(results) !== seqs.length) {
      await rollback();
      return false;
    }
    const steps = blocks.length > 0 ? insertsOf(request) : [];
    if (found !== undefined && found.rows.length > 0) steps.push(liftStep(found, lifted, until));
    await commit(...steps);
    return true;
  });
}

function insertsOf({ device, seq, blocks, until }: SwapRequest): Step[] {
  const of = (column: "first" | "last" | "count" | "bytes") => ints(blocks.map((one) => one[column]));
  const sums = blocks.map(({ first, last, count, bytes: size, data }, index) =>
    rowSum([seq + index, device, first, last, count, size, until, 0, 0, 0, 0, 0], data),
  );
  return [
    step(sql.insert, int(seq), int(device), int(until), of("first"), of("last"), of("count"), of("bytes"), ints(sums)),
    step(sql.insertData, int(seq), manyBytes(blocks.map(({ data }) => data))),
  ];
}

/** Adds lifts to the sums of blocks. A block that does not match its checksum does not match its new one either: damage stays visible. */
function liftStep({ rows }: Result, lifted: ReadonlyMap<number, readonly number[]>, until: number): Step {
  const columns: number[][] = Array.from({ length: liftNumbers + 1 }, () => []);
  for (const row of rows) {
    const before = Array.from({ length: sumsAt + liftNumbers - 1 }, () => row.int());
    const crc = row.maybeInt();
    const [seq = 0] = before;
    const after = before.with(asOfAt, until);
    for (const [index, sum] of (lifted.get(seq) ?? []).entries())
      after[sumsAt + index] = (after[sumsAt + index] ?? 0) + sum;
    const values = [seq, ...after.slice(sumsAt), crc === null ? rowSum(after) : extendedSum(crc, before, after)];
    for (const [index, value] of values.entries()) columns[index]?.push(value);
  }
  return step(sql.lift, int(until), ...columns.map(ints));
}

/** Deletes old chunks of a device and counts their records. Deletes none if one is gone or damaged. */
export function drop(session: Session, { device, seqs, count, stays }: DropRequest): Promise<DropAnswer> {
  return inTransaction(session, async ({ begin, commit, rollback }) => {
    const asked = [...seqs, stays];
    const [tail, blocks] = await begin(step(sql.tailNumbers, ints(asked)), step(sql.blockNumbers, ints(asked)));
    const read = (bytesOf: Statement) => async (some: readonly number[]) =>
      (await session.run(step(bytesOf, ints(some))))[0]?.rows ?? [];
    const whole = new Map([
      ...(await wholeRows("tail", tail, device, read(sql.tailBytes))),
      ...(await wholeRows("block", blocks, device, read(sql.blockBytes))),
    ]);
    const damaged = asked.filter((seq) => whole.get(seq) === false);
    if (damaged.length > 0 || asked.some((seq) => !whole.has(seq))) {
      await rollback();
      return { done: false, damaged };
    }
    await commit(...removals(seqs), step(sql.countDeleted, int(device), int(count)));
    return { done: true, damaged };
  });
}

/**
 * Says which rows match their checksums. A row without one is compared with its bytes, and the bytes of all such rows are many: an older version may have written a device's whole
 * history. So `read` gives them some at a time.
 */
async function wholeRows(
  table: "tail" | "block",
  found: Result | undefined,
  device: DeviceKey,
  read: (seqs: readonly number[]) => Promise<Result["rows"]>,
): Promise<ReadonlyMap<number, boolean>> {
  const columns = table === "tail" ? tailColumns : blockColumns;
  const whole = new Map<number, boolean>();
  const unsummed = new Map<number, readonly number[]>();
  const sizes = new Map<number, number>();
  for (const row of found?.rows ?? []) {
    const numbers = columns.map(() => row.int());
    const crc = row.maybeInt();
    const [seq = 0] = numbers;
    whole.set(seq, crc !== null && fitsNumbers(crc, numbers.with(1, device)));
    if (crc !== null) continue;
    unsummed.set(seq, numbers);
    sizes.set(seq, row.int());
  }
  const seqs = [...unsummed.keys()];
  for (let from = 0, end = 0; from < seqs.length; from = end) {
    end = endOfPortion(seqs, from, sizes);
    for (const row of await read(seqs.slice(from, end))) {
      const seq = row.int();
      const [, owner = 0, first = 0, last = 0, count = 0] = unsummed.get(seq) ?? [];
      const data = row.bytes();
      whole.set(seq, data !== undefined && isOwnRow(table, owner, { device, first, last, count, data }));
    }
  }
  return whole;
}

/** Deletes a device's shifts and patches up to a row number. All chunks that they concern include them by now. Returns what is left. */
export function forget(session: Session, device: DeviceKey, seq: number): Promise<WaitingLeft> {
  return inTransaction(session, async ({ begin, commit }) => {
    const [found] = await begin(step(shiftRows, ints([device])));
    const row = found?.rows[0];
    const before = row && foundShifts(row.int(), row);
    const { count, since, bytes: data } = shiftsOf(device, before).after(seq);
    const last = before === undefined || before === "missing" ? 0 : before.numbers[1];
    const sum = rowSum([device, last, since, count], data);
    const kept =
      count === 0
        ? [step(sql.forget, int(device)), step(sql.unmark, int(device))]
        : [step(sql.keep, int(device), int(since), int(count), bytes(data), int(sum))];
    const results = await commit(
      ...kept,
      step(sql.forgetPatches, int(device), int(seq)),
      step(sql.patchesLeft, int(device)),
    );
    const left = results.at(-1)?.rows[0];
    const [patches = 0, rows = 0, first = 0] = left === undefined ? [] : [left.int(), left.int(), left.int()];
    return {
      shifts: { count, since },
      patches: { count: patches, since: rows === 0 ? Number.POSITIVE_INFINITY : first },
    };
  });
}
