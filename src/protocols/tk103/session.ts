import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, Decoded } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import type { Sentence } from "./sentence.ts";

/** What a connection said before. */
export interface Tk103Session {
  /** Identifier of its last message; undefined: none had one. */
  readonly id: string | undefined;
  /** IMEI that one of its messages gave. */
  readonly imei: string | undefined;
}

/** A connection of which nothing is known. */
export const initialSession: Tk103Session = Object.freeze({ id: undefined, imei: undefined });

/** The handler of a row. */
export type Handler = (frame: Uint8Array, session: Tk103Session, context: DecodeContext) => Decoded<Tk103Session>;

/** A message whose identifier, time or coordinates can't be read. */
export const malformed: Effect = Object.freeze({ type: "failure", cause: "malformed" });

/** A message of a device that it names, and what it asks for. `imei`: a second identifier that it gives. */
export function decoded(
  session: Tk103Session,
  { id }: Sentence,
  effects: readonly Effect[],
  imei?: string,
): Decoded<Tk103Session> {
  if (effects.includes(malformed)) return { session, effects: [malformed] };
  // A handshake may come without the IMEI that the login gives.
  if (id === session.id && (imei === undefined || imei === session.imei)) return { session, effects };
  const ids = imei === undefined ? [id] : [id, imei];
  return { session: { id, imei }, effects: [{ type: "identify", ids }, ...effects] };
}

/** An answer of the server, `(identifier...)`. */
export function reply({ id }: Sentence, content: string, when: "identified" | "stored"): Effect {
  return { type: "reply", bytes: bytesOfLatin1(`(${id}${content})`), when };
}
