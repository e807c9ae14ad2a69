import type { Effect } from "../../model/effects.ts";
import { latin1Of } from "../../wire/reader.ts";
import { draft, readingsOf } from "../../wire/report.ts";
import { digitsValue, mismatch, parseDecimal } from "../../wire/text.ts";
import { digitTime } from "../../wire/time.ts";
import type { ReadBody } from "./envelope.ts";
import type { Field } from "./fields.ts";
import { type Form, formOf } from "./form.ts";
import { type Base, effectOf, newRecord, type PositionRecord, putBase } from "./record.ts";

/** Index of the text message, behind which the fields of AT$FORM stand. */
const messageAt = 16;
/** Ends a text among the fields. */
const textEnd = "\x1a";
/** No field has larger numbers. */
const largest = 2 ** 32;
/** Most characters that are kept of a line that can't be read. */
const mostUnread = 256;
/** Most digits of seconds since 1970. */
const mostSecondDigits = 10;

/** Positions in text, one a line. (Protocol Document, 2.2.2) */
export const readText: ReadBody = (frame, { from, to }, session, { options }) => {
  let form = session.form;
  const effects: Effect[] = [];
  const unread: string[] = [];
  for (const line of latin1Of(frame.subarray(from, to)).split("\n")) {
    const fields = line.trimEnd().split(",");
    if (fields.length === 1) continue;
    const own = fields[messageAt + 1] ?? "";
    const used = own.startsWith("%") ? own : (options.format ?? "");
    if (used !== "") form = formOf(used, form) ?? form;
    const effect = readLine(fields, used === form?.text ? form : undefined);
    if (effect === undefined) unread.push(line.trim());
    else effects.push(effect);
  }
  if (effects.length === 0) return { effects: [{ type: "failure", cause: "malformed" }] };
  return { effects: [...effects, ...unread.map(kept)], form };
};

/** A line that is no position, beside others that are: the whole message is acknowledged, so it is kept. */
function kept(line: string): Effect {
  const report = draft();
  report.attributes.unread = line.slice(0, mostUnread);
  return readingsOf(report);
}

function readLine(fields: readonly string[], form: Form | undefined): Effect | undefined {
  const record = newRecord();
  const fixTime = timeOf(fields[0] ?? "", record);
  const longitude = degreesOf(fields[3]);
  const latitude = degreesOf(fields[4]);
  if (fixTime === undefined || longitude === undefined || latitude === undefined) return undefined;
  const base: Base = {
    fixTime,
    clock: timeOf(fields[1] ?? "", undefined),
    longitude,
    latitude,
    heading: numberOf(record, fields[5], "heading"),
    event: numberOf(record, fields[6], "event"),
    // With a point it is in km.
    odometer: scaledOf(numberOf(record, fields[7], "totalOdometer"), fields[7], 10),
    hdop: scaledOf(numberOf(record, fields[8], "gpsHdop"), fields[8], 10),
    inputs: numberOf(record, fields[9], "inputs"),
    speed: within(numberOf(record, fields[10], "gpsSpeed")),
    outputs: numberOf(record, fields[11], "outputs"),
    analog: scaledOf(numberOf(record, fields[12], "analogInput"), fields[12], 1000),
    driver: plainText(fields[13]),
    temperature: scaledOf(numberOf(record, fields[14], "firstTemperature"), fields[14], 10),
    temperature2: scaledOf(numberOf(record, fields[15], "secondTemperature"), fields[15], 10),
    message: plainText(fields[messageAt]),
  };
  putBase(record, base);
  readCustom(record, fields, form);
  return effectOf(record, base);
}

/**
 * Seconds since 1970, or `yyyymmddhhmmss` of UTC. What no calendar has is 0, and the report says what was sent.
 * Undefined: it is neither.
 */
function timeOf(text: string, record: PositionRecord | undefined): number | undefined {
  const digits = text === "" ? mismatch : digitsValue(text, 0, text.length);
  if (digits === mismatch) return undefined;
  if (text.length <= mostSecondDigits) return digits * 1000;
  if (text.length !== 14) return undefined;
  const time = digitTime(text, 0, 14);
  if (time !== undefined || record === undefined) return time;
  record.report.attributes.reportedDate = text.slice(0, 8);
  record.report.attributes.reportedTime = text.slice(8);
  return 0;
}

/** Millionths of degrees; with a point degrees. */
function degreesOf(text = ""): number | undefined {
  const value = parseDecimal(text);
  return value === mismatch ? undefined : scaledOf(value, text, 1_000_000);
}

/** A number that a field can have. */
function plainNumber(text: string): number | typeof mismatch {
  const whole = digitsValue(text, 0, text.length);
  const value = whole === mismatch ? parseDecimal(text) : whole;
  return value === mismatch || Math.abs(value) > largest ? mismatch : value;
}

/** A number; what is none is kept under the name. */
function numberOf({ report }: PositionRecord, text: string | undefined, name: string): number | undefined {
  if (text === undefined || text === "") return undefined;
  const value = plainNumber(text);
  if (value !== mismatch) return value;
  report.attributes[name] = text;
  return undefined;
}

/** Some firmware writes the point of what is otherwise a count of tenths, thousandths or millionths. */
function scaledOf(value: number | undefined, text: string | undefined, divisor: number): number | undefined {
  return value === undefined || text?.includes(".") ? value : value / divisor;
}

function within(speed: number | undefined): number | undefined {
  return speed !== undefined && speed >= 0 && speed <= 1e4 ? speed : undefined;
}

function plainText(text = ""): string {
  if (text === "") return text;
  return (text.endsWith(textEnd) ? text.slice(0, -1) : text).trim();
}

/** The fields of AT$FORM; without their form they are kept together. */
function readCustom(record: PositionRecord, fields: readonly string[], form: Form | undefined): void {
  let at = messageAt + 1;
  for (const field of form?.fields ?? []) {
    let value = fields[at++];
    if (value === undefined) return;
    // The link to a map has a comma of its own.
    if (field.name === "link" && value.startsWith("http")) value += `,${fields[at++] ?? ""}`;
    value = plainText(value);
    if (value === "") continue;
    const number = isNumber(field) ? plainNumber(value) : value;
    if (number === mismatch) record.report.attributes[field.name] = value;
    else field.put(record, number);
  }
  const rest = fields.slice(at).map(plainText);
  while (rest.at(-1) === "") rest.pop();
  if (rest.length > 0) record.report.attributes.customData = rest.join(",");
}

/** What needs more than 32 bits is a text too. */
function isNumber({ form }: Field): boolean {
  return form === 1 || form === 2 || form === 4 || form === "i8" || form === "i16" || form === "i32";
}
