import type { Alarm } from "../../model/alarms.ts";
import type { Effect } from "../../model/effects.ts";
import { isInRange, type Readings } from "../../model/readings.ts";
import {
  alarmsOf,
  altitudeOf,
  attributeName,
  courseOf,
  effectOf,
  isMeasure,
  keepAttribute,
  type Location,
  maximumValue,
  numberOf,
  speedOf,
  truthOf,
} from "../../wire/app-report.ts";
import type { Parameters } from "../../wire/http.ts";
import { cellsText, wifiText } from "../../wire/radio.ts";
import { kmhOfKnots } from "../../wire/units.ts";
import { parseTimestamp } from "./time.ts";

type Changing<T> = { -readonly [K in keyof T]: T[K] };

/** A location in the making. */
interface Draft extends Changing<Omit<Location, "readings" | "attributes" | "alarms">> {
  readings: Changing<Readings>;
  alarms: readonly Alarm[];
  /** A map, since names come from the sender: no object key that means something to JavaScript can be set. */
  attributes: Map<string, string | number | boolean>;
}

type NumberReading = "accuracy" | "hdop" | "battery" | "fuel" | "satellites" | "odometer";

/**
 * What became of a parameter: "unread", where its text is not of its form, so that the text is kept as an attribute;
 * "refused", where the report is malformed.
 */
type Taken = "taken" | "unread" | "refused";

/** Takes a parameter's values into the draft. No value is empty: the app did not fill in an empty one. */
type Take = (draft: Draft, value: string, values: readonly string[]) => Taken;

/** A parameter that is a number. */
function numeric(take: (draft: Draft, value: number) => void): Take {
  return (draft, text) => {
    const value = numberOf(text);
    if (value !== undefined) take(draft, value);
    return value === undefined ? "unread" : "taken";
  };
}

/** A coordinate, without which a report is malformed. */
function coordinate(name: "latitude" | "longitude"): Take {
  return (draft, text) => {
    draft[name] = numberOf(text);
    return draft[name] === undefined ? "refused" : "taken";
  };
}

/** A parameter that is a truth value. */
function flag(take: (draft: Draft, value: boolean) => void): Take {
  return (draft, text) => {
    const value = truthOf(text);
    if (value !== undefined) take(draft, value);
    return value === undefined ? "unread" : "taken";
  };
}

/** A reading that is a number in its range; apps send -1 and the like for what they don't know. */
function measured(name: NumberReading, scale = 1): Take {
  return (draft, text) => {
    const value = (numberOf(text) ?? Number.NaN) * scale;
    if (value < 0) return "taken";
    if (!isInRange(name, value)) return "unread";
    draft.readings[name] = value;
    return "taken";
  };
}

function state(name: "charging" | "ignition" | "motion"): Take {
  return flag((draft, value) => {
    draft.readings[name] = value;
  });
}

/**
 * All values of a parameter that may be repeated, as an attribute of the form that all protocols have; others as they
 * came.
 */
function heard(name: string, attribute: string, textOf: (values: readonly string[]) => string | undefined): Take {
  return (draft, _, values) => {
    const all = values.flatMap((value) => value.split(";")).filter((value) => value !== "");
    const text = textOf(all);
    if (text === undefined) keepAttribute(draft.attributes, `app.${name}`, all.join(";"));
    else keepAttribute(draft.attributes, attribute, text);
    return "taken";
  };
}

/** `mcc,mnc,lac,cellId` and perhaps `,signal` each. */
function cellsTextOf(values: readonly string[]): string | undefined {
  const cells = values.map((value) => {
    const [mcc, mnc, lac, cellId, signal] = value.split(",").map(Number);
    return /^\d{1,15},\d{1,15},\d{1,15},\d{1,15}(,-?\d{1,9})?$/.test(value)
      ? { mcc, mnc, lac, cellId, signal }
      : undefined;
  });
  return allOf(cells, cellsText);
}

/** A hardware address and perhaps `,signal` each. */
function wifiTextOf(values: readonly string[]): string | undefined {
  const points = values.map((value) => {
    const [, mac = "", signal] = /^((?:[0-9a-f]{2}[:-]?){6})(?:,(-?\d{1,9}))?$/i.exec(value) ?? [];
    return mac === "" ? undefined : { mac, ...(signal !== undefined && { signal: Number(signal) }) };
  });
  return allOf(points, wifiText);
}

