import type { Fix, ReadingsReport } from "../../model/effects.ts";
import {
  ddmmyy,
  decimal,
  degreesMinutes,
  degreesOf,
  digitsValue,
  type Field,
  grammar,
  hemisphere,
  hex,
  hhmmss,
  Mismatch,
  mismatch,
  optional,
  orText,
  parseDecimal,
} from "../../wire/text.ts";
import { kmhOfKnots } from "../../wire/units.ts";
import { iccidOf, readExtra } from "./extra.ts";
import type { Sentence } from "./sentence.ts";
import { batteryCharge, vehicleStatus } from "./status.ts";

/** What a report holds beside its position. */
interface Parts extends Pick<Fix, "alarms" | "readings" | "attributes"> {
  readonly altitude?: number;
}

/** What follows the name of a position sentence, up to the date. */
const head = grammar({
  time: timeOfDay(),
  validity: optional(validity()),
  latitude: coordinate("N", "S"),
  longitude: coordinate("E", "W"),
  speed: orText(decimal),
  course: orText(decimal),
});

/** Where something was, as its fields say. */
interface Place {
  readonly latitude: number | undefined;
  readonly longitude: number | undefined;
  readonly validity: boolean | undefined;
  /** As sent where it is no number. */
  readonly speed: number | string | undefined;
  readonly course: number | string | undefined;
}

/** What a sentence reports: one report, or a position and what came with it. */
export type Reports = readonly (Fix | ReadingsReport)[];

/** Knots; what is faster is no speed. */
const fastest = 50_000;

/** How many fields a position takes at the least: those of the head. */
export const positionWidth = head.width;

const status32 = hex(8);

/**
 * `A` valid, `V` not (LKGPS protocol, 1; SinoTrack Protocol, 1). `B`, which some firmware sends, is in no manual of
 * these sentences, so its place is kept as one that is not valid, as other decoders do. Firmware for maps with shifted
 * coordinates sends that coding's number instead; `0` is sent where there is no fix, mostly with zeros for all else.
 */
function validity(): Field<boolean> {
  return {
    width: 1,
    read: (fields, at) => {
      const text = fields[at] ?? "";
      if (text === "A" || text === "B" || text === "V" || text === "0") return text === "A";
      return digitsValue(text, 0, text.length) === mismatch ? mismatch : true;
    },
  };
}

/** `hhmmss`; a zero alone, like an empty one, is no time. One that no clock has is NaN. */
function timeOfDay(): Field<number | undefined> {
  const written = optional(hhmmss);
  return {
    width: 1,
    read: (fields, at) => {
      const text = fields[at] ?? "";
      if (text === "0") return undefined;
      const time = written.read(fields, at);
      return time === mismatch && sixDigits.test(text) ? Number.NaN : time;
    },
  };
}

/**
 * Epoch ms of a day; NaN: a day that no calendar has; mismatch: something else. The zeros of a clock that was never set
 * are no day.
 */
function dayOf(fields: readonly string[], at: number): number | typeof mismatch {
  const text = fields[at] ?? "";
  const day = ddmmyy.read(fields, at);
  return day === mismatch && sixDigits.test(text) && !isNoDate(text) ? Number.NaN : day;
}

const sixDigits = /^\d{6}$/;

/** Zeros that are too few for degrees and minutes: no coordinate, whatever hemisphere follows. */
const zeros = /^0{1,3}(\.0*)?$/;

/**
 * A coordinate in one of the three ways that trackers write it; undefined where there is none (empty, or zeros without
 * degrees or a hemisphere).
 */
function coordinate(positive: string, negative: string): Field<number | undefined> {
  const written = hemisphere(positive, negative, degreesText);
  return {
    width: 2,
    read: (fields, at) => {
      const text = fields[at] ?? "";
      if (text === "" || fields[at + 1] === "0" || zeros.test(text)) return undefined;
      return written.read(fields, at);
    },
  };
}

/** `ddmm.mmmm`; `ddmmmmmm` without the point; `-dd-mm.mmmm`, where the hemisphere alone gives the sign. */
function degreesText(text: string): number | typeof mismatch {
  if (text.startsWith("-")) {
    const split = text.indexOf("-", 1);
    const degrees = split > 1 ? digitsValue(text, 1, split) : mismatch;
    return degrees === mismatch ? mismatch : degreesOf(degrees, parseDecimal(text.slice(split + 1)));
  }
  if (text.includes(".") || text.length < 7) return degreesMinutes(text);
  const degrees = digitsValue(text, 0, text.length - 6);
  const minutes = digitsValue(text, text.length - 6, text.length);
  return degrees === mismatch || minutes === mismatch ? mismatch : degreesOf(degrees, minutes / 10_000);
}

/**
 * The reports of a position sentence whose time stands in `fields[at]`: a fix, or readings if it has no coordinates.
 * Undefined: malformed. hhmmss, validity, latitude, hemisphere, longitude, hemisphere, speed (knots), course,
 * [battery,] ddmmyy, [-, phone, ICCID,] vehicle_status, then the network cell and what each maker adds. (GPRS Protocol,
 * 1; Protocol, 3)
 */
