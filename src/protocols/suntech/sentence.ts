import { latin1Of } from "../../wire/reader.ts";
import type { Draft } from "../../wire/report.ts";
import { digitsValue, mismatch, numberOf } from "../../wire/text.ts";
import { utc } from "../../wire/time.ts";

const semicolon = 0x3b;

/** A message's header: what made it, and which report it is. */
export interface Header {
  /** `ST300`, `SA200`, `ST910`; empty: the universal format. */
  readonly product: string;
  /** `STT`, `ALT`; of ST910 `Location`, `Alert`. */
  readonly type: string;
}

/** Offset behind the last character: line ends are passed over. */
export function endOf(frame: Uint8Array): number {
  let end = frame.length;
  while (end > 0 && (frame[end - 1] === 0x0d || frame[end - 1] === 0x0a)) end--;
  return end;
}

/** The fields of a message, split once at semicolons. */
export function fieldsOf(frame: Uint8Array): readonly string[] {
  return latin1Of(frame.subarray(0, endOf(frame))).split(";");
}

/** The first field, as text. */
export function headOf(frame: Uint8Array): string {
  const at = frame.indexOf(semicolon);
  const end = at < 0 ? endOf(frame) : at;
  return end > 12 ? "" : latin1Of(frame.subarray(0, end));
}

/**
 * `ST300STT` is product and type; `ST910` a product whose type is the second field; three letters are a type of the
 * universal format.
 */
export function headerOf(head: string): Header | undefined {
  const match = /^(?:(S[AT]\d{2,4}[A-Z]?))?([A-Z]{3})?$/.exec(head);
  if (match === null || head === "") return undefined;
  return { product: match[1] ?? "", type: match[2] ?? "" };
}

/** DEV_ID: digits; of some models letters too. */
export function isId(text: string | undefined): text is string {
  return text !== undefined && /^[0-9A-Za-z]{4,16}$/.test(text);
}

/** Whether fields[at] and the next are a date and a time by their form. */
export function isMoment(fields: readonly string[], at: number): boolean {
  return fields[at]?.length === 8 && fields[at + 1]?.length === 8 && fields[at + 1]?.[2] === ":";
}

/**
 * Epoch ms of DATE `yyyymmdd` and TIME `hh:mm:ss` in two fields. A moment that no calendar has is 0, and the report
 * says what was sent. Undefined: not of that form.
 */
export function momentOf(fields: readonly string[], at: number, report: Draft): number | undefined {
  const date = fields[at] ?? "";
  const time = fields[at + 1] ?? "";
  if (date.length !== 8 || time.length !== 8 || time[2] !== ":" || time[5] !== ":") return undefined;
  const year = digitsValue(date, 0, 4);
  const month = digitsValue(date, 4, 6);
  const day = digitsValue(date, 6, 8);
  const hour = digitsValue(time, 0, 2);
  const minute = digitsValue(time, 3, 5);
  const second = digitsValue(time, 6, 8);
  if (year === mismatch || month === mismatch || day === mismatch) return undefined;
  if (hour === mismatch || minute === mismatch || second === mismatch) return undefined;
  const moment = year < 100 ? undefined : utc(year, month, day, hour, minute, second);
  if (moment !== undefined) return moment;
  report.attributes.reportedDate = date;
  report.attributes.reportedTime = time;
  return 0;
}

/**
 * Whether fields[at] and the next are coordinates: `+37.478519`. Of the fields around them only coordinates have a
 * point.
 */
export function isPlace(fields: readonly string[], at: number): boolean {
  return isCoordinate(fields[at]) && isCoordinate(fields[at + 1]);
}

function isCoordinate(text: string | undefined): boolean {
  return text?.includes(".") === true && numberOf(text) !== undefined;
}

/** A speed in km/h; undefined where the field is none, or one that nothing has. */
export function speedOf(text: string | undefined): number | undefined {
  const value = numberOf(text);
  return value !== undefined && value >= 0 && value < 100_000 ? value : undefined;
}

/** Puts a text that was given under a name of its manual. */
export function keep(report: Draft, name: string, text: string | undefined): void {
  if (text !== undefined && text !== "") report.attributes[name] = text;
}
