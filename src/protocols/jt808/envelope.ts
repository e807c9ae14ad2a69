import { xor8 } from "../../wire/checksums.ts";
import type { DecodeOptions, MessageKey } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";

/** Delimiter of the standard (4.4.2), and of trackers that swap its nibbles. */
export const delimiter = 0x7e;
export const otherDelimiter = 0xe7;
/** First byte of the text messages of padlocks. */
export const sentenceStart = 0x28;

/** Message ids whose serial number takes one byte. */
export const shortReport = 0x5501;
export const shortBlindReport = 0x5502;

/** An opened message. */
export interface Message {
  readonly type: number;
  /** "Message body attributes". */
  readonly attributes: number;
  readonly delimiter: number;
  /** Protocol version of the 2019 header; undefined: a header of 2011 or 2013. */
  readonly version: number | undefined;
  /** "Terminal phone number" as it came: a view. */
  readonly phone: Uint8Array;
  readonly serial: number;
  /** Number of this part, from 1, and of all parts of a message that was cut (4.4.3). */
  readonly part: { readonly number: number; readonly count: number } | undefined;
  /** The message body. */
  readonly reader: Reader;
}

/** What a pair of an escape sequence stands for; undefined: it is none. */
function unescapedPair(first: number, second: number, alternative: boolean): number | undefined {
  if (!alternative) return first === 0x7d && (second === 1 || second === 2) ? 0x7c + second : undefined;
  if (first === 0xe6) return second === 1 ? 0xe6 : second === 2 ? otherDelimiter : undefined;
  return second === 1 ? 0x3e : second === 2 ? 0x3d : undefined;
}

/** Content between the delimiters without its escapes (4.4.2). Undefined: a sequence is none. */
function withoutEscapes(bytes: Uint8Array, alternative: boolean): Uint8Array | undefined {
  if (!alternative && !bytes.includes(0x7d)) return bytes;
  const plain = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    const escapes = alternative ? byte === 0xe6 || byte === 0x3e : byte === 0x7d;
    const value = escapes ? unescapedPair(byte, bytes[++at] ?? 0, alternative) : byte;
    if (value === undefined) return undefined;
    plain[length++] = value;
  }
  return plain.subarray(0, length);
}

function content(frame: Uint8Array): { readonly bytes: Uint8Array; readonly mark: number } {
  const first = frame[0] ?? 0;
  if (first !== delimiter && first !== otherDelimiter) return { bytes: frame, mark: delimiter };
  const closed = frame.length > 1 && frame.at(-1) === first;
  return { bytes: frame.subarray(1, closed ? -1 : undefined), mark: first };
}

/** Bytes of a header without parts: id, attributes, phone, serial number. */
function headerLength(type: number, attributes: number, mark: number): number {
  const phone = attributes & 0x4000 ? 11 : mark === otherDelimiter ? 7 : 6;
  return 4 + phone + (type === shortReport || type === shortBlindReport ? 1 : 2);
}

/** Bytes of a message, as its header says, with the check code but without a body. */
function leastLength(bytes: Uint8Array, mark: number): number {
  const type = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0);
  const attributes = ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0);
  return headerLength(type, attributes, mark) + (attributes & 0x2000 ? 4 : 0) + 1;
}

/** Whether bytes are a message without its escapes: one of them is a delimiter, and the header's length fits. */
function isPlain(bytes: Uint8Array, mark: number): boolean {
  const attributes = ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0);
  return bytes.length === leastLength(bytes, mark) + (attributes & 0x3ff);
}

/** The key of a message: its id, or `sentence`. */
export function classify(frame: Uint8Array): MessageKey | undefined {
  const [first, second = 0, third = 0] = frame;
  if (first === sentenceStart) return "sentence";
  if (first === delimiter && second !== 0x7d && third !== 0x7d && frame.length > 2) return (second << 8) | third;
  const { bytes, mark } = content(frame.subarray(0, 8));
  const plain = withoutEscapes(bytes.subarray(0, 4), mark === otherDelimiter) ?? bytes;
  return plain.length < 2 ? undefined : ((plain[0] ?? 0) << 8) | (plain[1] ?? 0);
}

