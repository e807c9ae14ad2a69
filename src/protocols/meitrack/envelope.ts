import type { Effect } from "../../model/effects.ts";
import { sumOf } from "../../wire/checksums.ts";
import type { DecodeContext, Decoded } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";

/** What a connection said before: the identifier of its last message. */
export interface MeitrackSession {
  readonly id: string | undefined;
}

/** A connection of which nothing is known. */
export const initialSession: MeitrackSession = Object.freeze({ id: undefined });

/** `$$<identifier><length>,<IMEI>,<type>,<body>*<checksum>\r\n`, taken apart (GPRS Protocol, 1.1). */
export interface Envelope {
  /** Data identifier: a reply to a command repeats that of the command. */
  readonly mark: string;
  readonly imei: string;
  /** Command type: `AAA`. */
  readonly type: string;
  /** Offset of the body, behind the comma of the type, and behind its last byte. */
  readonly from: number;
  readonly to: number;
}

const comma = 0x2c;
const star = 0x2a;
/** Where the length begins: behind `$$` and the data identifier. */
const lengthAt = 3;

/** Offset behind the message's last byte but for the line end. */
function endOf(frame: Uint8Array): number {
  const { length } = frame;
  return frame[length - 2] === 0x0d && frame[length - 1] === 0x0a ? length - 2 : length;
}

/** Takes a message apart; undefined where it is none. */
export function envelopeOf(frame: Uint8Array): Envelope | undefined {
  const end = endOf(frame);
  const to = end - 3;
  const imeiAt = frame.indexOf(comma, lengthAt) + 1;
  const typeAt = frame.indexOf(comma, imeiAt) + 1;
  if (imeiAt === 0 || imeiAt > 10 || typeAt === 0 || typeAt > 28 || frame[to] !== star) return undefined;
  const behind = frame.subarray(typeAt, typeAt + 9).indexOf(comma);
  const typeEnd = behind < 0 ? to : Math.min(typeAt + behind, to);
  const imei = latin1Of(frame.subarray(imeiAt, typeAt - 1));
  const type = latin1Of(frame.subarray(typeAt, Math.min(typeEnd, typeAt + 9)));
  if (!/^\d{5,16}$/.test(imei) || !/^[0-9A-Z]{1,8}$/.test(type)) return undefined;
  return { mark: String.fromCharCode(frame[2] ?? 0x41), imei, type, from: Math.min(typeEnd + 1, to), to };
}

/** Two hex digits: the lowest byte of the sum of the first bytes, the star with them. */
function checksum(bytes: Uint8Array, length: number): string {
  return (sumOf(bytes, 0, length) & 0xff).toString(16).toUpperCase().padStart(2, "0");
}

function isSummed(frame: Uint8Array, { to }: Envelope): boolean {
  return latin1Of(frame.subarray(to + 1, endOf(frame))) === checksum(frame, to + 1);
}

/** A message of either side: `head` is `$$` or `@@`; `content` the type and what follows. */
export function seal(head: string, mark: string, imei: string, content: Uint8Array | string): Uint8Array {
  const bytes = typeof content === "string" ? bytesOfLatin1(content) : content;
  // From the first comma to the line end: two commas, the star, the checksum and the line end beside IMEI and content.
  const start = bytesOfLatin1(`${head}${mark}${String(imei.length + bytes.length + 7).padStart(2, "0")},${imei},`);
  const all = new Uint8Array(start.length + bytes.length + 5);
  all.set(start);
  all.set(bytes, start.length);
  const at = start.length + bytes.length;
  all[at] = star;
  all.set(bytesOfLatin1(`${checksum(all, at + 1)}\r\n`), at + 1);
  return all;
}

/** What a message asks for beside saying who sent it. */
export type Read = (frame: Uint8Array, envelope: Envelope, context: DecodeContext) => readonly Effect[];

/** Handles a message by its body, once its envelope and its checksum are right. */
export function handler(read: Read) {
  return (frame: Uint8Array, session: MeitrackSession, context: DecodeContext): Decoded<MeitrackSession> => {
    const envelope = envelopeOf(frame);
    if (envelope === undefined) return { session, effects: [{ type: "failure", cause: "malformed" }] };
    const { imei } = envelope;
    if (context.options.checksums !== "ignore" && !isSummed(frame, envelope))
      return { session, effects: [{ type: "failure", cause: "badChecksum", ids: [imei] }] };
    const effects = read(frame, envelope, context);
    if (imei === session.id) return { session, effects };
    return { session: { id: imei }, effects: [{ type: "identify", ids: [imei] }, ...effects] };
  };
}
