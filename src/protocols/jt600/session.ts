import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, Decoded } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";

/** What a connection said before. */
export interface Jt600Session {
  /** Identifier of its last message; undefined: none had one. */
  readonly id: string | undefined;
  /** IMEI that one of its messages gave beside it. */
  readonly imei: string | undefined;
}

/** A connection of which nothing is known. */
export const initialSession: Jt600Session = Object.freeze({ id: undefined, imei: undefined });

/** The handler of a row. */
export type Handler = (frame: Uint8Array, session: Jt600Session, context: DecodeContext) => Decoded<Jt600Session>;

/** A message whose identifier, time or coordinates can't be read. */
export const malformed: Effect = Object.freeze({ type: "failure", cause: "malformed" });

/** A message of a device that it names, and what it asks for. A lock gives its IMEI with its positions only. */
export function decoded(
  session: Jt600Session,
  id: string,
  effects: readonly Effect[],
  imei?: string,
): Decoded<Jt600Session> {
  if (effects.some(({ type }) => type === "failure")) return { session, effects };
  if (id === session.id && (imei === undefined || imei === session.imei)) return { session, effects };
  const ids = imei === undefined ? [id] : [id, imei];
  return { session: { id, imei }, effects: [{ type: "identify", ids }, ...effects] };
}

/** An answer of the server: its text in brackets. */
export function reply(content: string, when: "identified" | "stored"): Effect {
  return { type: "reply", bytes: bytesOfLatin1(`(${content})`), when };
}

/** The IMEI in a text of digits, which a zero or an F fills to sixteen; undefined: it is none. */
export function imeiOf(digits: string): string | undefined {
  return /^0?([1-9]\d{14})f?$/.exec(digits)?.[1];
}
