import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, Decoded } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";

/** What a connection said before. */
export interface Gps103Session {
  /** IMEI of its last message; undefined: none had one. */
  readonly id: string | undefined;
  /**
   * What the tracker's own clock is ahead of UTC, ms: positions carry both times, other messages only the tracker's.
   */
  readonly offset: number | undefined;
}

/** A connection of which nothing is known. */
export const initialSession: Gps103Session = Object.freeze({ id: undefined, offset: undefined });

/** The handler of a row. */
export type Handler = (frame: Uint8Array, session: Gps103Session, context: DecodeContext) => Decoded<Gps103Session>;

/** A message whose identifier, time or coordinates can't be read. */
export const malformed: Effect = Object.freeze({ type: "failure", cause: "malformed" });

/** A message of a device that it names, and what it asks for. */
export function decoded(
  session: Gps103Session,
  id: string,
  effects: readonly Effect[],
  offset?: number,
): Decoded<Gps103Session> {
  if (id !== session.id) return { session: { id, offset }, effects: [{ type: "identify", ids: [id] }, ...effects] };
  const same = offset === undefined || offset === session.offset;
  return { session: same ? session : { id, offset }, effects };
}

/** An answer of these characters. */
export function reply(text: string, when: "identified" | "stored"): Effect {
  return { type: "reply", bytes: bytesOfLatin1(text), when };
}

/** The IMEI of a field `imei:490154203237518`; undefined: it is none. */
export function imeiOf(field: string | undefined): string | undefined {
  return field !== undefined && /^imei:\d{10,17}$/.test(field) ? field.slice(5) : undefined;
}
