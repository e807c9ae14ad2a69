import { readFileSync } from "node:fs";

/** A change of a file's content. */
export type Change = { readonly index: number; readonly file: number } & (
  | { readonly kind: "write"; readonly at: number; readonly data: Buffer }
  | { readonly kind: "truncate"; readonly size: number }
);

/** A change of names in folders. `create` and `folder` name a new file and a new folder. */
export type Naming = { readonly index: number } & (
  | { readonly kind: "create" | "folder"; readonly path: string; readonly file: number }
  | { readonly kind: "remove"; readonly path: string }
  | { readonly kind: "rename" | "link"; readonly from: string; readonly path: string }
);

/**
 * What has changed of a file, or of the names in a folder, is on the disk as far as it happened before the operation of
 * index `before`.
 */
export interface Sync {
  readonly kind: "sync";
  readonly index: number;
  readonly file: number;
  readonly before: number;
}

/** What preload/disk.c records of one operation. `index`: its place in the order of all. */
export type Operation = Change | Naming | Sync;

/** What a record holds. */
export interface Recorded {
  readonly operations: readonly Operation[];
  /** All operations, those that change nothing too. */
  readonly count: number;
}

/** Length of `struct operation`. */
const headBytes = 32;

/** Reads a record, up to where a kill may have cut it. Operations that failed are left out. */
export function readRecord(file: string): Recorded {
  const bytes = readFileSync(file);
  const operations: Operation[] = [];
  let index = 0;
  for (let at = 0; at + headBytes <= bytes.length; index++) {
    const textAt = at + headBytes;
    const dataAt = textAt + bytes.readUInt32LE(at + 4);
    const end = dataAt + numberAt(bytes, at + 24);
    if (end > bytes.length) break;
    const kind = bytes.toString("latin1", at, at + 1);
    if (kind === "N") operations.pop();
    const head = { index, file: numberAt(bytes, at + 8), number: numberAt(bytes, at + 16) };
    const operation = operationOf(kind, head, bytes.toString("utf8", textAt, dataAt), bytes.subarray(dataAt, end));
    if (operation !== undefined) operations.push(operation);
    at = end;
  }
  return { operations, count: index };
}

function numberAt(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}

interface Head {
  readonly index: number;
  readonly file: number;
  readonly number: number;
}

function operationOf(kind: string, { index, file, number }: Head, text: string, data: Buffer): Operation | undefined {
  const [from = "", to = ""] = text.split("\n");
  switch (kind) {
    case "W":
      return { kind: "write", index, file, at: number, data };
    case "T":
      return { kind: "truncate", index, file, size: number };
    case "S":
      return { kind: "sync", index, file, before: number };
    case "C":
      return { kind: "create", index, file, path: text };
    case "D":
      return { kind: "folder", index, file, path: text };
    case "U":
      return { kind: "remove", index, path: text };
    case "R":
      return { kind: "rename", index, from, path: to };
    case "L":
      return { kind: "link", index, from, path: to };
    case "K":
    case "N":
      return undefined;
    default:
      throw new Error(`the record of the disk can't be read: ${kind} ${text}`);
  }
}
