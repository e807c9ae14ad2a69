import { xor8 } from "../../wire/checksums.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { draft, fixOf, put, raise, readingsOf, within } from "../../wire/report.ts";
import { latitude as minutesLatitude, longitude as minutesLongitude, mismatch, numberOf } from "../../wire/text.ts";
import { kmPerMile } from "../../wire/units.ts";
import { putNetwork } from "./place.ts";
import { contentOf, nameOf, sentenceOf } from "./sentence.ts";
import { decoded, type Handler, malformed, reply } from "./session.ts";
import { decimalLatitude, decimalLongitude, putBattery, timeOf, wholeOf } from "./values.ts";

/** Fields of a position up to its serial number; the checksum, where it has one, stands behind that. */
const positionFields = 17;

/** Whether the fields are a position's: perhaps an alarm's number, then date, time and whether there is a fix. */
function isPosition(fields: readonly string[]): boolean {
  const at = fields[2] === "T" || fields[2] === "F" ? 0 : 1;
  const fixed = fields[at + 2];
  return (fixed === "T" || fixed === "F") && /^\d{6}$/.test(fields[at] ?? "") && /^\d{6}$/.test(fields[at + 1] ?? "");
}

/**
 * What is wrong with a position: its last field is the exclusive or of everything before it within the bracket, in two
 * hexadecimal digits. Older firmware ends with the serial number. Undefined: nothing.
 */
function defect(content: Uint8Array, fields: readonly string[]): "malformed" | "badChecksum" | undefined {
  if (fields.length <= positionFields) return isUnsummed(fields) ? undefined : "malformed";
  const sum = fields.at(-1) ?? "";
  if (!/^[0-9A-F]{2}$/i.test(sum)) return "malformed";
  return xor8(content, 0, content.length - 2) === Number.parseInt(sum, 16) ? undefined : "badChecksum";
}

/** Whether no comma is lost: the status stands at its place, and whole numbers behind it. */
function isUnsummed(fields: readonly string[]): boolean {
  const [status = "", ...numbers] = fields.slice(11);
  return /^[01]{8,}$/.test(status) && numbers.every((text) => text === "" || wholeOf(text) !== undefined);
}

/** Positions S39 answers, and those that are alarms S20: these have no checksum. */
export const position: Handler = (frame, session, context) => {
  const sentence = sentenceOf(frame);
  if (sentence === undefined || !isPosition(sentence.fields)) return { session, effects: [malformed] };
  const { id, code, fields } = sentence;
  const isAlarm = fields[2] !== "T" && fields[2] !== "F";
  const found = isAlarm ? undefined : defect(contentOf(frame), fields);
  if (found === "malformed") return { session, effects: [malformed] };
  if (found === "badChecksum" && context.options.checksums !== "ignore")
    return { session, effects: [{ type: "failure", cause: found, ids: [id] }] };
  const fix = readPosition(code, fields, isAlarm);
  return decoded(session, id, fix === undefined ? [malformed] : [fix, reply(isAlarm ? "S20" : "S39", "stored")]);
};

/**
 * Date, time, fix, latitude, longitude, mph, course, satellites, battery, status, cell, area, signal, mileage in km,
 * serial number.
 */
function readPosition(code: string, fields: readonly string[], isAlarm: boolean) {
  const report = draft();
  const { attributes } = report;
  if (isAlarm) {
    raise(report, "general");
    attributes.alarmCode = fields[0] ?? "";
  }
  attributes.event = code;
  const at = isAlarm ? 1 : 0;
  const time = timeOf(fields[at] ?? "", fields[at + 1] ?? "", report);
  const latitude = decimalLatitude.read(fields, at + 3);
  const longitude = decimalLongitude.read(fields, at + 5);
  if (time === mismatch || latitude === mismatch || longitude === mismatch) return undefined;
  const speed = within(report, fields[at + 7], 0, 10_000, "speed");
  const course = within(report, fields[at + 8], 0, 360, "course");
  put(report, "satellites", wholeOf(fields[at + 9]), "gpsSatellites");
  putBattery(fields[at + 10], report);
  if (fields[at + 11]) attributes.status = fields[at + 11] ?? "";
  const [cellId = 0, lac = 0, signal = 0] = fields.slice(at + 12, at + 15).map(wholeOf);
  putNetwork({ cellId, lac, signal }, report);
  put(report, "odometer", numberOf(fields[at + 15]), "mileage");
  // Three numbers whose meaning no document at hand tells.
  if (isAlarm && fields.length > at + positionFields) attributes.extra = fields.slice(at + positionFields).join(",");
  return fixOf(
    {
      time,
      valid: fields[at + 2] === "T",
      latitude,
      longitude,
      speed: speed === undefined ? undefined : Math.round(speed * kmPerMile * 1000) / 1000,
      course,
    },
    report,
  );
}

/**
 * `longitude,E,latitude,N,A,ddmmyy,hhmmss,km/h,course,battery,GPS signal,GSM signal,alert`, and what a firmware adds.
 */
