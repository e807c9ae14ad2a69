import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import { headLength, idBytes, knownLengths, maximumBinary, minimumBinary } from "./binary-layout.ts";

/** Longest sentence: a list of cells has about 300 characters, the text of an SMS some hundred. */
const maximumSentence = 1024;
/** Bytes of a message that begins with `X`, whose meaning no manual tells. */
const unknownLength = 32;

const asterisk = 0x2a;
const dollar = 0x24;
const hash = 0x23;
const letterX = 0x58;
const comma = 0x2c;
const cr = 0x0d;
const lf = 0x0a;

/**
 * Cuts sentences `*...#` and binary messages `$...`, mixed in any order, with or without line ends between them.
 *
 * A binary message has neither a length field nor an end mark, and the longer kinds begin like the shorter ones. So its end is where another
 * message begins, or where nothing follows.
 */
export const framer: Framer = {
  maximum: maximumSentence,
  next: (buffer, offset) => cut(buffer, offset, false),
  settle: (buffer, offset) => cut(buffer, offset, true),
};

function cut(buffer: Uint8Array, offset: number, ended: boolean): Framing {
  switch (buffer[offset]) {
    case asterisk: {
      const end = buffer.indexOf(hash, offset);
      return end < 0 ? more : frame(offset, end + 1, afterLineEnd(buffer, end + 1));
    }
    case dollar:
      return cutBinary(buffer, offset, ended);
    case letterX:
      return buffer.length - offset < unknownLength ? more : frame(offset, offset + unknownLength);
    default:
      return skip(junkLength(buffer, offset), "between messages");
  }
}

function cutBinary(buffer: Uint8Array, offset: number, ended: boolean): Framing {
  const waiting = buffer.length - offset;
  if (waiting < headLength) return more;
  if (idBytes(buffer, offset) === undefined) return skip(junkLength(buffer, offset), "binary message without head");
  if (waiting < minimumBinary) return more;
  const last = Math.min(waiting, maximumBinary);
  for (let length = minimumBinary; length < last; length++) {
    const start = afterLineEnd(buffer, offset + length);
    const begins = messageBegins(buffer, start, ended, knownLengths.has(length));
    if (begins === "more") return more;
    if (begins) return frame(offset, offset + length, start);
  }
  if (waiting <= maximumBinary) return ended ? frame(offset, buffer.length) : more;
  // Whatever follows is no message: what every kind begins with is good for a fix.
  return frame(offset, offset + minimumBinary);
}

/** Whether a message begins at `at`. "more": the bytes that tell have not arrived. `believed`: a message may well end before it. */
function messageBegins(buffer: Uint8Array, at: number, ended: boolean, believed: boolean): boolean | "more" {
  const marker = buffer[at];
  if (marker === undefined) return ended ? at === buffer.length : "more";
  if (marker === asterisk) {
    if (buffer.length - at < 4) return ended ? believed : "more";
    return isLetter(buffer[at + 1]) && isLetter(buffer[at + 2]) && buffer[at + 3] === comma;
  }
  if (marker !== dollar) return false;
  if (buffer.length - at < headLength) return ended ? believed : "more";
  return idBytes(buffer, at) !== undefined;
}

function isLetter(byte: number | undefined): boolean {
  const letter = (byte ?? 0) | 0x20;
  return letter >= 0x61 && letter <= 0x7a;
}

/** Offset after a line end, where one stands at `at`. */
function afterLineEnd(buffer: Uint8Array, at: number): number {
  if (buffer[at] === cr) return buffer[at + 1] === lf ? at + 2 : at;
  return at;
}

/** Bytes up to the next marker. */
function junkLength(buffer: Uint8Array, offset: number): number {
  let at = offset + 1;
  while (at < buffer.length && buffer[at] !== asterisk && buffer[at] !== dollar && buffer[at] !== letterX) at++;
  return at - offset;
}
