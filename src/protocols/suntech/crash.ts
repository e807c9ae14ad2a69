import type { Effect } from "../../model/effects.ts";
import { latin1Of, Reader } from "../../wire/reader.ts";
import { draft, fixOf } from "../../wire/report.ts";
import { numberOf } from "../../wire/text.ts";
import { utc } from "../../wire/time.ts";
import { isId } from "./sentence.ts";
import { decoded, type Handler, malformed, unnamed } from "./session.ts";

/** `CRR;DEV_ID;number;count;` */
const headLength = 23;
/** What stands behind each part: a semicolon and a checksum in hex. */
const tailLength = 3;
/** Positions of a crash report: s from the crash. */
const moments = [-3, -2, -1, 1] as const;
const samples = 100;
/** LAT, LON, SPD, CRS and the samples of three axes. */
const blockLength = 12 + samples * 6;
const wholeLength = 6 + moments.length * blockLength;

/** CRR: a crash in parts, which are joined: its time, then four positions with the accelerations of their second. */
export const crash: Handler = (frame, session) => {
  const [, id, number, count] = latin1Of(frame.subarray(0, headLength)).split(";");
  const end = frame[frame.length - 1] === 0x0d ? frame.length - 1 : frame.length;
  const part = numberOf(number);
  const parts = numberOf(count);
  if (!isId(id) || part === undefined || parts === undefined || end <= headLength + tailLength)
    return unnamed(session, malformed);
  const before = part <= 1 || id !== session.id ? new Uint8Array(0) : session.crash;
  const bytes = frame.subarray(headLength, end - tailLength);
  const room = Math.max(0, Math.min(bytes.length, wholeLength - before.length));
  const joined = new Uint8Array(before.length + room);
  joined.set(before);
  joined.set(bytes.subarray(0, room), before.length);
  if (part < parts)
    return decoded(session, { id, product: "", crash: joined }, [
      { type: "ignored", reason: "part of a crash report" },
    ]);
  const whole = { id, product: "", crash: new Uint8Array(0) };
  return decoded(session, whole, joined.length < wholeLength ? [malformed] : positionsOf(joined));
};

function positionsOf(bytes: Uint8Array): readonly Effect[] {
  const reader = new Reader(bytes);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = reader.take(6);
  const time = utc(year, month, day, hour, minute, second);
  return moments.map((seconds) => {
    const report = draft();
    const latitude = reader.i32le() / 1e7;
    const longitude = reader.i32le() / 1e7;
    const speed = reader.u16() / 100;
    const course = reader.u16() / 100;
    const triples = Array.from({ length: samples }, () => [reader.i16le(), reader.i16le(), reader.i16le()]);
    report.attributes.gSensor = JSON.stringify(triples);
    if (seconds === 1) report.alarms.push("accident");
    const at = time === undefined ? undefined : time + seconds * 1000;
    return fixOf({ time: at, valid: true, latitude, longitude, speed, course }, report);
  });
}
