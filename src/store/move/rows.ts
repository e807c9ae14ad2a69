import type { MovedTable } from "./tables.ts";

/** What a column holds in both engines. */
export type ColumnType = "int" | "double" | "text" | "bytes";

/** A column of both engines. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly required: boolean;
}

/** A table and its columns. */
export interface Table extends MovedTable {
  readonly columns: readonly Column[];
  /** Where the columns of the key are among them. */
  readonly keyAt: readonly number[];
}

/** A value of a row. Texts are bytes of UTF-8, so that they stay what they are. */
export type Cell = null | bigint | number | Uint8Array;

/** A row: the values of the table's columns. */
export type Row = readonly Cell[];

/** The values of the key's columns. */
export type Key = readonly Cell[];

/** Rows of a table that follow each other. */
export interface Page {
  readonly rows: readonly Row[];
  /** Bytes of their values. */
  readonly bytes: number;
  /** The key behind which the next page begins. Undefined: the table ends here. */
  readonly next: Key | undefined;
  /** What can't be read or held of these rows. */
  readonly told: readonly string[];
}

/** A store that a move reads. */
export interface ReadSide {
  /** Reads rows behind a key, in the order of their keys: of some megabytes, however many rows these are. */
  page(table: Table, after: Key | undefined): Promise<Page>;
  /** The highest number that each table with numbers has given. */
  sequences(): Promise<ReadonlyMap<string, bigint>>;
}

/** Bytes of a page, unless one row has more. */
export const pageBytes = 4 * 1024 * 1024;
/** Rows of a page. */
export const pageRows = 8192;

/** What a row takes in memory beside its texts and bytes, about. */
const rowBytes = 64;

/** Bytes of a row. */
export function sizeOf(row: Row): number {
  let size = rowBytes;
  for (const cell of row) size += cell instanceof Uint8Array ? cell.byteLength : 8;
  return size;
}

/** The key of a row. */
export function keyOf({ keyAt }: Table, row: Row): Key {
  return keyAt.map((at) => row[at] ?? null);
}

/** Whether rows are told apart by one number. */
export function hasNumbers({ columns, keyAt: [at = 0, ...more] }: Table): boolean {
  return more.length === 0 && columns[at]?.type === "int";
}

/** A key for people. */
export function keyText(key: Key): string {
  return key.map((cell) => (cell instanceof Uint8Array ? Buffer.from(cell).toString() : String(cell))).join(", ");
}

/** A key as text that `readKey` reads. */
export function writeKey(key: Key): string {
  return JSON.stringify(
    key.map((cell) => (cell instanceof Uint8Array ? { text: Buffer.from(cell).toString("hex") } : String(cell))),
  );
}

/** Reads a key that `writeKey` wrote. */
export function readKey(written: string): Key {
  const parts: unknown = JSON.parse(written);
  if (!Array.isArray(parts)) throw new TypeError("no key");
  return parts.map((part: unknown) => {
    const { text } = Object(part);
    return typeof text === "string" ? Buffer.from(text, "hex") : BigInt(String(part));
  });
}

/** A name in a statement. */
export function quoted(name: string): string {
  return `"${name}"`;
}
