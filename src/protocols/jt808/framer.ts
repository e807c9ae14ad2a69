import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import type { Certainty } from "../../wire/protocol.ts";
import { delimiter, open, otherDelimiter, sentenceStart } from "./envelope.ts";

/** A body has at most 1,023 bytes, with its header and check code at most 1,050; each may be escaped. */
const maximum = 2200;

function isStart(byte: number | undefined): boolean {
  return byte === delimiter || byte === otherDelimiter || byte === sentenceStart;
}

function next(buffer: Uint8Array, offset: number): Framing {
  const first = buffer[offset];
  if (first === undefined) return more;
  if (!isStart(first)) {
    let at = offset + 1;
    while (at < buffer.length && !isStart(buffer[at])) at++;
    return skip(at - offset, "before a delimiter");
  }
  const end = buffer.indexOf(first === sentenceStart ? 0x29 : first, offset + 1);
  // Two delimiters beside each other: the first one ends a message whose start was lost.
  if (end === offset + 1 && first !== sentenceStart) return skip(1, "delimiter without a message");
  if (end < 0 || end - offset >= maximum) return buffer.length - offset >= maximum ? skip(1, "message too long") : more;
  return frame(offset, end + 1);
}

/** Cuts between two delimiters, and sentences between brackets. */
export const framer: Framer = Object.freeze({ maximum, next });

/**
 * Sentences of padlocks: `(740000000001,1,001,BASE,...)`. Older ones of their maker send WLNET and OTA in this form,
 * and speak a protocol of their own.
 */
const sentenceForm = /^\(\d{10,20},1,\d{3},(?!W|O)[A-Z]/;
const sentencePart = /^\((?:\d{0,20}|\d{10,20},(?:1(?:,(?:\d{0,3}(?:,(?:[WO].*)?)?)?)?)?)$/s;

function detectSentence(bytes: Uint8Array): Certainty {
  const text = String.fromCharCode(...bytes.subarray(0, 40));
  if (sentenceForm.test(text)) return "sure";
  return sentencePart.test(text) ? "maybe" : "no";
}

/** Sure once a whole message with its check code stands at the start; other protocols have the same first byte. */
export function detect(bytes: Uint8Array): Certainty {
  const first = bytes[0];
  if (first === sentenceStart) return detectSentence(bytes);
  if (first !== delimiter && first !== otherDelimiter) return "no";
  const framing = next(bytes, 0);
  if (framing.type === "frame") {
    const opened = open(bytes.subarray(framing.start, framing.stop));
    if (opened === undefined) return "no";
    return opened.sound ? "sure" : "maybe";
  }
  return framing.type === "more" && looksLikeHeader(bytes) ? "maybe" : "no";
}

/**
 * Ids of messages that a terminal sends: 0x00 to 0x1F, 0x20, 0x55 and 0x60 are their high bytes; no body is longer than
 * what the attributes can say.
 */
function looksLikeHeader(bytes: Uint8Array): boolean {
  const high = bytes[1];
  return high === undefined || high <= 0x20 || high === 0x55 || high === 0x60;
}
