import { createHash } from "node:crypto";
import type { RecordKey } from "../ports/store.ts";

/** What a cursor leads on through: a list of a device's records between two moments, epoch ms. */
export interface CursorScope {
  readonly list: string;
  readonly deviceKey: number;
  readonly from: number;
  readonly to: number;
}

type Scope = readonly (string | number)[];

/**
 * A place in a list as text for the API. Clients are not to read it. It holds for this scope alone: in another one it would skip records in
 * silence. (The hash finds mistakes; it keeps no secret, for a cursor opens nothing that its reader may not read anyway.)
 */
function bind(place: string, scope: Scope): string {
  const mark = createHash("sha256")
    .update([...scope, place].join(" "))
    .digest("base64url")
    .slice(0, 12);
  return Buffer.from(`${place}.${mark}`, "ascii").toString("base64url");
}

/** The numbers of the place that a cursor names; undefined: no cursor of ours, or one of another scope. */
function placeOf(text: string, scope: Scope): readonly number[] | undefined {
  const place = /^(-?\d{1,16}(?:\.\d{1,16})?)\.[\w-]{12}$/.exec(Buffer.from(text, "base64url").toString("latin1"))?.[1];
  if (place === undefined || bind(place, scope) !== text) return undefined;
  const numbers = place.split(".").map(Number);
  return numbers.every(Number.isSafeInteger) ? numbers : undefined;
}

function scopeOf({ list, deviceKey, from, to }: CursorScope): Scope {
  return [list, deviceKey, from, to];
}

/** The place in a device's history after a record. */
export function cursorOf({ time, hash }: RecordKey, scope: CursorScope): string {
  return bind(`${time}.${hash}`, scopeOf(scope));
}

/** The record that a cursor names; undefined: no cursor of ours, or one of another scope. */
export function parseCursor(text: string, scope: CursorScope): RecordKey | undefined {
  const [time, hash] = placeOf(text, scopeOf(scope)) ?? [];
  return time === undefined || hash === undefined ? undefined : { time, hash };
}
