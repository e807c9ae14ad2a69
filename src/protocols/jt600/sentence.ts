import type { MessageKey } from "../../wire/protocol.ts";
import { latin1Of } from "../../wire/reader.ts";

const open = 0x28;
const close = 0x29;
const comma = 0x2c;

/** A sentence in its parts: `(3301210003,U01,040812,...)` or `(8054201973,1,168,WLNET,5,...)`. */
export interface Sentence {
  readonly id: string;
  /** Numbers between the identifier and the word: a version, a serial number. */
  readonly numbers: readonly string[];
  readonly code: string;
  /** What stands behind the word. */
  readonly fields: readonly string[];
}

/** The bytes within the brackets, where the frame has them. */
export function contentOf(frame: Uint8Array): Uint8Array {
  return frame.subarray(frame[0] === open ? 1 : 0, frame[frame.length - 1] === close ? frame.length - 1 : frame.length);
}

/**
 * Index of a sentence's word among its fields: behind the identifier and at most two numbers. A command of the server
 * may begin with it.
 */
export function codeAt(fields: readonly string[]): number {
  let at = 0;
  while (at < 3 && /^\d{1,20}$/.test(fields[at] ?? "")) at++;
  return at;
}

/** The parts of a sentence; undefined: no identifier and word. */
export function sentenceOf(frame: Uint8Array): Sentence | undefined {
  const fields = latin1Of(contentOf(frame)).split(",");
  const [id = ""] = fields;
  const at = codeAt(fields);
  const code = fields[at] ?? "";
  if (id.length < 8 || at === 0 || !/^@?[A-Z][A-Z0-9]{0,5}$/.test(code)) return undefined;
  return { id, numbers: fields.slice(1, at), code, fields: fields.slice(at + 1) };
}

/** What a sentence calls its command, or a command itself: its word, and of a peripheral's the number behind it. */
export function nameOf(code: string, next: string | undefined): string {
  return code === "WLNET" || code === "OTA" ? `${code},${next ?? ""}` : code;
}

/** Words with a row of their own. */
const keys: ReadonlyMap<string, MessageKey> = new Map([
  ["U01", "position"],
  ["U02", "position"],
  ["U03", "position"],
  ["U06", "position"],
  ["U04", "U04"],
  ["U09", "U09"],
  ["W01", "W01"],
  ["P22", "P22"],
  ["P45", "P45"],
  ["P52", "P52"],
  ["@JT", "@JT"],
  ["WLNET,5", "WLNET,5"],
  ["WLNET,7", "WLNET,7"],
]);

/** The key of a sentence for the table, by the first fields of it that begin with no digit. */
export function keyOf(frame: Uint8Array): MessageKey {
  let at = frame[0] === open ? 1 : 0;
  for (let numbers = 0; numbers < 3 && isDigit(frame[at]); numbers++) {
    const end = frame.indexOf(comma, at);
    if (end < 0) return "answer";
    at = end + 1;
  }
  const word = wordFrom(frame, at);
  const name = word === "WLNET" ? `WLNET,${wordFrom(frame, at + word.length + 1)}` : word;
  return keys.get(name) ?? "answer";
}

/** The few characters from a place of a sentence on, up to a comma or the end. */
function wordFrom(frame: Uint8Array, from: number): string {
  let word = "";
  for (let at = from; at < frame.length && word.length < 8; at++) {
    const byte = frame[at] ?? 0;
    if (byte === comma || byte === close) break;
    word += String.fromCharCode(byte);
  }
  return word;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
