import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import type { Certainty } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";

/** Longest message: the longest known has 190 characters. */
const maximum = 1024;
/** Digits of the date and time that a message begins with, by the tracker's own clock. */
const longestClock = 12;

const cr = 0x0d;
const lf = 0x0a;
const comma = 0x2c;
const imei = bytesOfLatin1("imei:");
/** What the sentence's name, GPRMC or GNRMC, ends with. */
export const sentenceName: Uint8Array = bytesOfLatin1("RMC,");

/** Cuts lines. Some firmware ends no line: its message ends where another one begins, or at the connection's pause. */
export const framer: Framer = {
  maximum,
  next: (buffer, offset) => cut(buffer, offset, false),
  settle: (buffer, offset) => cut(buffer, offset, true),
};

function cut(buffer: Uint8Array, offset: number, last: boolean): Framing {
  if (!begins(buffer[offset])) {
    let at = offset + 1;
    while (at < buffer.length && !begins(buffer[at])) at++;
    return skip(at - offset, "between messages");
  }
  const waiting = Math.min(buffer.length, offset + maximum);
  const idAt = indexOfText(buffer, imei, offset, waiting);
  const lineEnd = indexOfLineEnd(buffer, offset, waiting);
  // A line may end within a message, behind its sentence, but not before that.
  const sentenceAt = indexOfText(buffer, sentenceName, offset, waiting);
  if (lineEnd >= 0 && (idAt < 0 || lineEnd < idAt) && (sentenceAt < 0 || lineEnd < sentenceAt))
    return skip(lineEnd + 1 - offset, "a line of no message");
  if (idAt < 0) return buffer.length - offset < maximum ? more : skip(1, "no IMEI");
  const end = indexOfLineEnd(buffer, idAt, waiting);
  const next = beginOfNext(buffer, idAt, end < 0 ? waiting : end);
  if (next !== undefined) return frame(offset, next);
  if (end >= 0) return frame(offset, end, end + 1);
  if (last) return frame(offset, waiting);
  return buffer.length - offset < maximum ? more : skip(1, "no end of a message");
}

/** A digit of the date, the comma behind it where there is none, or the sentence's first letter. */
function begins(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x30 && byte <= 0x39) || byte === comma || byte === 0x47);
}

/** Where another message begins behind an IMEI: at its sentence, or with the two fields before that. */
function beginOfNext(buffer: Uint8Array, idAt: number, end: number): number | undefined {
  const letters = indexOfText(buffer, sentenceName, idAt, end);
  if (letters < 0) return undefined;
  const sentenceAt = letters - 2;
  const least = idAt + imei.length;
  if (buffer[sentenceAt - 1] !== comma) return sentenceAt;
  const clockEnd = buffer.lastIndexOf(comma, sentenceAt - 2);
  if (clockEnd <= least) return sentenceAt;
  let at = clockEnd;
  while (at > least && clockEnd - at < longestClock && isDigit(buffer[at - 1])) at--;
  return at < clockEnd ? at : sentenceAt;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** Index of a text within [from, to); -1: it is not there. */
export function indexOfText(buffer: Uint8Array, text: Uint8Array, from: number, to: number): number {
  const [first = 0, second = 0] = text;
  for (let at = buffer.indexOf(first, from); at >= 0 && at + text.length <= to; at = buffer.indexOf(first, at + 1))
    if (buffer[at + 1] === second && text.every((byte, index) => buffer[at + index] === byte)) return at;
  return -1;
}

function indexOfLineEnd(buffer: Uint8Array, from: number, to: number): number {
  const part = buffer.subarray(from, to);
  const [feed, back] = [part.indexOf(lf), part.indexOf(cr)];
  const first = feed < 0 || (back >= 0 && back < feed) ? back : feed;
  return first < 0 ? -1 : from + first;
}

const beginning = /^(?:\d{6,12})?,[^,\r\n]{0,20},(?:G[PN]RMC,|,[FL],)/;
const beginningPart = /^(?:\d{0,12}|(?:\d{6,12})?,[^,\r\n]{0,20}(?:,(?:G(?:[PN](?:R(?:MC?)?)?)?|,[FL]?)?)?)$/;

/**
 * Sure of the date, a telephone number and the sentence's name; a sentence alone may be anybody's until its IMEI comes.
 */
export function detect(bytes: Uint8Array): Certainty {
  const text = latin1Of(bytes);
  if (beginning.test(text.slice(0, 48))) return "sure";
  if (/^G(?:[PN](?:R(?:M(?:C(?:,|$)|$)|$)|$)|$)/.test(text)) return text.includes("imei:") ? "sure" : "maybe";
  return text.length <= 48 && beginningPart.test(text) ? "maybe" : "no";
}
