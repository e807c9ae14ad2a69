import { latin1Of } from "../../wire/reader.ts";
import type { Draft } from "../../wire/report.ts";
import { numberOf } from "../../wire/text.ts";
import { digitTime } from "../../wire/time.ts";

/** A message of the text form: `+RESP:GTxxx,version,identifier,name,...,send time,count$`. */
export interface Sentence {
  readonly fields: readonly string[];
  /** `+RESP`, `+BUFF`, `+ACK` or `+NACK`. */
  readonly head: string;
  /** The manual's name of the message: `GTFRI`. */
  readonly type: string;
  /** Protocol version: the device type (two digits, or six in the long form) and the version of its manual. */
  readonly version: string;
  /** Device type, the first digits of the version. */
  readonly device: string;
  readonly id: string;
  /** Vehicle identification number, which GV500 puts in front of the device name. */
  readonly vin: string | undefined;
  /** Index of the first field behind the device name. */
  readonly body: number;
  /** Index of the send time, where the fields of the body end. */
  readonly end: number;
  readonly count: string;
}

const decoder = new TextDecoder();
const comma = 0x2c;

/** What messages of the HEX form begin with. */
const hexHeads: ReadonlySet<string> = new Set([
  ...["+RSP", "+BSP", "+EVT", "+BVT", "+INF", "+BNF", "+HBD", "+ACK", "+CRD", "+BRD", "+LGN"],
]);

/**
 * The name of a message for the table of messages: `GTFRI`, and for a command's answer its head. Undefined: it has
 * none.
 */
export function typeOf(frame: Uint8Array): string | undefined {
  if (frame[1] === 0) return "record";
  if (frame[1] === 0x10) return "record heartbeat";
  const start = latin1Of(frame.subarray(0, 12));
  const letters = start.slice(0, 4);
  if (start[4] !== ":" && hexHeads.has(letters)) return letters === "+ACK" ? "ACK" : letters;
  const end = start.indexOf(":");
  if (end < 4 || end > 6 || frame.length < end + 4) return undefined;
  const type = start.slice(end + 1, end + 6);
  if (!type.startsWith("GT")) return undefined;
  const head = start.slice(0, end);
  if (head === "+RESP" || head === "+BUFF") return isOldForm(frame, end) ? "old" : type;
  if (head === "+ACK") return type === "GTHBD" ? type : head;
  return head === "+NACK" ? head : undefined;
}

/** GT300, GL100 and their like have the identifier where others have the version, and the version behind the count. */
function isOldForm(frame: Uint8Array, colonAt: number): boolean {
  const first = frame.indexOf(comma, colonAt);
  return first > 0 && frame.indexOf(comma, first + 1) - first > 14;
}

/** Splits a message. Undefined: it has no identifier. */
export function sentenceOf(frame: Uint8Array): Sentence | undefined {
  let stop = frame.length;
  while (stop > 0 && isEnd(frame[stop - 1])) stop--;
  const fields = decoder.decode(frame.subarray(0, stop)).split(",");
  const [first = "", version = "", id = "", name = ""] = fields;
  if (!/^[0-9A-Za-z]{6,20}$/.test(id)) return undefined;
  const [head = "", type = ""] = first.split(":");
  const hasVin = isVin(name) && fields.length > 7;
  return {
    fields,
    head,
    type,
    version,
    device: version.length > 6 ? version.slice(0, 6) : version.slice(0, 2),
    id,
    vin: hasVin ? name : undefined,
    body: hasVin ? 5 : 4,
    end: fields.length - 2,
    count: fields.at(-1) ?? "",
  };
}

function isEnd(byte: number | undefined): boolean {
  return byte === 0x24 || byte === 0 || byte === 0x0d || byte === 0x0a;
}

/** Seventeen capital letters and digits, as no device name has. */
function isVin(text: string): boolean {
  return text.length === 17 && /^[0-9A-Z]{17}$/.test(text);
}

/** When the tracker sent the message. Undefined: it does not say. */
export function sendTimeOf({ fields, end }: Sentence): number | undefined {
  return timeOf(fields[end]);
}

/** `YYYYMMDDHHMMSS`. Undefined: it is no date. */
export function timeOf(text: string | undefined): number | undefined {
  return text?.length === 14 ? digitTime(text, 0, 14) : undefined;
}

/** Keeps a field under the manual's name for it, as it came. */
export function keep({ attributes }: Draft, name: string, text: string | undefined): void {
  if (text !== undefined && text !== "") attributes[name] = text;
}

/** Keeps a field under the manual's name for it: a number where it is one. */
export function keepNumber(report: Draft, name: string, text: string | undefined): void {
  const value = numberOf(text);
  if (value === undefined) keep(report, name, text);
  else report.attributes[name] = value;
}
