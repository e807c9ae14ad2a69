import type { Effect, Fix } from "../../model/effects.ts";
import type { MessageRow } from "../../wire/protocol.ts";
import type { Reader } from "../../wire/reader.ts";
import { draft, fixOf, readingsOf } from "../../wire/report.ts";
import { mismatch, parseDecimal } from "../../wire/text.ts";
import { nameOfFlag } from "./command.ts";
import { acknowledged, type Handler, row, silent } from "./row.ts";
import type { Session } from "./session.ts";

/** Content encodings of 0x21. */
const ascii = 1;

function utf16(reader: Reader): string {
  let text = "";
  while (reader.remaining >= 2) text += String.fromCharCode(reader.u16());
  return text.toWellFormed();
}

const place =
  /^Current position!\s*Lat:([NS])([\d.]+),\s*Lon:([EW])([\d.]+),\s*Course:([\d.]+),\s*Speed:([\d.]+)[^,]*,\s*DateTime:(\d{4}-\d\d-\d\d) +(\d\d:\d\d:\d\d)/;

/** km/h; a faster tracker has sent something else. */
const fastest = 100_000;

/** NaN, which no comparison holds for, where a text is no number. */
function numberOf(text = ""): number {
  const value = parseDecimal(text);
  return value === mismatch ? Number.NaN : value;
}

/** The position in an answer to the command WHERE#; speed in km/h. */
function placeOf(text: string): Fix | undefined {
  const [, north, latitude, east, longitude, course, speed, date, time] = place.exec(text) ?? [];
  const at = Date.parse(`${date}T${time}Z`);
  const position = {
    time: at,
    valid: true,
    // Adding zero makes a minus zero plain.
    latitude: (north === "S" ? -1 : 1) * numberOf(latitude) + 0,
    longitude: (east === "W" ? -1 : 1) * numberOf(longitude) + 0,
    speed: numberOf(speed),
    course: numberOf(course),
  };
  const sound =
    !Number.isNaN(at) &&
    Math.abs(position.latitude) <= 90 &&
    Math.abs(position.longitude) <= 180 &&
    position.speed <= fastest &&
    position.course <= 360;
  const fix = sound ? fixOf(position, draft()) : undefined;
  return fix?.type === "fix" ? fix : undefined;
}

/** 0x21 (JM-VL03 v1.1.2, online command): server flag, encoding, the command's answer as text. No answer. */
const answer: Handler = (message, session) => {
  const { reader } = message;
  const { name: to } = nameOfFlag(reader.u32());
  const text = reader.u8() === ascii ? reader.latin1(reader.remaining) : utf16(reader);
  const fix = placeOf(text);
  const result: Effect = { type: "commandResult", text, ...(to !== undefined && { to }) };
  return fix === undefined ? silent(session, result) : silent(session, fix, result);
};

/** What 0x15 says: the text, and the server flag where there is one. */
interface OldAnswer {
  readonly text: string;
  readonly flag?: number;
}

const languageSize = 2;

/**
 * The content of 0x15 (GT06 v1.8.1, 6.1.2): length of flag and text, server flag, text, language. Clones leave out the
 * length and send a flag of zero in its place, or leave out the flag, so that the length counts the text alone.
 * Undefined: there is no text.
 */
function readOldAnswer(reader: Reader): OldAnswer | undefined {
  const start = reader.offset;
  const length = reader.u8();
  if (length === 0 && reader.remaining > 3 + languageSize) {
    reader.seek(start);
    const flag = reader.u32();
    const text = reader.latin1(reader.remaining - languageSize);
    return flag === 0 && isPrintable(text.charCodeAt(0)) ? { text: trimmed(text) } : undefined;
  }
  if (length >= 4 && length <= reader.remaining && [0, 1, 2, 3].every((at) => isPrintable(reader.peek(at))))
    return { text: trimmed(reader.latin1(length)) };
  if (length <= 4) return undefined;
  const flag = reader.u32();
  return { flag, text: trimmed(reader.latin1(length - 4)) };
}

/** ASCII; the flags that this service sends count from 1, so they begin with a zero. */
function isPrintable(byte: number): boolean {
  return byte >= 0x20 && byte < 0x7f;
}

/** Some trackers fill up their texts with zeros. */
function trimmed(text: string): string {
  return text.replace(/\0+$/, "");
}

/** 0x15: the answer to a command. An ICCID comes unasked. */
const oldAnswer: Handler = (message, session) => {
  const read = readOldAnswer(message.reader);
  if (read === undefined) return acknowledged(message, session, { type: "ignored", reason: "empty text" });
  const { text } = read;
  const { name: to } = nameOfFlag(read.flag ?? 0);
  const iccid = /^<ICCID:([0-9A-Fa-f]{1,20})/.exec(text)?.[1];
  if (iccid === undefined)
    return acknowledged(message, session, { type: "commandResult", text, ...(to !== undefined && { to }) });
  const report = draft();
  report.readings.iccid = iccid;
  return acknowledged(message, session, readingsOf(report));
};

/** Answers to commands. */
export const textRows: readonly MessageRow<Session>[] = [
  row("command answer (old)", [0x15], oldAnswer),
  row("command answer", [0x21], answer),
];
