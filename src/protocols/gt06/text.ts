import type { Effect, Fix } from "../../model/effects.ts";
import type { MessageRow } from "../../wire/protocol.ts";
import type { Reader } from "../../wire/reader.ts";
import { nameOfFlag } from "./command.ts";
import { draft, fixOf, readingsOf } from "./report.ts";
import { acknowledged, type Handler, row, silent } from "./row.ts";
import type { Session } from "./session.ts";

/** Content encodings of 0x21. */
const ascii = 1;

function utf16(reader: Reader): string {
  let text = "";
  while (reader.remaining >= 2) text += String.fromCharCode(reader.u16());
  return text;
}

const place =
  /^Current position!\s*Lat:([NS])([\d.]+),\s*Lon:([EW])([\d.]+),\s*Course:([\d.]+),\s*Speed:([\d.]+)[^,]*,\s*DateTime:(\d{4}-\d\d-\d\d) +(\d\d:\d\d:\d\d)/;

/** The position in an answer to the command WHERE#; speed in km/h. */
function placeOf(text: string): Fix | undefined {
  const [, north, latitude, east, longitude, course, speed, date, time] = place.exec(text) ?? [];
  const at = Date.parse(`${date}T${time}Z`);
  const position = {
    time: at,
    valid: true,
    latitude: (north === "S" ? -1 : 1) * Number(latitude),
    longitude: (east === "W" ? -1 : 1) * Number(longitude),
    speed: Number(speed),
    course: Number(course),
  };
  const sound =
    !Number.isNaN(at) &&
    Math.abs(position.latitude) <= 90 &&
    Math.abs(position.longitude) <= 180 &&
    position.speed >= 0 &&
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

/** 0x15 (GT06 v1.8.1, 6.1.2): length of flag and text, server flag, text, language. An ICCID comes unasked. */
const oldAnswer: Handler = (message, session) => {
  const { reader } = message;
  const length = reader.u8();
  if (length <= 4) return acknowledged(message, session, { type: "ignored", reason: "empty text" });
  const { name: to } = nameOfFlag(reader.u32());
  const text = reader.latin1(length - 4);
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
