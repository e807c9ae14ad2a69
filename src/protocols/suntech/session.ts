import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, Decoded } from "../../wire/protocol.ts";

/** What a connection said before. */
export interface SuntechSession {
  /** DEV_ID of its last message; undefined: none had one. */
  readonly id: string | undefined;
  /**
   * The maker's letters and model number of the headers (`ST300`); empty: the universal format, whose headers are three
   * letters.
   */
  readonly product: string;
  /** What came of a crash report that is not whole yet. */
  readonly crash: Uint8Array;
}

const noCrash = new Uint8Array(0);

/** A connection of which nothing is known. */
export const initialSession: SuntechSession = Object.freeze({ id: undefined, product: "SA200", crash: noCrash });

/** A message of a device that it names, and what it asks for. */
export function decoded(
  session: SuntechSession,
  sender: { readonly id: string; readonly product: string; readonly crash?: Uint8Array },
  effects: readonly Effect[],
): Decoded<SuntechSession> {
  const { id, product } = sender;
  // Reports of other kinds may come between the parts of a crash.
  const crash = sender.crash ?? (id === session.id ? session.crash : noCrash);
  const all: readonly Effect[] = id === session.id ? effects : [{ type: "identify", ids: [id] }, ...effects];
  if (id === session.id && product === session.product && crash === session.crash) return { session, effects: all };
  return { session: { id, product, crash }, effects: all };
}

/** A failure, or effects of a message that names no device. */
export function unnamed(session: SuntechSession, effect: Effect): Decoded<SuntechSession> {
  return { session, effects: [effect] };
}

/** The handler of a row. */
export type Handler = (frame: Uint8Array, session: SuntechSession, context: DecodeContext) => Decoded<SuntechSession>;

/** The answer to a message whose identifier, time or coordinates can't be read. */
export const malformed: Effect = Object.freeze({ type: "failure", cause: "malformed" });
