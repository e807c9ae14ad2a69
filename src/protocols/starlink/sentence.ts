import type { Effect } from "../../model/effects.ts";
import { sumOf } from "../../wire/checksums.ts";
import type { DecodeContext, Decoded } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { startOf } from "./framer.ts";

/** What a connection said before. */
export interface StarlinkSession {
  /** Identifiers of its last message; undefined: there was none. */
  readonly ids: readonly string[] | undefined;
}

/** A connection of which nothing is known. */
export const initialSession: StarlinkSession = Object.freeze({ ids: undefined });

/** A message in its parts. */
export interface Sentence {
  /** Number of the unit in six hex digits, or its IMEI. */
  readonly id: string;
  /** Type of the message, two digits. */
  readonly type: string;
  /** The unit's own number of the message, as it is written. */
  readonly reference: string;
  readonly fields: readonly string[];
  /** Whether the checksum is right. */
  readonly summed: boolean;
}

const dollar = 0x24;
const checksumLength = 2;

/** `$SLU<unit>,<type>,<reference>,<fields>*<checksum>`; undefined where it is not of that form. */
export function sentenceOf(frame: Uint8Array): Sentence | undefined {
  if (startOf(frame, 0) !== "whole") return undefined;
  const text = latin1Of(frame).trimEnd();
  const star = text.length - checksumLength - 1;
  if (text[star] !== "*") return undefined;
  const from = frame[0] === dollar ? 1 : 0;
  const [id = "", type = "", reference = "", ...fields] = text.slice(from + "SLU".length, star).split(",");
  if (!/^[0-9A-Za-z]{1,20}$/.test(id) || !/^\d{1,2}$/.test(type) || !/^\d{1,10}$/.test(reference)) return undefined;
  const summed = text.slice(star + 1) === checksum(frame.subarray(from, star));
  return { id, type: type.padStart(2, "0"), reference, fields, summed };
}

/** Sum of the characters behind the dollar, its lowest eight bits as two hex digits. */
function checksum(bytes: Uint8Array): string {
  return (sumOf(bytes) & 0xff).toString(16).toUpperCase().padStart(checksumLength, "0");
}

/** A message of either side, with its checksum and a line end. */
export function seal(content: string): Uint8Array {
  return bytesOfLatin1(`$${content}*${checksum(bytesOfLatin1(content))}\r\n`);
}

/**
 * Confirmation of a message: type 02, the server's own number of two digits, the unit's number of what is confirmed,
 * 01. The server's number is made of the unit's, so that it changes from one to the next.
 */
function confirmation({ id, reference }: Sentence): Effect {
  const own = reference.slice(-2).padStart(2, "0");
  return { type: "reply", bytes: seal(`SRV${id},02,${own},${reference},01`), when: "stored" };
}

/** What a message says, and further identifiers that it gives. */
export interface Understood {
  readonly effects: readonly Effect[];
  readonly ids?: readonly string[];
}

/** Reads a message of a known sender. */
export type Read = (sentence: Sentence, context: DecodeContext) => Understood;

/** A message whose time or coordinates can't be read. */
export const malformed: Understood = Object.freeze({ effects: [{ type: "failure", cause: "malformed" } as const] });

/** Handles a message by its fields, once its checksum is right: who sent it, what it says, and its confirmation. */
export function handler(read: Read) {
  return (frame: Uint8Array, session: StarlinkSession, context: DecodeContext): Decoded<StarlinkSession> => {
    const sentence = sentenceOf(frame);
    if (sentence === undefined) return { session, effects: malformed.effects };
    const { id, summed } = sentence;
    if (!summed && context.options.checksums !== "ignore")
      return { session, effects: [{ type: "failure", cause: "badChecksum", ids: [id] }] };
    const understood = read(sentence, context);
    // It may be written in the unit's own format, which is known once the unit is.
    if (understood === malformed)
      return {
        session,
        effects:
          session.ids === undefined ? [{ type: "identify", ids: [id] }, ...malformed.effects] : malformed.effects,
      };
    const ids = [id, ...(understood.ids ?? []).filter((other) => other !== id)];
    const effects = [...understood.effects, confirmation(sentence)];
    if (ids.join() === session.ids?.join()) return { session, effects };
    return { session: { ids }, effects: [{ type: "identify", ids }, ...effects] };
  };
}
