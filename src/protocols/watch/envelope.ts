import { latin1Of } from "../../wire/reader.ts";

/** The envelope `[maker*id*length*content]`, or with a number before the length: `[maker*id*index*length*content]`. */
export interface Envelope {
  readonly maker: string;
  readonly id: string;
  /** The message's number, four hex digits; undefined where the maker sends none. */
  readonly index: string | undefined;
  /** Bytes of the content by the length field. */
  readonly length: number;
  /** Offset of the content. */
  readonly content: number;
}

/** `[`, which a message begins with. */
export const bracketOpen = 0x5b;
/** `]`, which a message ends with. */
export const bracketClose = 0x5d;
const asterisk = 0x2a;
const comma = 0x2c;

const maximumId = 20;
const lengthDigits = 4;

/** Longest envelope around a content. */
export const maximumEnvelope = 48;

/** Reads the envelope's head at `at`. "more": it is not whole; undefined: there is none. */
export function envelopeAt(bytes: Uint8Array, at: number): Envelope | "more" | undefined {
  if (!isHead(bytes, at)) return undefined;
  const idEnd = asteriskIn(bytes, at + 4, maximumId);
  if (typeof idEnd !== "number") return idEnd;
  const firstEnd = asteriskIn(bytes, idEnd + 1, lengthDigits);
  if (typeof firstEnd !== "number") return firstEnd;
  const first = hexAt(bytes, idEnd + 1, firstEnd);
  const second = secondEnd(bytes, firstEnd + 1);
  if (first === undefined || second === "more") return second === "more" ? "more" : undefined;
  const maker = latin1Of(bytes.subarray(at + 1, at + 3));
  const id = latin1Of(bytes.subarray(at + 4, idEnd));
  if (second === undefined)
    return firstEnd - idEnd === lengthDigits + 1
      ? { maker, id, index: undefined, length: first, content: firstEnd + 1 }
      : undefined;
  const index = latin1Of(bytes.subarray(idEnd + 1, firstEnd));
  return { maker, id, index, length: hexAt(bytes, firstEnd + 1, second) ?? 0, content: second + 1 };
}

/** `[XX*` and the identifier's first character, as far as they are there. */
function isHead(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] !== bracketOpen) return false;
  const [first, second, third, fourth] = [bytes[at + 1], bytes[at + 2], bytes[at + 3], bytes[at + 4]];
  if ((first !== undefined && !isAlphanumeric(first)) || (second !== undefined && !isAlphanumeric(second)))
    return false;
  return (third === undefined || third === asterisk) && (fourth === undefined || isAlphanumeric(fourth));
}

/** Offset of the asterisk behind 1 to `most` letters and digits from `from` on. */
function asteriskIn(bytes: Uint8Array, from: number, most: number): number | "more" | undefined {
  for (let at = from; at <= from + most; at++) {
    const byte = bytes[at];
    if (byte === undefined) return "more";
    if (byte === asterisk) return at > from ? at : undefined;
    if (!isAlphanumeric(byte)) return undefined;
  }
  return undefined;
}

/** Offset of the asterisk behind four hex digits, where they are a length and not the content's first letters. */
function secondEnd(bytes: Uint8Array, from: number): number | "more" | undefined {
  for (let at = from; at < from + lengthDigits; at++) {
    const byte = bytes[at];
    if (byte === undefined) return "more";
    if (hexDigit(byte) === undefined) return undefined;
  }
  const end = from + lengthDigits;
  if (bytes[end] === undefined) return "more";
  return bytes[end] === asterisk ? end : undefined;
}

function hexAt(bytes: Uint8Array, from: number, to: number): number | undefined {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = hexDigit(bytes[at] ?? 0);
    if (digit === undefined) return undefined;
    value = value * 16 + digit;
  }
  return value;
}

function hexDigit(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}

function isAlphanumeric(byte: number): boolean {
  const letter = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x7a);
}

/** Whether bytes that may be cut short begin like an envelope; "sure" from the identifier on. */
export function beginsEnvelope(bytes: Uint8Array): "no" | "maybe" | "sure" {
  if (!isHead(bytes, 0)) return "no";
  if (bytes.length < 5) return "maybe";
  return envelopeAt(bytes, 0) === undefined ? "no" : "sure";
}

/** A whole message. */
export interface Message extends Envelope {
  /** What the content begins with, as it was sent. */
  readonly name: string;
  /** All of the content, still with its escapes. */
  readonly body: Uint8Array;
}

/**
 * The message of a frame. Without its last bracket the length field must say where the content ends; with it the length is not asked, for some firmware
 * counts wrongly.
 */
export function messageOf(frame: Uint8Array): Message | undefined {
  const envelope = envelopeAt(frame, 0);
  if (envelope === undefined || envelope === "more") return undefined;
  const closed = frame[frame.length - 1] === bracketClose;
  const end = closed ? frame.length - 1 : frame.length;
  if (end < envelope.content || (!closed && end - envelope.content !== envelope.length)) return undefined;
  const body = frame.subarray(envelope.content, end);
  const first = body.indexOf(comma);
  return { ...envelope, name: latin1Of(first < 0 ? body : body.subarray(0, first)), body };
}

/** Whether the content has at least `count` commas. */
export function hasCommas(body: Uint8Array, count: number): boolean {
  let at = -1;
  for (let found = 0; found < count; found++) {
    at = body.indexOf(comma, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** The content's fields, the name first. */
export function fieldsOf(message: Message): readonly string[] {
  return latin1Of(message.body).split(",");
}

/** A message's text: `[CS*8800000015*0002*LK]`. */
export function wrapped(sender: Pick<Envelope, "maker" | "id" | "index">, content: string): string {
  const length = content.length.toString(16).padStart(lengthDigits, "0");
  const index = sender.index === undefined ? "" : `${sender.index}*`;
  return `[${sender.maker}*${sender.id}*${index}${length}*${content}]`;
}
