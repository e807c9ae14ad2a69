import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import { latin1Of } from "../../wire/reader.ts";

/** Longest message: three of the four digits of a length can count. */
const maximum = 1024;
/** Shortest message: a heartbeat with the shortest identifier. */
const shortest = 14;

const dollar = 0x24;
const zero = 0x30;
const hash = 0x23;
const letterR = 0x52;
const letterU = 0x55;

/** What the answer to a command of an AVL begins with. It ends with `#`, as the command that it repeats. */
export const answerStart = "Receive:";
/** Longest answer: what it repeats is a text of an SMS. */
const longestAnswer = 256;
/** Longest part of a picture. */
const longestPart = 320;

/** Cuts `$$` messages by their length, parts of pictures (`$U...#`) and the texts that answer commands. */
export const framer: Framer = {
  maximum,
  next(buffer, offset) {
    if (buffer[offset] === dollar) return cut(buffer, offset);
    if (buffer[offset] === letterR) return answer(buffer, offset);
    return skip(junkLength(buffer, offset), "between messages");
  },
};

function junkLength(buffer: Uint8Array, offset: number): number {
  let at = offset + 1;
  while (at < buffer.length && buffer[at] !== dollar && buffer[at] !== letterR) at++;
  return at - offset;
}

function cut(buffer: Uint8Array, offset: number): Framing {
  const second = buffer[offset + 1];
  if (second === undefined) return more;
  if (second === letterU) return ended(buffer, offset, longestPart, "no end of a part of a picture");
  if (second !== dollar) return skip(1, "between messages");
  const waiting = buffer.length - offset;
  const width = buffer[offset + 2] === zero ? 4 : 2;
  if (waiting < 2 + width) return more;
  const length = lengthOf(latin1Of(buffer.subarray(offset + 2, offset + 2 + width)));
  if (length === undefined || length < shortest) return skip(2, "a length that no message has");
  const next = nextStart(buffer, offset + 2, Math.min(buffer.length, offset + length));
  if (next !== undefined) return skip(next - offset, "no end of a message");
  // Not how many: before they are there, the start of another message may come.
  return waiting < length ? more : frame(offset, offset + length);
}

/** Four decimal digits, or two hex digits of capitals. */
function lengthOf(text: string): number | undefined {
  if (/^\d{4}$/.test(text)) return Number(text);
  return /^[0-9A-F]{2}$/.test(text) ? Number.parseInt(text, 16) : undefined;
}

/** Where another message begins before `end`. */
function nextStart(buffer: Uint8Array, from: number, end: number): number | undefined {
  for (let at = buffer.indexOf(dollar, from); at >= 0 && at + 1 < end; at = buffer.indexOf(dollar, at + 1))
    if (buffer[at + 1] === dollar) return at;
  return undefined;
}

function answer(buffer: Uint8Array, offset: number): Framing {
  const start = latin1Of(buffer.subarray(offset, offset + answerStart.length));
  if (!answerStart.startsWith(start)) return skip(1, "between messages");
  return start.length < answerStart.length ? more : ended(buffer, offset, longestAnswer, "no end of an answer");
}

/** What ends with `#`, before the next `$` and within `longest` bytes. */
function ended(buffer: Uint8Array, offset: number, longest: number, defect: string): Framing {
  for (let at = offset + 1; at < offset + longest; at++) {
    const byte = buffer[at];
    if (byte === undefined) return more;
    if (byte === hash) return frame(offset, at + 1);
    if (byte === dollar) return skip(at - offset, defect);
  }
  return skip(longest, defect);
}
