import { createHash } from "node:crypto";
import type { RecordKey } from "../ports/store.ts";

/** What a cursor leads on through: a list of a device's records between two moments, epoch ms. */
export interface CursorScope {
  readonly list: string;
  readonly deviceKey: number;
  readonly from: number;
  readonly to: number;
}

/**
 * The place in a device's history after a record, as text for the API. Clients are not to read it. It holds for this scope alone: in another one it would
 * skip records in silence. (The hash finds mistakes; it keeps no secret, for a cursor opens nothing that its reader may not read anyway.)
 */
export function cursorOf({ time, hash }: RecordKey, { list, deviceKey, from, to }: CursorScope): string {
  const place = `${time}.${hash}`;
  const mark = createHash("sha256")
    .update([list, deviceKey, from, to, place].join(" "))
    .digest("base64url")
    .slice(0, 12);
  return Buffer.from(`${place}.${mark}`, "ascii").toString("base64url");
}

/** The record that a cursor names; undefined: no cursor of ours, or one of another scope. */
export function parseCursor(text: string, scope: CursorScope): RecordKey | undefined {
  const match = /^(-?\d{1,16})\.(\d{1,16})\.[\w-]{12}$/.exec(Buffer.from(text, "base64url").toString("latin1"));
  if (match === null) return undefined;
  const key = { time: Number(match[1]), hash: Number(match[2]) };
  const safe = Number.isSafeInteger(key.time) && Number.isSafeInteger(key.hash);
  return safe && cursorOf(key, scope) === text ? key : undefined;
}