export function readPosition(sentence: Sentence, at: number, receivedAt: number): Reports | undefined {
  const { fields } = sentence;
  const values = head.read(fields, at);
  if (values instanceof Mismatch) return undefined;
  const tail = readTail(sentence, at + head.width);
  if (tail === undefined) return undefined;
  const time = tail.date === undefined ? receivedAt : tail.date + (values.time ?? 0);
  if (Number.isNaN(time)) return impossibleTime(values, tail, fields[at] ?? "");
  return [reportOf(values, time, tail.date !== undefined, tail)];
}

/**
 * The reports of a sentence whose date or time of day does not exist, because a clock is set wrongly or firmware swaps
 * day and month. The position is one of a clock that was never set, so it is refused, kept and acknowledged. Otherwise
 * the tracker would send it for ever. Readings and alarms have the time of their arrival.
 */
function impossibleTime(place: Place, tail: Tail, reportedTime: string): Reports {
  const { alarms, readings, attributes } = tail;
  const reported = { reportedDate: tail.dateText, reportedTime };
  const now: ReadingsReport = { type: "readings", alarms, readings, attributes };
  const report = reportOf(place, 0, false, { alarms: [], readings: {}, attributes: reported });
  return report.type === "fix" ? [report, now] : [{ ...now, attributes: { ...attributes, ...reported } }];
}

/** A fix of what was read, or readings where there is no position. `dated`: the time is the tracker's own. */
export function reportOf(
  { latitude, longitude, validity: valid, speed, course }: Place,
  time: number,
  dated: boolean,
  { altitude, alarms, readings, attributes }: Parts,
): Fix | ReadingsReport {
  if (latitude === undefined || longitude === undefined)
    return { type: "readings", ...(dated && { time }), alarms, readings, attributes };
  const soundSpeed = upTo(fastest, speed);
  const soundCourse = upTo(360, course);
  return {
    type: "fix",
    time,
    valid: valid ?? false,
    latitude,
    longitude,
    ...(altitude !== undefined && { altitude }),
    ...(soundSpeed !== undefined && { speed: kmhOfKnots(soundSpeed) }),
    ...(soundCourse !== undefined && { course: soundCourse }),
    alarms,
    readings,
    attributes: {
      ...attributes,
      ...(speed !== undefined && soundSpeed === undefined && { speed }),
      ...(course !== undefined && soundCourse === undefined && { course }),
    },
  };
}

function upTo(most: number, value: number | string | undefined): number | undefined {
  return typeof value === "number" && value >= 0 && value <= most ? value : undefined;
}

interface Tail extends Parts {
  /** NaN: no such day exists. */
  readonly date: number | undefined;
  readonly dateText: string;
}

function readTail({ fields, ended }: Sentence, at: number): Tail | undefined {
  let date = dayOf(fields, at);
  let next = at + 1;
  let battery: number | undefined;
  if (date === mismatch) {
    const dateBehind = dayOf(fields, at + 1);
    if (dateBehind !== mismatch) {
      // Some firmware puts its battery code before the date.
      battery = batteryCharge(Number(fields[at]));
      date = dateBehind;
      next = at + 2;
    } else if (!isNoDate(fields[at] ?? "")) return undefined;
  }
  const sim = status32.read(fields, next) === mismatch && status32.read(fields, next + 3) !== mismatch;
  const status = sim ? next + 3 : next;
  const word = status32.read(fields, status);
  // If a sentence was cut off, its lost date would look like one that was never set, and an old position like a present
  // one.
  if (!ended && (date === mismatch || word === mismatch)) return undefined;
  // What is no status is what a maker adds.
  const statusless = word === mismatch && (fields[status] ?? "") !== "";
  const extra = readExtra(fields, statusless ? status : status + 1);
  const vehicle = word === mismatch ? undefined : vehicleStatus(word);
  return {
    date: date === mismatch ? undefined : date,
    dateText: fields[next - 1] ?? "",
    ...(extra.altitude !== undefined && { altitude: extra.altitude }),
    alarms: vehicle?.alarms ?? [],
    readings: {
      ...(battery !== undefined && { battery }),
      ...vehicle?.readings,
      ...(sim && iccidReading(fields[next + 2] ?? "")),
      ...extra.readings,
    },
    attributes: {
      ...vehicle?.attributes,
      ...(sim && fields[next + 1] !== "" && { sim: fields[next + 1] ?? "" }),
      ...extra.attributes,
    },
  };
}

function iccidReading(text: string): { readonly iccid?: string } {
  const iccid = iccidOf(text);
  return iccid === undefined ? {} : { iccid };
}

/** No date at all, or the zeros of a clock that was never set. */
function isNoDate(text: string): boolean {
  return text === "" || text === "0" || text === "000000";
}
