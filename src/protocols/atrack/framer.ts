import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import type { Certainty } from "../../wire/protocol.ts";

/** Prefix of keep-alives and acknowledgements. */
export const keepAlivePrefix = [0xfe, 0x02] as const;
/** Prefix, unit ID, sequence ID. */
export const keepAliveLength = 12;
/** Prefix, CRC and length stand before what the length of a binary message counts. */
export const binaryHead = 6;
/** The shortest body of a binary message: sequence ID and unit ID. */
const binaryIds = 10;

/** Between the fields of a text message. */
export const comma = 0x2c;
/** What the prefix of a binary message begins with. */
export const at = 0x40;
/** What answers to commands begin with. */
export const dollar = 0x24;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Prefix and a comma, four hex digits of the CRC and a comma stand before the length of a text message. */
const textLengthAt = 8;
/** Most digits of a length. */
const mostDigits = 5;
/** Longest answer to a command: a line of settings. */
const longestAnswer = 4096;

/**
 * Cuts messages by their length: text where a comma follows the prefix, else binary; answers to commands at their line
 * end.
 */
export const framer: Framer = {
  maximum: binaryHead + 0xffff,
  next(buffer, offset) {
    const available = buffer.length - offset;
    if (available === 0) return more;
    const first = buffer[offset];
    if (first === lineFeed || first === carriageReturn) return skip(1, "between messages");
    if (first === dollar) return answer(buffer, offset);
    if (available < 3) return more;
    if (first === keepAlivePrefix[0] && buffer[offset + 1] === keepAlivePrefix[1])
      return whole(buffer, offset, keepAliveLength);
    const head = textHead(buffer, offset);
    if (head === "more") return more;
    if (head !== undefined) return whole(buffer, offset, head.length);
    if (first !== at) return junk(buffer, offset);
    if (available < binaryHead) return { type: "more", length: binaryHead };
    const length = ((buffer[offset + 4] ?? 0) << 8) | (buffer[offset + 5] ?? 0);
    return length < binaryIds ? junk(buffer, offset) : whole(buffer, offset, binaryHead + length);
  },
};

function whole(buffer: Uint8Array, offset: number, length: number): Framing {
  return buffer.length - offset < length ? { type: "more", length } : frame(offset, offset + length);
}

function answer(buffer: Uint8Array, offset: number): Framing {
  const end = buffer.indexOf(lineFeed, offset);
  if (end >= 0) return frame(offset, end + 1);
  return buffer.length - offset < longestAnswer ? more : junk(buffer, offset);
}

/** Up to where another message may begin. */
function junk(buffer: Uint8Array, offset: number): Framing {
  let end = offset + 1;
  while (end < buffer.length && ![at, dollar, keepAlivePrefix[0]].includes(buffer[end] ?? 0)) end++;
  return skip(end - offset, "noStart");
}

/**
 * How long a text message is, and where the comma behind its length stands; "more": too few bytes; undefined: it is
 * none, though the CRC of a binary
 * one may begin with a comma.
 */
export function textHead(
  bytes: Uint8Array,
  offset = 0,
): { readonly length: number; readonly comma: number } | "more" | undefined {
  for (let index = 2; index < textLengthAt; index++) {
    const byte = bytes[offset + index];
    if (byte === undefined) return "more";
    if (index === 2 || index === textLengthAt - 1 ? byte !== comma : !isHexDigit(byte)) return undefined;
  }
  let length = 0;
  for (let index = textLengthAt; index <= textLengthAt + mostDigits; index++) {
    const byte = bytes[offset + index];
    if (byte === undefined) return "more";
    // The length counts from the comma behind it.
    if (byte === comma)
      return index > textLengthAt && length > 1 ? { length: index + length, comma: index } : undefined;
    if (!isDigit(byte)) return undefined;
    length = length * 10 + byte - 0x30;
  }
  return undefined;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHexDigit(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46);
}

const info = new TextEncoder().encode("$INFO=");

/** Each message names its unit; the prefix of positions is a setting of the tracker, "@P" as a rule. */
export function detect(bytes: Uint8Array): Certainty {
  const [first, second, third] = bytes;
  if (first === keepAlivePrefix[0] && second === keepAlivePrefix[1]) return third === 0 ? "sure" : "maybe";
  if (first === dollar) {
    const head = bytes.subarray(0, info.length);
    if (head.some((byte, index) => byte !== info[index])) return "no";
    return head.length === info.length ? "sure" : "maybe";
  }
  if (third === undefined) return "maybe";
  const head = textHead(bytes);
  if (head !== undefined) return head === "more" ? "maybe" : "sure";
  if (first !== at) return "no";
  const length = bytes.length < binaryHead ? binaryIds : ((bytes[4] ?? 0) << 8) | (bytes[5] ?? 0);
  return length < binaryIds ? "no" : "maybe";
}
