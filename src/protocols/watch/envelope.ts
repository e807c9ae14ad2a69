import { latin1Of } from "../../wire/reader.ts";

/**
 * Places in the envelope `[maker*id*length*content]`, or with a number before the length:
 * `[maker*id*index*length*content]`.
 */
export interface Envelope {
  /** Offset of the asterisk behind the identifier. */
  readonly idEnd: number;
  /** Offset of the asterisk behind the message's number; undefined where the maker sends none. */
  readonly indexEnd: number | undefined;
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
/** `,`, which stands between the fields of a content. */
export const comma = 0x2c;

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
  if (second === undefined)
    return firstEnd - idEnd === lengthDigits + 1
      ? { idEnd, indexEnd: undefined, length: first, content: firstEnd + 1 }
      : undefined;
  return { idEnd, indexEnd: firstEnd, length: hexAt(bytes, firstEnd + 1, second) ?? 0, content: second + 1 };
}

/** `[XX*` and the identifier's first character, as far as they are there. */
function isHead(bytes: Uint8Array, at: number): boolean {
  const there = bytes.length - at;
  if (bytes[at] !== bracketOpen) return false;
  if (there > 1 && !isAlphanumeric(bytes[at + 1] ?? 0)) return false;
  if (there > 2 && !isAlphanumeric(bytes[at + 2] ?? 0)) return false;
  if (there > 3 && bytes[at + 3] !== asterisk) return false;
  return there <= 4 || isAlphanumeric(bytes[at + 4] ?? 0);
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

/** Who a message is from. */
export interface Sender {
  readonly maker: string;
  readonly id: string;
  /** The message's number, four hex digits; undefined where the maker sends none. */
  readonly index: string | undefined;
}

/** A whole message. */
export interface Message extends Sender {
  /** What the content begins with, as it was sent. */
  readonly name: string;
  /** All of the content, still with its escapes. */
  readonly body: Uint8Array;
}

/** The message of a frame; undefined: it is none. */
export function messageOf(frame: Uint8Array): Message | undefined {
  const envelope = envelopeAt(frame, 0);
  if (envelope === undefined || envelope === "more") return undefined;
  const body = contentOf(frame, envelope);
  if (body === undefined) return undefined;
  const { idEnd, indexEnd } = envelope;
  return {
    maker: latin1Of(frame.subarray(1, 3)),
    id: latin1Of(frame.subarray(4, idEnd)),
    index: indexEnd === undefined ? undefined : latin1Of(frame.subarray(idEnd + 1, indexEnd)),
    name: nameOf(body),
    body,
  };
}

/** The content of a frame; undefined: the frame is no message. */
export function bodyOf(frame: Uint8Array): Uint8Array | undefined {
  const envelope = envelopeAt(frame, 0);
  return envelope === undefined || envelope === "more" ? undefined : contentOf(frame, envelope);
}

/**
 * Without its last bracket the length field must say where the content ends; with it the length is not asked, for some
 * firmware counts wrongly.
 */
function contentOf(frame: Uint8Array, { content, length }: Envelope): Uint8Array | undefined {
  const closed = frame[frame.length - 1] === bracketClose;
  const end = closed ? frame.length - 1 : frame.length;
  if (end < content || (!closed && end - content !== length)) return undefined;
  return frame.subarray(content, end);
}

/** What a content begins with, up to its first comma. */
export function nameOf(body: Uint8Array): string {
  const first = body.indexOf(comma);
  return latin1Of(first < 0 ? body : body.subarray(0, first));
}

/** Whether the content has at least `count` commas. */
export function hasCommas(body: Uint8Array, count: number): boolean {
  let found = 0;
  for (let at = 0; at < body.length && found < count; at++) if (body[at] === comma) found++;
  return found === count;
}

/** The content's fields, the name first. */
export function fieldsOf(message: Message): readonly string[] {
  return latin1Of(message.body).split(",");
}

/** A message's text: `[CS*8800000015*0002*LK]`. */
export function wrapped(sender: Sender, content: string): string {
  const length = content.length.toString(16).padStart(lengthDigits, "0");
  const index = sender.index === undefined ? "" : `${sender.index}*`;
  return `[${sender.maker}*${sender.id}*${index}${length}*${content}]`;
}
