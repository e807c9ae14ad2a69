import type { Effect } from "../../model/effects.ts";
import { crc16Modbus, xor8 } from "../../wire/checksums.ts";
import type { DecodeContext, Decoded } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";

/** What a connection said before. */
export interface TotemSession {
  /** Identifier of its last message; undefined: none had one. */
  readonly id: string | undefined;
  /** Which of the two envelopes its messages have; undefined: not known yet. */
  readonly form: Form | undefined;
}

/**
 * `counted` (AT05, AT07, AT09): `$$`, length in four digits, type, identifier, `|`, body, exclusive or in two hex
 * digits. `hex` (AT03, AVL): `$$`, length in two hex digits, identifier, `|`, alarm type, body, CRC in four hex digits.
 */
export type Form = "counted" | "hex";

/** A connection of which nothing is known. */
export const initialSession: TotemSession = Object.freeze({ id: undefined, form: undefined });

/** A message in its parts. */
export interface Sentence {
  readonly form: Form;
  readonly id: string;
  /** Type or alarm type, two characters. */
  readonly kind: string;
  /** Between kind or identifier and checksum. */
  readonly body: string;
  /** Whether the checksum is right. */
  readonly summed: boolean;
}

const zero = 0x30;
const bar = 0x7c;
const shortestId = 5;
const longestId = 20;

/** Offset behind the message's last byte but for a line end. */
function endOf(frame: Uint8Array): number {
  const { length } = frame;
  return frame[length - 2] === 0x0d && frame[length - 1] === 0x0a ? length - 2 : length;
}

/** The form of a message that begins with `$$`: no length in hex digits begins with 0. */
export function formOf(frame: Uint8Array): Form {
  return frame[2] === zero ? "counted" : "hex";
}

/** Takes a message apart; undefined where it has no identifier or no room for a checksum. */
export function sentenceOf(frame: Uint8Array): Sentence | undefined {
  const form = formOf(frame);
  const counted = form === "counted";
  const idAt = counted ? 8 : 4;
  const sumAt = endOf(frame) - (counted ? 2 : 4);
  let idEnd = idAt;
  // Behind the identifier of a heartbeat comes the checksum at once.
  while (idEnd < sumAt && isDigit(frame[idEnd] ?? 0)) idEnd++;
  if (idEnd - idAt < shortestId || idEnd - idAt > longestId) return undefined;
  const barred = frame[idEnd] === bar && idEnd < sumAt;
  if (!barred && (!counted || idEnd !== sumAt)) return undefined;
  const text = latin1Of(frame.subarray(0, sumAt));
  const bodyAt = barred ? idEnd + 1 : idEnd;
  return {
    form,
    id: text.slice(idAt, idEnd),
    kind: counted ? text.slice(6, 8) : text.slice(bodyAt, bodyAt + 2),
    body: text.slice(counted ? bodyAt : bodyAt + 2),
    summed: latin1Of(frame.subarray(sumAt, endOf(frame))) === sumOf(frame, sumAt, form),
  };
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** The checksum of what stands before `end`, as it is written. */
function sumOf(bytes: Uint8Array, end: number, form: Form): string {
  const value = form === "counted" ? xor8(bytes, 0, end) : crc16Modbus(bytes, 0, end);
  return value
    .toString(16)
    .toUpperCase()
    .padStart(form === "counted" ? 2 : 4, "0");
}

/** A message of the counted form, of either side: type and what follows, in the envelope. */
export function seal(content: string): Uint8Array {
  const text = `$$${String(content.length + 8).padStart(4, "0")}${content}`;
  return bytesOfLatin1(text + sumOf(bytesOfLatin1(text), text.length, "counted"));
}

/** Reads a message of a known sender. */
export type Read = (sentence: Sentence) => readonly Effect[];

/** Handles a message by its body, once its envelope and its checksum are right. */
export function handler(read: Read) {
  return (frame: Uint8Array, session: TotemSession, { options }: DecodeContext): Decoded<TotemSession> => {
    const sentence = sentenceOf(frame);
    if (sentence === undefined) return { session, effects: [{ type: "failure", cause: "malformed" }] };
    const { id, form } = sentence;
    if (!sentence.summed && options.checksums !== "ignore")
      return { session, effects: [{ type: "failure", cause: "badChecksum", ids: [id] }] };
    const effects = read(sentence);
    if (effects.some(({ type }) => type === "failure")) return { session, effects };
    const known = id === session.id && form === session.form;
    return {
      session: known ? session : { id, form },
      effects: id === session.id ? effects : [{ type: "identify", ids: [id] }, ...effects],
    };
  };
}
