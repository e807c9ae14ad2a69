import type { RecordKey } from "../ports/store.ts";

/** The place in a device's history after a record, as text for the API. Clients are not to read it. */
export function cursorOf({ time, hash }: RecordKey): string {
  return Buffer.from(`${time}.${hash}`, "ascii").toString("base64url");
}

/** The record that a cursor names; undefined: no cursor of ours. */
export function parseCursor(text: string): RecordKey | undefined {
  const match = /^(-?\d{1,16})\.(\d{1,16})$/.exec(Buffer.from(text, "base64url").toString("ascii"));
  if (match === null) return undefined;
  const key = { time: Number(match[1]), hash: Number(match[2]) };
  return Number.isSafeInteger(key.time) && Number.isSafeInteger(key.hash) && cursorOf(key) === text ? key : undefined;
}