/** The text of all of them; undefined where one is not known. */
function allOf<T>(items: readonly (T | undefined)[], textOf: (items: readonly T[]) => string | undefined) {
  const known = items.filter((item) => item !== undefined);
  return known.length === items.length ? textOf(known) : undefined;
}

const course = numeric((draft, value) => {
  draft.course = courseOf(value);
});

/**
 * The protocol's own parameters; all others are attributes under the names that they were sent by (`attributeName`).
 */
const takes: ReadonlyMap<string, Take> = new Map<string, Take>([
  ["id", () => "taken"],
  ["deviceid", () => "taken"],
  ["device_id", () => "taken"],
  // Who it is, not what it reports.
  ["secret", () => "taken"],
  [
    "valid",
    flag((draft, value) => {
      draft.valid = value;
    }),
  ],
  ["timestamp", takeTime],
  ["lat", coordinate("latitude")],
  ["lon", coordinate("longitude")],
  ["location", takeLocation],
  [
    "speed",
    numeric((draft, value) => {
      draft.speed = speedOf(kmhOfKnots(value));
    }),
  ],
  ["bearing", course],
  ["heading", course],
  [
    "altitude",
    numeric((draft, value) => {
      draft.altitude = altitudeOf(value);
    }),
  ],
  ["accuracy", measured("accuracy")],
  ["hdop", measured("hdop")],
  ["batt", measured("battery")],
  ["fuel", measured("fuel")],
  ["sat", measured("satellites")],
  // Metres, as the apps count them.
  ["odometer", measured("odometer", 0.001)],
  ["charge", state("charging")],
  ["ignition", state("ignition")],
  ["motion", state("motion")],
  ["driverUniqueId", takeDriver],
  ["cell", heard("cell", "cells", cellsTextOf)],
  ["wifi", heard("wifi", "wifi", wifiTextOf)],
  ["alarm", takeAlarm],
]);

/**
 * The effect of a query string or form: id, timestamp, lat, lon or location, speed (knots), bearing or heading,
 * altitude, accuracy, hdop, batt, charge, valid, cell, wifi, driverUniqueId and whatever else is sent. Undefined: a
 * time or a coordinate can't be read. (OsmAnd protocol, query / form format)
 */
export function readParameters(parameters: Parameters, receivedAt: number): Effect | undefined {
  const draft: Draft = {
    time: undefined,
    valid: true,
    latitude: undefined,
    longitude: undefined,
    altitude: undefined,
    speed: undefined,
    course: undefined,
    alarms: [],
    readings: {},
    attributes: new Map(),
  };
  for (const [name, values] of parameters) {
    const value = values.at(-1) ?? "";
    if (value === "") continue;
    const taken = takes.get(name)?.(draft, value, values) ?? "unread";
    if (taken === "refused") return undefined;
    if (taken === "unread") keepAttribute(draft.attributes, attributeName(name), plainValue(value));
  }
  return effectOf({ ...draft, attributes: Object.fromEntries(draft.attributes) }, receivedAt);
}

/** The identifier of a query or form. */
export function deviceOf(parameters: Parameters): string | undefined {
  return (parameters.get("id") ?? parameters.get("deviceid") ?? parameters.get("device_id"))?.at(-1);
}

/** A number or a truth value where the text is exactly that; `007` and the firmware `1.10` stay text. */
function plainValue(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  const value = Number(text);
  return isMeasure(value) && String(value) === text ? value : text;
}

function takeTime(draft: Draft, text: string): Taken {
  draft.time = parseTimestamp(text);
  return draft.time === undefined ? "refused" : "taken";
}

function takeLocation(draft: Draft, text: string): Taken {
  const [latitude, longitude, ...rest] = text.split(",").map(numberOf);
  if (latitude === undefined || longitude === undefined || rest.length > 0) return "refused";
  draft.latitude = latitude;
  draft.longitude = longitude;
  return "taken";
}

function takeDriver(draft: Draft, text: string): Taken {
  if (text.length > maximumValue) return "unread";
  draft.readings.driverId = text;
  return "taken";
}

function takeAlarm(draft: Draft, text: string): Taken {
  draft.alarms = alarmsOf(text);
  if (draft.alarms.includes("general")) keepAttribute(draft.attributes, "alarmCode", text);
  return "taken";
}
