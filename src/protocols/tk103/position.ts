import type { Report } from "../../model/effects.ts";
import { type Draft, fixOf, put, within } from "../../wire/report.ts";
import { degreesMinutes, mismatch, numberOf } from "../../wire/text.ts";
import { digitTime } from "../../wire/time.ts";
import { readStatus } from "./status.ts";

/** Where a position begins in a message's body: index of its validity, behind six digits of a date. */
export function validAt(body: string): number | undefined {
  for (let at = 6; at < body.length; at++) {
    const letter = body[at];
    if (letter !== "A" && letter !== "V") continue;
    const end = body[at - 1] === "," ? at - 1 : at;
    if (/^\d{6}$/.test(body.slice(end - 6, end))) return at;
  }
  return undefined;
}

/**
 * `yymmdd A ddmm.mmmmN dddmm.mmmmE speed hhmmss course status L mileage`, without anything between them or with commas
 * (KX402, 2.3). Undefined: its coordinates can't be read. `at`: where the validity stands.
 */
export function readPosition(body: string, at: number, report: Draft): Report | undefined {
  const dateEnd = body[at - 1] === "," ? at - 1 : at;
  const north = letterFrom(body, at + 1, "N", "S");
  const east = north === undefined ? undefined : letterFrom(body, north + 1, "E", "W");
  if (north === undefined || east === undefined) return undefined;
  const latitude = coordinate(body, at + 1, north, "S");
  const longitude = coordinate(body, north + 1, east, "W");
  if (latitude === undefined || longitude === undefined) return undefined;
  const rest = body[east + 1] === "," ? body.slice(east + 2) : body.slice(east + 1);
  const timeAt = clockAt(rest);
  const clock = rest.slice(timeAt, timeAt + 6);
  const course = readTail(rest, timeAt + 6, report);
  const date = body.slice(dateEnd - 6, dateEnd);
  const time = timeOf(date, clock, report);
  return fixOf(
    {
      time,
      valid: body[at] === "A",
      latitude,
      longitude,
      speed: within(report, rest.slice(0, 5), 0, 10_000, "speed"),
      course: within(report, course, 0, 360, "course"),
    },
    report,
  );
}

/** `ddmmyy,A,ddmm.mmmmN,dddmm.mmmmE,speed,hhmmss,course,altitude,satellites`: the form of fields. */
export function readFields(body: string, report: Draft): Report | undefined {
  const [date = "", valid, latitudeText = "", longitudeText = "", speed, clock = "", course, altitude, satellites] =
    body.split(",");
  const latitude = coordinate(latitudeText, 0, latitudeText.length - 1, "S");
  const longitude = coordinate(longitudeText, 0, longitudeText.length - 1, "W");
  if (latitude === undefined || longitude === undefined || (valid !== "A" && valid !== "V")) return undefined;
  put(report, "satellites", numberOf(satellites), "satelliteCount");
  return fixOf(
    {
      time: timeOf(date.slice(4, 6) + date.slice(2, 4) + date.slice(0, 2), clock, report),
      valid: valid === "A",
      latitude,
      longitude,
      speed: within(report, speed, 0, 10_000, "speed"),
      course: within(report, course, 0, 360, "course"),
      altitude: within(report, altitude, -10_000, 100_000, "reportedAltitude"),
    },
    report,
  );
}

/** Epoch ms of `yymmdd` and `hhmmss`, UTC; undefined, with what was reported as attributes: there is no such date. */
export function timeOf(date: string, clock: string, report: Draft): number | undefined {
  const time = date.length === 6 ? digitTime(date + clock) : undefined;
  if (time !== undefined) return time;
  report.attributes.reportedDate = date;
  report.attributes.reportedTime = clock;
  return undefined;
}

/** Index of one of two letters at the end of a coordinate that begins at `from`. */
function letterFrom(text: string, from: number, one: string, other: string): number | undefined {
  for (let at = from; at < text.length && at < from + 16; at++) if (text[at] === one || text[at] === other) return at;
  return undefined;
}

function coordinate(text: string, from: number, letter: number, negative: string): number | undefined {
  const degrees = degreesMinutes(text.slice(from, letter).replaceAll(/[, ]/g, ""));
  if (degrees === mismatch || !"NSEW".includes(text[letter] ?? "-")) return undefined;
  return text[letter] === negative && degrees !== 0 ? -degrees : degrees;
}

/** Where the time of day stands: behind five characters of speed, or further digits of it and a comma. */
function clockAt(rest: string): number {
  let at = 5;
  while (at < 11 && (rest[at] ?? "") >= "0" && (rest[at] ?? "") <= "9") at++;
  return at < 11 && rest[at] === "," ? at + 1 : 5;
}

/**
 * What follows the time of day: the course, which is given back, then status and mileage, and sensors of some makers.
 */
function readTail(rest: string, from: number, report: Draft): string {
  const mark = rest.indexOf("L", from);
  if (mark < 0) {
    const [course = "", status] = rest.slice(rest[from] === "," ? from + 1 : from).split(",");
    if (status !== undefined) readStatus(status, report);
    return course;
  }
  readStatus(rest.slice(Math.max(from, mark - 8), mark), report);
  const mileage = /^[0-9A-F]{1,8}/.exec(rest.slice(mark + 1, mark + 9))?.[0];
  // Metres, in hexadecimal.
  if (mileage !== undefined) put(report, "odometer", Number.parseInt(mileage, 16) / 1000, "mileage");
  const extra = rest.slice(mark + 1 + (mileage?.length ?? 0));
  const temperature = /[+-]\d{3}\.\d/.exec(extra)?.[0];
  if (temperature !== undefined) put(report, "temperature", numberOf(temperature), "temperatureSensor");
  else if (extra !== "") report.attributes.extra = extra;
  return rest.slice(from, mark - 8).replaceAll(",", "");
}