/**
 * Opens a frame; undefined where it is too short. `sound` is false where the check code or the length of the body
 * differs.
 */
export function open(
  frame: Uint8Array,
  options: DecodeOptions = {},
): { readonly message: Message; readonly sound: boolean } | undefined {
  const { bytes, mark } = content(frame);
  const alternative = mark === otherDelimiter;
  // `waybeam decode` may be given a message whose escapes were taken out already.
  const escaped = bytes.includes(mark) ? undefined : withoutEscapes(bytes, alternative);
  const plain = escaped ?? (isPlain(bytes, mark) ? bytes : undefined);
  if (plain === undefined || plain.length < leastLength(plain, mark)) return undefined;
  const end = plain.length - 1;
  const reader = new Reader(plain, 0, end);
  const type = reader.u16();
  const attributes = reader.u16();
  const version = attributes & 0x4000 ? reader.u8() : undefined;
  const phone = reader.take(version !== undefined ? 10 : alternative ? 7 : 6);
  const serial = type === shortReport || type === shortBlindReport ? reader.u8() : reader.u16();
  const part = attributes & 0x2000 ? { count: reader.u16(), number: reader.u16() } : undefined;
  // The sum alone does not see a damaged escape sequence, which makes the message a byte longer.
  const whole = reader.remaining === (attributes & 0x3ff);
  const sound = (whole && xor8(plain, 0, end) === plain[end]) || options.checksums === "ignore";
  return { message: { type, attributes, delimiter: mark, version, phone, serial, part, reader }, sound };
}

/** Whether a byte of a message must be escaped. */
function mustEscape(byte: number, mark: number): boolean {
  if (mark === delimiter) return byte === 0x7d || byte === 0x7e;
  return byte === 0xe6 || byte === 0xe7 || byte === 0x3d || byte === 0x3e;
}

/** Puts the check code behind a message, escapes in, and delimiters around it. */
function enclose(plain: Uint8Array, mark: number): Uint8Array {
  const code = xor8(plain);
  if (!mustEscape(code, mark) && !plain.some((byte) => mustEscape(byte, mark))) {
    const bytes = new Uint8Array(plain.length + 3);
    bytes.set(plain, 1);
    bytes[0] = mark;
    bytes[plain.length + 1] = code;
    bytes[plain.length + 2] = mark;
    return bytes;
  }
  const writer = new Writer(plain.length + 16).u8(mark);
  for (const byte of [...plain, code]) {
    if (!mustEscape(byte, mark)) writer.u8(byte);
    else if (mark === delimiter) writer.u8(0x7d).u8(byte - 0x7c);
    else if (byte >= 0xe6) writer.u8(0xe6).u8(byte - 0xe5);
    else writer.u8(0x3e).u8(0x3f - byte);
  }
  return writer.u8(mark).done();
}

/** Whom a message is for, and in which form. */
export type Address = Pick<Message, "delimiter" | "version" | "phone">;

/** A whole message of either side. The serial number of a 0x4401 takes one byte. */
export function seal(type: number, to: Address, serial: number, body: Uint8Array): Uint8Array {
  const writer = new Writer(body.length + 20).u16(type);
  writer.u16(body.length | (to.version !== undefined ? 0x4000 : 0));
  if (to.version !== undefined) writer.u8(to.version);
  writer.raw(to.phone);
  if (type === 0x4401) writer.u8(serial);
  else writer.u16(serial);
  return enclose(writer.raw(body).done(), to.delimiter);
}

/** Result codes of the general answers (8.1 and 8.2). */
export const success = 0;
export const notSupported = 3;

/** 0x8001 "Platform general response": serial number and id of the message, and a result. */
export function acknowledgement(message: Message, result: number = success): Uint8Array {
  const { serial, type } = message;
  const body = Uint8Array.of(serial >> 8, serial & 0xff, type >> 8, type & 0xff, result);
  return seal(0x8001, message, 0, body);
}