export const w01: Handler = (frame, session) => {
  const sentence = sentenceOf(frame);
  if (sentence === undefined) return { session, effects: [malformed] };
  const { id, code, fields } = sentence;
  const report = draft();
  const { attributes } = report;
  attributes.event = code;
  const longitude = minutesLongitude.read(fields, 0);
  const latitude = minutesLatitude.read(fields, 2);
  const time = timeOf(fields[5] ?? "", fields[6] ?? "", report);
  if (time === mismatch || latitude === mismatch || longitude === mismatch) return { session, effects: [malformed] };
  const speed = within(report, fields[7], 0, 10_000, "speed");
  const course = within(report, fields[8], 0, 360, "course");
  putBattery(fields[9], report);
  const gps = wholeOf(fields[10]);
  if (gps !== undefined) attributes.gpsSignal = gps;
  putNetwork({ cellId: 0, lac: 0, signal: wholeOf(fields[11]) ?? 0 }, report);
  if (fields[12]) attributes.alertType = wholeOf(fields[12]) ?? fields[12];
  if (fields.length > 13) attributes.extra = fields.slice(13).join(",");
  return decoded(session, id, [fixOf({ time, valid: fields[4] === "A", latitude, longitude, speed, course }, report)]);
};

/** One end of a journey: `A,ddmmyyhhmmss,E,dddmm.mmmm,S,ddmm.mmmm`. Undefined: it is none. */
function readEnd(fields: readonly string[], at: number) {
  const [, clock = "", east = "", longitudeText = "", north = "", latitudeText = ""] = fields.slice(at, at + 6);
  const longitude = minutesLongitude.read([longitudeText, east], 0);
  const latitude = minutesLatitude.read([latitudeText, north], 0);
  const time = clock.length === 12 ? timeOf(clock.slice(0, 6), clock.slice(6), draft()) : mismatch;
  if (time === mismatch || time === undefined || longitude === mismatch || latitude === mismatch) return undefined;
  return { time, place: `${latitude},${longitude}` };
}

/** `number,kind,begin,end,km,seconds,...`: a journey that is over. Its ends are no positions of now. */
export const journey: Handler = (frame, session) => {
  const sentence = sentenceOf(frame);
  if (sentence === undefined) return { session, effects: [malformed] };
  const { id, code, fields } = sentence;
  const begin = readEnd(fields, 2);
  const end = readEnd(fields, 8);
  if (begin === undefined || end === undefined) return { session, effects: [malformed] };
  const report = draft();
  const { attributes } = report;
  attributes.event = code;
  attributes.journeyBegin = new Date(begin.time).toISOString();
  attributes.journeyBeginPosition = begin.place;
  attributes.journeyEndPosition = end.place;
  put(report, "tripOdometer", numberOf(fields[14]), "journeyDistance");
  const seconds = numberOf(fields[15]);
  if (seconds !== undefined) attributes.journeySeconds = seconds;
  if (fields.length > 16) attributes.extra = fields.slice(16).join(",");
  return decoded(session, id, [readingsOf(report, end.time)]);
};

/** `@JT` and `U04`: the tracker is there. */
export const heartbeat: Handler = (frame, session) => {
  const sentence = sentenceOf(frame);
  if (sentence === undefined) return { session, effects: [malformed] };
  return decoded(session, sentence.id, [{ type: "ignored", reason: "heartbeat" }]);
};

/** `P22,2`: a lock without a fix asks for the time, `ddmmyyhhmmss` in UTC. */
export const timeRequest: Handler = (frame, session, context) => {
  const sentence = sentenceOf(frame);
  if (sentence === undefined || sentence.fields[0] !== "2") return answer(frame, session, context);
  const [year = "", month = "", day = "", ...clock] = new Date(context.receivedAt)
    .toISOString()
    .slice(2, 19)
    .split(/[-T:]/);
  return decoded(session, sentence.id, [
    { type: "ignored", reason: "time request" },
    reply(`P22,${day}${month}${year}${clock.join("")}`, "identified"),
  ]);
};

/**
 * `P52,2,password`: the password that opens the lock from now on; the lock says it again until it is confirmed. Only
 * who may send commands sees it.
 */
export const dynamicPassword: Handler = (frame, session, context) => {
  const sentence = sentenceOf(frame);
  if (sentence === undefined || sentence.fields[0] !== "2" || !sentence.fields[1])
    return answer(frame, session, context);
  const text = `P52,${sentence.fields.join(",")}`;
  return decoded(session, sentence.id, [
    { type: "commandResult", text, to: "P52" },
    reply(`P52,2,${sentence.fields[1]}`, "identified"),
  ]);
};

/** An answer repeats its command's word. A damaged position that looks like one has a wrong checksum. */
export const answer: Handler = (frame, session, context) => {
  const sentence = sentenceOf(frame);
  if (sentence === undefined) return { session, effects: [malformed] };
  const { id, code, fields } = sentence;
  if (isPosition(fields)) return position(frame, session, context);
  return decoded(session, id, [
    { type: "commandResult", text: [code, ...fields].join(","), to: nameOf(code, fields[0]) },
  ]);
};

/** Bytes of a text, for the tests and the simulator. */
export function sumOfText(text: string): string {
  return xor8(bytesOfLatin1(text)).toString(16).toUpperCase().padStart(2, "0");
}
