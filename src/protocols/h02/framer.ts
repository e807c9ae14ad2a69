import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import { headLength, idBytes, knownLengths, maximumBinary, minimumBinary } from "./binary-layout.ts";

/** Longest sentence: a list of cells has about 300 characters, the text of an SMS some hundred. */
const maximumSentence = 1024;
/** Bytes of a message that begins with `X`, whose meaning no manual tells. */
const unknownLength = 32;

/** Every length that a binary message may have. */
const allLengths: readonly number[] = Array.from(
  { length: maximumBinary - minimumBinary },
  (_, index) => minimumBinary + index,
);

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
 * A binary message has neither a length field nor an end mark, and the longer kinds begin like the shorter ones. So its
 * end is where another message begins, or where nothing follows.
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
  // The known lengths first: a record number of 0x24 before the next marker may look like a message that begins a byte
  // earlier.
  return (
    cutBefore(buffer, offset, knownLengths, ended ? "nothing" : "more") ??
    (ended ? cutBefore(buffer, offset, knownLengths, "part") : undefined) ??
    cutBefore(buffer, offset, allLengths, ended ? "nothing" : "more") ??
    cutAlone(offset, waiting, ended)
  );
}

/** A message that no other one follows. Where too much follows, what every kind begins with is still good for a fix. */
function cutAlone(offset: number, waiting: number, ended: boolean): Framing {
  if (waiting > maximumBinary) return frame(offset, offset + minimumBinary);
  return ended ? frame(offset, offset + waiting) : more;
}

/** What follows the last byte: more to come; nothing; or nothing, though the bytes may end within a message. */
type Following = "more" | "nothing" | "part";

/** The message of one of these lengths, where another one, or nothing, follows it. Undefined: there is none. */
function cutBefore(
  buffer: Uint8Array,
  offset: number,
  lengths: readonly number[],
  following: Following,
): Framing | undefined {
  for (const length of lengths) {
    const next = afterLineEnd(buffer, offset + length);
    const begins = messageBegins(buffer, next, following);
    if (begins === "more") return more;
    if (begins) return frame(offset, offset + length, next);
  }
  return undefined;
}

/** Whether a message begins at `at`, or nothing. "more": the bytes that tell have not arrived. */
function messageBegins(buffer: Uint8Array, at: number, following: Following): boolean | "more" {
  if (at >= buffer.length) return following === "more" ? "more" : at === buffer.length;
  const marker = buffer[at];
  const needed = marker === asterisk ? 4 : marker === dollar ? headLength : 0;
  if (needed === 0) return false;
  if (buffer.length - at < needed) return following === "more" ? "more" : following === "part";
  if (marker === dollar) return idBytes(buffer, at) !== undefined;
  return isLetter(buffer[at + 1]) && isLetter(buffer[at + 2]) && buffer[at + 3] === comma;
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
