import { type Draft, draft, fixOf, type Position, raise, readingsOf, reportedTime, within } from "../../wire/report.ts";
import { degreesMinutes, mismatch, numberOf } from "../../wire/text.ts";
import { kmhOfKnots, roundDegrees } from "../../wire/units.ts";
import { driverEvent, eventAlarms, ignitionEvents, motionEvents } from "./alarms.ts";
import { malformed, type Read } from "./sentence.ts";
import { putFields, type Tagged, taggedOf } from "./tags.ts";
import { wholeOf } from "./values.ts";

type Values = Tagged["values"];

/** A place older than this is not that of the event, ms. */
const staleMs = 10_000;
const mostSpeed = 1000;
const mostMetres = 100_000;

/** `+ddmm.mmmm` or `-dddmm.mmmm`, north and east positive. */
function signedDegrees(text: string): number | undefined {
  const degrees = /^[+-]/.test(text) ? degreesMinutes(text.slice(1)) : degreesMinutes(text);
  if (degrees === mismatch) return undefined;
  return text.startsWith("-") && degrees !== 0 ? -degrees : degrees;
}

/**
 * Latitude and longitude in degrees and minutes (LAT, LONG) or in degrees (LTDD, LGDD). Undefined: not given;
 * `mismatch`: not to be read.
 */
function placeOf(values: Values): Pick<Position, "latitude" | "longitude"> | undefined | typeof mismatch {
  const [lat, long] = [values.get("LAT"), values.get("LONG")];
  const [ltdd, lgdd] = [values.get("LTDD"), values.get("LGDD")];
  const inMinutes = lat !== undefined && long !== undefined;
  if (!inMinutes && (ltdd === undefined || lgdd === undefined)) return undefined;
  const latitude = inMinutes ? signedDegrees(lat) : numberOf(ltdd);
  const longitude = inMinutes ? signedDegrees(long) : numberOf(lgdd);
  if (latitude === undefined || longitude === undefined) return mismatch;
  return { latitude: roundDegrees(latitude) + 0, longitude: roundDegrees(longitude) + 0 };
}

/** Speed in knots (SPD) or km/h (SPDK), course, altitude. */
function motionOf(values: Values, report: Draft): Pick<Position, "speed" | "course" | "altitude"> {
  const knots = within(report, values.get("SPD"), 0, mostSpeed, "SPD");
  const kmh = within(report, values.get("SPDK"), 0, mostSpeed, "SPDK");
  const tag = values.has("ALTD") ? "ALTD" : "ALT";
  return {
    speed: kmh ?? (knots === undefined ? undefined : kmhOfKnots(knots)),
    course: within(report, values.get("HEAD"), 0, 360, "HEAD"),
    altitude: within(report, values.get(tag), -mostMetres, mostMetres, tag),
  };
}

/** What made the unit report (EID), and what that says. */
function putEvent(report: Draft, { values, rest }: Tagged): void {
  const { readings, attributes } = report;
  const text = values.get("EID");
  if (text === undefined) return;
  const event = wholeOf(text);
  attributes.event = event ?? text;
  if (event === undefined) return;
  const alarm = eventAlarms.get(event);
  if (alarm !== undefined) raise(report, alarm);
  const [ignition, motion] = [ignitionEvents.get(event), motionEvents.get(event)];
  if (ignition !== undefined) readings.ignition ??= ignition;
  if (motion !== undefined) readings.motion = motion;
  if (event !== driverEvent) return;
  // Two codes, the second of which may be zeros.
  const driver = rest.findLast((each) => /^[0-9A-Fa-f]{8,20}$/.test(each) && /[^0]/.test(each));
  if (driver !== undefined) readings.driverId = driver;
}

/** 06: what the unit was set to report, with its place where it has one. The time is that of the place. */
export const readEvent: Read = ({ fields }, { options }) => {
  const tagged = taggedOf(fields, options.format);
  const { values } = tagged;
  const report = draft();
  const place = placeOf(values);
  const [eventText, placeText] = [values.get("EDT"), values.get("PDT")];
  const eventTime = eventText === undefined ? undefined : reportedTime(report, eventText);
  const placeTime = placeText === undefined ? undefined : reportedTime(report, placeText);
  const unread = (eventText !== undefined && eventTime === undefined) || (placeText && placeTime === undefined);
  if (unread || place === mismatch) return malformed;
  putFields(report, tagged);
  putEvent(report, tagged);
  const ids = [values.get("IMEI") ?? ""].filter((text) => /^\d{15}$/.test(text));
  const motion = motionOf(values, report);
  const time = placeTime ?? eventTime;
  if (place === undefined) return { effects: [readingsOf(report, eventTime ?? placeTime)], ids };
  if (eventTime && placeTime && eventTime - placeTime > staleMs)
    report.attributes.fixAge = (eventTime - placeTime) / 1000;
  return { effects: [fixOf({ time, valid: true, ...place, ...motion }, report)], ids };
};
