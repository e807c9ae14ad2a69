import type { Effect } from "../../model/effects.ts";
import { latin1Of, Reader } from "../../wire/reader.ts";
import { utc } from "../../wire/time.ts";
import type { ReadBody } from "./envelope.ts";
import type { Field } from "./fields.ts";
import { type Form, formOf } from "./form.ts";
import { type Base, effectOf, newRecord, type PositionRecord, putBase } from "./record.ts";

/** Bytes that every position has: with two empty texts, and times of four bytes. */
const shortest = 41;
/** The positions of a message were sent at one time, ms. */
const sameSending = 60_000;
/** Most bytes that are kept of what can't be read. */
const mostUnread = 256;
const percent = 0x25;

/** A position and when the tracker sent it. */
interface Sent {
  readonly base: Base;
  readonly at: number | undefined;
}

/** Positions in binary, one behind the other. (Protocol Document, 2.2.1) */
export const readBinary: ReadBody = (frame, { from, to }, session, { options }) => {
  const reader = new Reader(frame, from, to);
  let form = session.form;
  let first: number | undefined;
  const effects: Effect[] = [];
  while (effects.length === 0 || reader.remaining >= shortest) {
    const record = newRecord();
    const { base, at } = readBase(record, reader);
    putBase(record, base);
    first ??= at;
    const own = reader.remaining > 0 && reader.peek() === percent ? peekText(reader) : undefined;
    const used = own ?? options.format ?? "";
    if (used !== "") form = formOf(used, form) ?? form;
    if (used !== "" && used === form?.text) readCustom(record, reader, form);
    else if (!isPosition(reader, first)) keepRest(record, reader);
    effects.push(effectOf(record, base));
  }
  return { effects, form };
};

function readBase(record: PositionRecord, reader: Reader): Sent {
  const fixTime = readTime(reader);
  const clock = readTime(reader);
  const at = readTime(reader);
  if (fixTime === undefined) record.report.attributes.reportedDate = "invalid";
  const longitude = reader.i32() / 1e6;
  const latitude = reader.i32() / 1e6;
  const heading = reader.u16();
  const event = reader.u8();
  const odometer = reader.u32() / 10;
  const hdop = reader.u16() / 10;
  const inputs = reader.u8();
  const speed = reader.u16();
  const outputs = reader.u8();
  const analog = reader.u16() / 1000;
  const driver = readText(reader);
  const temperature = reader.i16() / 10;
  const temperature2 = reader.i16() / 10;
  const message = readText(reader);
  const place = { fixTime: fixTime ?? 0, clock, longitude, latitude, heading, event, odometer, hdop, inputs, speed };
  return { base: { ...place, outputs, analog, driver, temperature, temperature2, message }, at };
}

/**
 * Seconds since 1970, or (AT$FORM with dates) a year of two bytes, month, day, hour, minute and second. Undefined: no
 * calendar has it.
 */
function readTime(reader: Reader): number | undefined {
  const year = reader.peek() * 256 + reader.peek(1);
  if (year < 2000 || year > 2099) return reader.u32() * 1000;
  reader.skip(2);
  return utc(year, reader.u8(), reader.u8(), reader.u8(), reader.u8(), reader.u8());
}

/** Whether what follows can be another position: it has the time of sending of the first. */
function isPosition(reader: Reader, sent: number | undefined): boolean {
  if (reader.remaining < shortest) return false;
  const start = reader.offset;
  readTime(reader);
  readTime(reader);
  const at = readTime(reader);
  reader.seek(start);
  return at !== undefined && sent !== undefined && Math.abs(at - sent) <= sameSending;
}

/** A text that a zero ends. */
function peekText(reader: Reader): string {
  const { bytes, offset, remaining } = reader;
  const end = bytes.indexOf(0, offset);
  return latin1Of(bytes.subarray(offset, end < 0 ? offset + remaining : Math.min(end, offset + remaining)));
}

function readText(reader: Reader): string {
  const text = peekText(reader);
  reader.skip(Math.min(text.length + 1, reader.remaining));
  return text.trim();
}

/** The fields of AT$FORM; from one on that is not whole, or whose length is not known, they are kept as hex. */
function readCustom(record: PositionRecord, reader: Reader, form: Form): void {
  for (const field of form.fields)
    if (!readField(record, reader, field)) {
      keepRest(record, reader);
      return;
    }
}

function readField(record: PositionRecord, reader: Reader, { form, put }: Field): boolean {
  if (form === "unknown" || reader.remaining < lengths[form]) return false;
  if (form === "text") {
    const text = readText(reader);
    if (text !== "") put(record, text);
  } else put(record, readValue(reader, form));
  return true;
}

const lengths = { 1: 1, 2: 2, 4: 4, 8: 8, i8: 1, i16: 2, i32: 4, text: 1, axes: 6, samples: 60 } as const;

function readValue(reader: Reader, form: Exclude<keyof typeof lengths, "text">): number | string {
  switch (form) {
    case 1:
      return reader.u8();
    case 2:
      return reader.u16();
    case 4:
      return reader.u32();
    case 8:
      return String(reader.u64Exact());
    case "i8":
      return reader.i8();
    case "i16":
      return reader.i16();
    case "i32":
      return reader.i32();
    default:
      return reader.hex(lengths[form]);
  }
}

function keepRest({ report }: PositionRecord, reader: Reader): void {
  if (reader.remaining === 0) return;
  report.attributes.customData = reader.hex(Math.min(reader.remaining, mostUnread));
  reader.skip(reader.remaining);
}
