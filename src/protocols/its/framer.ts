import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";

/** Longest message: a location with the text of a command's answer has some 500 characters. */
const maximum = 2048;
/** Longest checksum behind the asterisk: 32 bits in hex. */
const maximumSum = 8;

const dollar = 0x24;
const asterisk = 0x2a;
const comma = 0x2c;
const cr = 0x0d;
const lf = 0x0a;

/**
 * Cuts messages that begin with `$`. They end at an asterisk, with or without a checksum behind it, at a line end,
 * or (of some makers) only where the next one begins; so the last of a stream may need the connection's pause.
 */
export const framer: Framer = {
  maximum,
  next: (buffer, offset) => cut(buffer, offset, false),
  settle: (buffer, offset) => cut(buffer, offset, true),
};

function cut(buffer: Uint8Array, offset: number, last: boolean): Framing {
  if (buffer[offset] !== dollar) {
    const start = buffer.indexOf(dollar, offset);
    return skip((start < 0 ? buffer.length : start) - offset, "between messages");
  }
  for (let at = offset + 1; at < buffer.length; at++) {
    const byte = buffer[at];
    if (byte === asterisk) return cutAtAsterisk(buffer, offset, at, last);
    if (byte !== dollar && byte !== cr && byte !== lf) continue;
    if (at + 1 === buffer.length && buffer[at - 1] === comma && !last) return more;
    if (isByteSum(buffer, at)) continue;
    return byte === dollar ? frame(offset, at) : cutAtLineEnd(buffer, offset, at, last);
  }
  return last ? frame(offset, buffer.length) : more;
}

/** Whether a byte is a checksum in one byte that may be any, between a comma and the asterisk. */
function isByteSum(buffer: Uint8Array, at: number): boolean {
  return buffer[at - 1] === comma && buffer[at + 1] === asterisk;
}

function cutAtLineEnd(buffer: Uint8Array, offset: number, at: number, last: boolean): Framing {
  if (buffer[at] === lf) return frame(offset, at, at + 1);
  if (at + 1 === buffer.length && !last) return more;
  return frame(offset, at, buffer[at + 1] === lf ? at + 2 : at + 1);
}

function cutAtAsterisk(buffer: Uint8Array, offset: number, at: number, last: boolean): Framing {
  let end = at + 1;
  while (end < buffer.length && end <= at + maximumSum && isHex(buffer[end] ?? 0)) end++;
  if (end === buffer.length && end <= at + maximumSum && !last) return more;
  if (buffer[end] === cr || buffer[end] === lf) return cutAtLineEnd(buffer, offset, end, last);
  if (end > at + 1) return frame(offset, end);
  // A letter or a digit may as well be the last field.
  const summed = isByteSum(buffer, at - 1) && !isLetterOrDigit(buffer[at - 1] ?? 0) && at - offset > 2;
  return frame(offset, summed ? at - 1 : at, end);
}

function isLetterOrDigit(byte: number): boolean {
  const letter = byte | 0x20;
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x7a);
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHex(byte: number): boolean {
  const letter = byte | 0x20;
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66);
}
