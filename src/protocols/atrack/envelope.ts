import type { Effect } from "../../model/effects.ts";
import { crc16Arc } from "../../wire/checksums.ts";
import type { DecodeContext, Decoded } from "../../wire/protocol.ts";
import { latin1Of, Reader } from "../../wire/reader.ts";
import { digitsValue, mismatch } from "../../wire/text.ts";
import type { Form } from "./form.ts";
import { binaryHead, comma, keepAliveLength, keepAlivePrefix, textHead } from "./framer.ts";

/** What a connection said before: its unit, and the form of its last positions. */
export interface AtrackSession {
  readonly id: string | undefined;
  readonly form: Form | undefined;
}

/** A connection of which nothing is known. */
export const initialSession: AtrackSession = Object.freeze({ id: undefined, form: undefined });

/** A message taken apart, text or binary. (Protocol Document, 2.2) */
export interface Envelope {
  /** Unit ID: the IMEI, or a number that was set. */
  readonly id: string;
  /** Some firmware counts beyond 16 bits in text: the lower ones acknowledge. */
  readonly sequence: number;
  /** Where the body begins and ends in the frame. */
  readonly from: number;
  readonly to: number;
  /** Whether the CRC is right. */
  readonly summed: boolean;
}

/** Greatest unit ID: eight bytes. */
const greatestId = 0xffff_ffff_ffff_ffffn;

/**
 * `prefix,CRC,length,sequence ID,unit ID,`: the CRC-16/ARC covers all from the comma behind it. Undefined: it is none.
 */
export function textEnvelope(frame: Uint8Array): Envelope | undefined {
  const head = textHead(frame);
  if (head === undefined || head === "more") return undefined;
  const idAt = frame.indexOf(comma, head.comma + 1) + 1;
  const from = idAt === 0 ? 0 : frame.indexOf(comma, idAt) + 1;
  if (from === 0 || from - idAt > 21) return undefined;
  const sequence = digitsOf(latin1Of(frame.subarray(head.comma + 1, idAt - 1)));
  const id = latin1Of(frame.subarray(idAt, from - 1));
  if (sequence === undefined || !isId(id)) return undefined;
  const to = Math.min(frame.length, head.length);
  const sum = Number.parseInt(latin1Of(frame.subarray(3, 7)), 16);
  return { id, sequence, from, to, summed: crc16Arc(frame, 7, to) === sum };
}

/** Prefix, CRC, length, sequence ID and unit ID: the CRC-16/ARC covers all behind it, as far as the length says. */
export function binaryEnvelope(frame: Uint8Array): Envelope {
  const reader = new Reader(frame, 2);
  const sum = reader.u16();
  const length = reader.u16();
  const sequence = reader.u16();
  const id = String(reader.u64Exact());
  const to = Math.min(frame.length, binaryHead + length);
  return { id, sequence, from: reader.offset, to, summed: crc16Arc(frame, 4, to) === sum };
}

function digitsOf(text: string): number | undefined {
  const value = text === "" ? mismatch : digitsValue(text, 0, text.length);
  return value === mismatch ? undefined : value;
}

/** A unit ID in decimal digits. */
export function isId(text: string): boolean {
  return /^\d{1,19}$/.test(text) || (/^\d{20}$/.test(text) && BigInt(text) <= greatestId);
}

/**
 * 0xFE 0x02, unit ID, sequence ID: what acknowledges a message in either form, and the keep-alive. (Protocol Document,
 * 2.3)
 */
export function acknowledgement(id: string, sequence: number): Uint8Array {
  const bytes = new Uint8Array(keepAliveLength);
  bytes.set(keepAlivePrefix);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(keepAlivePrefix.length, BigInt(id));
  view.setUint16(keepAliveLength - 2, sequence);
  return bytes;
}

/** What a message's body says; the form of its positions is kept for the next ones. */
export interface BodyRead {
  readonly effects: readonly Effect[];
  readonly form?: Form | undefined;
}

/** Reads a body whose envelope and CRC are right. */
export type ReadBody = (
  frame: Uint8Array,
  envelope: Envelope,
  session: AtrackSession,
  context: DecodeContext,
) => BodyRead;

/** Handles a message: names its unit, reads its body, acknowledges it. */
export function handler(open: (frame: Uint8Array) => Envelope | undefined, read: ReadBody) {
  return (frame: Uint8Array, session: AtrackSession, context: DecodeContext): Decoded<AtrackSession> => {
    const envelope = open(frame);
    if (envelope === undefined) return { session, effects: [{ type: "failure", cause: "malformed" }] };
    const { id, sequence } = envelope;
    if (!envelope.summed && context.options.checksums !== "ignore")
      return { session, effects: [{ type: "failure", cause: "badChecksum", ids: [id] }] };
    const { effects, form } = read(frame, envelope, session, context);
    const known = id === session.id;
    const next = known && form === session.form ? session : { id, form };
    if (effects.some(({ type }) => type === "failure")) return { session, effects };
    return {
      session: next,
      effects: [
        ...(known ? [] : [{ type: "identify", ids: [id] } as const]),
        ...effects,
        { type: "reply", bytes: acknowledgement(id, sequence), when: "stored" },
      ],
    };
  };
}
