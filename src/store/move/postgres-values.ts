import { storedText, textOf } from "../postgres/text.ts";
import { bytes, type Row as RowOfServer, type Value } from "../postgres/wire/values.ts";
import type { Cell, Column, ColumnType } from "./rows.ts";

/* Values in PostgreSQL's binary form: see `postgres/wire/values.ts`, which has what positions need. Here numbers have all of their 64 bits, and any value may be null. */

/** Numbers of types in PostgreSQL's catalogue (pg_type.dat), and how statements call them. */
const types: Readonly<Record<ColumnType, { readonly oid: number; readonly name: string }>> = {
  int: { oid: 20, name: "bigint" },
  double: { oid: 701, name: "double precision" },
  text: { oid: 25, name: "text" },
  bytes: { oid: 17, name: "bytea" },
};

/** How statements call the type of a column. */
export function typeName({ type }: Pick<Column, "type">): string {
  return types[type].name;
}

/** UTF-8 of the character that begins a pair: see `postgres/text.ts`. */
const mark = Buffer.from("\u{10ffff}");

/** A text as PostgreSQL keeps it. */
function stored(text: Uint8Array): Uint8Array {
  if (!text.includes(0) && !Buffer.from(text.buffer, text.byteOffset, text.byteLength).includes(mark)) return text;
  return Buffer.from(storedText(Buffer.from(text).toString()));
}

/** The text again. */
function restored(text: Uint8Array): Uint8Array {
  if (!Buffer.from(text.buffer, text.byteOffset, text.byteLength).includes(mark)) return text;
  return Buffer.from(textOf(Buffer.from(text).toString()));
}

function bytesOf(cell: Cell, type: ColumnType): Uint8Array | undefined {
  if (cell === null) return undefined;
  if (cell instanceof Uint8Array) return type === "text" ? stored(cell) : cell;
  const made = Buffer.alloc(8);
  if (typeof cell === "bigint") made.writeBigInt64BE(cell);
  else made.writeDoubleBE(cell);
  return made;
}

/** One value as a parameter. It is not null. */
export function parameter(cell: Cell, { type }: Pick<Column, "type">): Value {
  const own = bytesOf(cell, type);
  if (own === undefined) throw new TypeError("a key is null");
  return bytes(own);
}

/** Bytes before the items of an array: see `postgres/wire/values.ts`. */
const arrayHead = 20;

/** The values of a column as an array. */
export function array(cells: readonly Cell[], { type }: Pick<Column, "type">): Value {
  const items = cells.map((cell) => bytesOf(cell, type));
  return {
    size: items.reduce((sum, item) => sum + 4 + (item?.byteLength ?? 0), arrayHead),
    write(to, start) {
      to.writeInt32BE(1, start);
      to.writeInt32BE(1, start + 4);
      to.writeInt32BE(types[type].oid, start + 8);
      to.writeInt32BE(items.length, start + 12);
      to.writeInt32BE(1, start + 16);
      let at = start + arrayHead;
      for (const item of items) {
        at = to.writeInt32BE(item?.byteLength ?? -1, at);
        if (item === undefined) continue;
        to.set(item, at);
        at += item.byteLength;
      }
    },
  };
}

/** The next value of a row that the server sent. */
export function nextCell(row: RowOfServer, { type }: Pick<Column, "type">): Cell {
  const own = row.bytes();
  if (own === undefined) return null;
  if (type === "text") return restored(own);
  if (type === "bytes") return own;
  const view = new DataView(own.buffer);
  return type === "int" ? view.getBigInt64(0) : view.getFloat64(0);
}
