import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import type { Certainty } from "../../wire/protocol.ts";
import { latin1Of } from "../../wire/reader.ts";

const dollar = 0x24;
const open = 0x28;
const close = 0x29;

/** Bytes that tell how long a binary message is: marker, identifier, version, type, length. */
export const headLength = 10;
/**
 * Longest message: answers with lists of cards have some hundred characters, packets of old positions 27 bytes for
 * each.
 */
const maximum = 2048;

/**
 * Whether a binary message is a lock's, with a version before its type: the high byte of its length is 0, and stands
 * where a vehicle tracker has the low byte.
 */
export function isLock(bytes: Uint8Array, at = 0): boolean {
  return bytes[at + 8] === 0;
}

/**
 * Bytes of a whole binary message. The length does not count the serial number at the end of a vehicle tracker's, and
 * its head has a byte less.
 */
function lengthOf(bytes: Uint8Array, at: number): number {
  const high = at + (isLock(bytes, at) ? 8 : 7);
  return headLength + (bytes[high] ?? 0) * 256 + (bytes[high + 1] ?? 0);
}

/** Cuts `$...` by its length and `(...)`, whose binary parts have their brackets escaped. */
export const framer: Framer = {
  maximum,
  next(buffer, offset) {
    const first = buffer[offset];
    if (first === dollar) return cutBinary(buffer, offset);
    if (first === open) return cutText(buffer, offset);
    return skip(junkLength(buffer, offset), "between messages");
  },
};

function cutBinary(buffer: Uint8Array, offset: number): Framing {
  for (let at = offset + 1; at < Math.min(offset + 6, buffer.length); at++)
    if (!isBcd(buffer[at])) return skip(junkLength(buffer, offset), "no identifier");
  if (buffer.length - offset < headLength) return more;
  const length = lengthOf(buffer, offset);
  if (length >= maximum) return skip(junkLength(buffer, offset), "longer than a message");
  return buffer.length - offset < length ? { type: "more", length } : frame(offset, offset + length);
}

function cutText(buffer: Uint8Array, offset: number): Framing {
  const end = buffer.indexOf(close, offset);
  if (end >= 0 && end - offset < maximum) return frame(offset, end + 1);
  return buffer.length - offset < maximum ? more : skip(junkLength(buffer, offset), "no end of a message");
}

/** Bytes up to the next marker. */
function junkLength(buffer: Uint8Array, offset: number): number {
  let at = offset + 1;
  while (at < buffer.length && buffer[at] !== dollar && buffer[at] !== open) at++;
  return at - offset;
}

function isBcd(byte: number | undefined): boolean {
  return byte !== undefined && byte >> 4 <= 9 && (byte & 0x0f) <= 9;
}

/** `(3301210003,U01,`, `(6221107674,2,U09,`, `(8054201973,1,168,WLNET,`: the words that trackers begin with. */
const sentence = /^\(\d{8,20},(?:@JT[,)]|[PSUW]\d\d[,)]|\d{1,3},(?:U\d\d,|\d{1,3},(?:WLNET|OTA),))/;
const sentencePart =
  /^\((?:\d{0,20}|\d{8,20},(?:@J?T?|[A-Z][A-Z0-9]{0,5}|\d{1,3}(?:,(?:U\d?\d?|\d{0,3}(?:,[A-Z]{0,5})?)?)?)?)$/;

/** Sure of a sentence by its word, of a binary message by its date. */
export function detect(bytes: Uint8Array): Certainty {
  if (bytes[0] === open) {
    const text = latin1Of(bytes.subarray(0, 48));
    if (sentence.test(text)) return "sure";
    return sentencePart.test(text) ? "maybe" : "no";
  }
  return bytes[0] === dollar ? detectBinary(bytes) : "no";
}

function detectBinary(bytes: Uint8Array): Certainty {
  for (let at = 1; at < Math.min(6, bytes.length); at++) if (!isBcd(bytes[at])) return "no";
  if (bytes.length < headLength) return "maybe";
  const lock = isLock(bytes);
  const type = bytes[lock ? 7 : 6] ?? 0;
  const length = lengthOf(bytes, 0) - headLength;
  if (type >> 4 === 0 || (lock ? length < shortestLock : length % 27 !== 0) || length >= maximum) return "no";
  const clock = bytes.subarray(lock ? 10 : 9, lock ? 16 : 15);
  if (!clock.every((byte, index) => isBcd(byte) && byte <= (clockEnds[index] ?? 0))) return "no";
  return clock.length === clockEnds.length ? "sure" : "maybe";
}

/** A lock's position, and its serial number. */
const shortestLock = 35;
/** Day, month, year, hour, minute, second in BCD at the most. */
const clockEnds = [0x31, 0x12, 0x99, 0x23, 0x59, 0x59];
