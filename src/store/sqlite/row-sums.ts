import type { DatabaseSync } from "node:sqlite";
import { mostRecordBytes } from "../records/packed-rows.ts";
import { areNumbersWhole, extendedSum, isWhole, rowSum } from "../records/row-sum.ts";

/** Selects columns as doubles. A damaged integer may be too large for JavaScript, and would make the whole query fail. */
export function asDoubles(columns: readonly string[]): string {
  return columns.map((column) => `cast(${column} as real) as ${column}`).join(", ");
}

/** Bytes of the records of a row of the tail before packing: see `recordBytes`. */
export const tailBytes = `iif(substr(data, 1, 4) = x'ffffffff', max(0, min(cast(substr(data, 5, 8) as integer), ${mostRecordBytes})), length(data))`;

/** The columns of each table that a row's checksum covers besides its bytes. */
export const summed = {
  tail: ["seq", "device", "first", "last", "count"],
  block: [
    ...["seq", "device", "first", "last", "count", "bytes"],
    ...["as_of", "odometer_mm", "sensor1_ms", "sensor2_ms", "sensor3_ms", "sensor4_ms"],
  ],
  shifts: ["device", "seq", "since", "count"],
  patch: ["device", "seq", "first", "last", "count"],
  device_state: ["device", "version", "as_of"],
  spent: ["device", "seq"],
} as const;

/** Tables whose rows have checksums. */
type Summed = keyof typeof summed;

/** A row by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>;

/** Whether a row that was read by name is whole: see `isWhole`. */
export function isRowWhole(table: Summed, row: Row): boolean | undefined {
  const { data, crc } = row;
  const numbers = summed[table].map((column) => Number(row[column]));
  // The bytes of a block are in another table and have their own checksum.
  if (table === "block") return areNumbersWhole(crc, numbers);
  return isWhole(crc, numbers, data instanceof Uint8Array ? data : undefined);
}

/** The columns that a table's checksums cover, and the checksum, as far as the table has them: an older version may have made it. */
export function columnsOf(database: DatabaseSync, table: Summed): string {
  const there = new Set(
    database
      .prepare("select name from pragma_table_info(?)")
      .all(table)
      .map(({ name }) => name),
  );
  const own = [...summed[table], "crc"].filter((column) => there.has(column));
  return there.has("data") ? `${asDoubles(own)}, data` : asDoubles(own);
}

/** Adds `new_crc` to SQL: the checksum of a row that a statement changes. */
export function addSumFunctions(database: DatabaseSync): void {
  // Arguments: the checksum, the numbers before, the numbers after, and the appended bytes, or all bytes if the row has no checksum.
  database.function("new_crc", { deterministic: true, varargs: true }, (crc, ...rest) => {
    const given = rest.pop();
    const bytes = given instanceof Uint8Array ? given : undefined;
    const numbers = rest.map(Number);
    const half = numbers.length / 2;
    const [before, after] = [numbers.slice(0, half), numbers.slice(half)];
    return crc === null ? rowSum(after, bytes) : extendedSum(Number(crc), before, after, bytes);
  });
}

/** Like `asDoubles`, without names. */
export function doubles(columns: readonly string[]): string {
  return columns.map((column) => `cast(${column} as real)`).join(", ");
}
