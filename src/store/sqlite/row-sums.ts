import type { DatabaseSync } from "node:sqlite";
import { extendedSum, isWhole, rowSum } from "../records/row-sum.ts";

/** Reads columns as doubles. Damage may leave a whole number that is too large for JavaScript. Read as an integer, it would make the whole query fail. */
export function asDoubles(columns: readonly string[]): string {
  return columns.map((column) => `cast(${column} as real) as ${column}`).join(", ");
}

/** Numbers of each table that a row's checksum covers. */
export const summed = {
  tail: ["seq", "device", "first", "last", "count"],
  block: [
    ...["seq", "device", "first", "last", "count", "bytes"],
    ...["as_of", "odometer_mm", "sensor1_ms", "sensor2_ms", "sensor3_ms", "sensor4_ms"],
  ],
  shifts: ["device", "seq", "since", "count"],
  patch: ["device", "seq", "first", "last", "count"],
  device_state: ["device", "version", "as_of"],
} as const;

/** Tables whose rows have checksums. */
type Summed = keyof typeof summed;

/** A row with columns by their names. */
export type Row = Readonly<Record<string, unknown>>;

/** Whether a row that was read by name is whole: see `isWhole`. */
export function isRowWhole(table: Summed, row: Row): boolean | undefined {
  const { data, crc } = row;
  const numbers = summed[table].map((column) => Number(row[column]));
  // The bytes of a block are another table's, and have a checksum of their own.
  return isWhole(crc, numbers, table !== "block" && data instanceof Uint8Array ? data : undefined);
}

/** The columns of a table that its checksums are of, as far as the version has them that wrote the table. */
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

/** Adds the SQL functions by which rows get new checksums where SQL changes them. */
export function addSumFunctions(database: DatabaseSync): void {
  // The checksum, the numbers before, the numbers after, and what is appended to the bytes. A row without a checksum has all its bytes in the place of these.
  database.function("new_crc", { deterministic: true, varargs: true }, (crc, ...rest) => {
    const given = rest.pop();
    const bytes = given instanceof Uint8Array ? given : undefined;
    const numbers = rest.map(Number);
    const half = numbers.length / 2;
    const [before, after] = [numbers.slice(0, half), numbers.slice(half)];
    return crc === null ? rowSum(after, bytes) : extendedSum(Number(crc), before, after, bytes);
  });
}

/** The columns as doubles, without names. */
export function doubles(columns: readonly string[]): string {
  return columns.map((column) => `cast(${column} as real)`).join(", ");
}
