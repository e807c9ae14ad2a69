import type { Alarm } from "../../model/alarms.ts";
import type { Effect } from "../../model/effects.ts";
import type { Readings } from "../../model/readings.ts";
import type { Parameters } from "../../wire/http.ts";
import { cellsText, wifiText } from "../../wire/radio.ts";
import { mismatch, parseDecimal } from "../../wire/text.ts";
import { kmhOfKnots } from "../../wire/units.ts";
import {
  alarmsOf,
  altitudeOf,
  attributeName,
  courseOf,
  effectOf,
  isMeasure,
  type Location,
  speedOf,
} from "./report.ts";
import { parseTimestamp } from "./time.ts";

type Changing<T> = { -readonly [K in keyof T]: T[K] };

/** A location in the making. */
interface Draft extends Changing<Omit<Location, "readings" | "attributes" | "alarms">> {
  readings: Changing<Readings>;
  alarms: readonly Alarm[];
  /** A map, since names come from the sender: no object key that means something to JavaScript can be set. */
  attributes: Map<string, string | number | boolean>;
}

type NumberReading = "accuracy" | "hdop" | "battery" | "satellites" | "odometer";

/** Takes a parameter's values into the draft. False: malformed. */
type Take = (draft: Draft, value: string, values: readonly string[]) => boolean;

/** Names and values of other parameters are stored as they come; longer ones are refused, since no tracker measures a text. */
const maximumName = 64;
const maximumValue = 4096;

/** A parameter that is a number. An empty one was not filled in by the app. */
function numeric(take: (draft: Draft, value: number) => void): Take {
  return (draft, text) => {
    if (text === "") return true;
    const value = numberOf(text);
    if (value === undefined) return false;
    take(draft, value);
    return true;
  };
}

/** A parameter that is a truth value; an empty one was not filled in either. */
function flag(take: (draft: Draft, value: boolean) => void): Take {
  return (draft, text) => {
    if (text === "") return true;
    const value = booleanOf(text);
    if (value !== undefined) take(draft, value);
    return value !== undefined;
  };
}

/** A reading that is a number from `low` to `high`; apps send -1 and the like for what they don't know. */
function measured(name: NumberReading, high: number, scale = 1): Take {
  return numeric((draft, value) => {
    if (value >= 0 && value <= high) draft.readings[name] = value * scale;
  });
}

/** A share in %; what is none stands under the app's own name. */
function percentOr(name: "fuel"): Take {
  return (draft, text) => {
    const value = numberOf(text);
    if (value === undefined || value < 0 || value > 100) return keep(draft, name, text);
    draft.readings[name] = value;
    return true;
  };
}

function state(name: "charging" | "ignition" | "motion"): Take {
  return flag((draft, value) => {
    draft.readings[name] = value;
  });
}

/** All values of a parameter that may be repeated, as an attribute of the form that all protocols have; others as they came. */
function heard(name: string, attribute: string, textOf: (values: readonly string[]) => string | undefined): Take {
  return (draft, _, values) => {
    const all = values.flatMap((value) => value.split(";")).filter((value) => value !== "");
    const text = textOf(all);
    if (text === undefined) return keep(draft, `app.${name}`, all.join(";"));
    if (text.length > maximumValue) return false;
    draft.attributes.set(attribute, text);
    return true;
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

/** The protocol's own parameters; all others are attributes under the names that they were sent by (`attributeName`). */
const takes: ReadonlyMap<string, Take> = new Map<string, Take>([
  ["id", () => true],
  ["deviceid", () => true],
  ["device_id", () => true],
  // Who it is, not what it reports.
  ["secret", () => true],
  [
    "valid",
    flag((draft, value) => {
      draft.valid = value;
    }),
  ],
  ["timestamp", takeTime],
  [
    "lat",
    numeric((draft, value) => {
      draft.latitude = value;
    }),
  ],
  [
    "lon",
    numeric((draft, value) => {
      draft.longitude = value;
    }),
  ],
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
  ["accuracy", measured("accuracy", Number.MAX_SAFE_INTEGER)],
  ["hdop", measured("hdop", Number.MAX_SAFE_INTEGER)],
  ["batt", measured("battery", 100)],
  // Another measure than % has another name with the apps.
  ["fuel", percentOr("fuel")],
  ["sat", measured("satellites", 255)],
  // Metres, as the apps count them.
  ["odometer", measured("odometer", Number.MAX_SAFE_INTEGER, 0.001)],
  ["charge", state("charging")],
  ["ignition", state("ignition")],
  ["motion", state("motion")],
  ["driverUniqueId", takeDriver],
  ["cell", heard("cell", "cells", cellsTextOf)],
  ["wifi", heard("wifi", "wifi", wifiTextOf)],
  ["alarm", takeAlarm],
]);

/**
 * The effect of a query string or form: id, timestamp, lat, lon or location, speed (knots), bearing or heading, altitude, accuracy, hdop,
 * batt, charge, valid, cell, wifi, driverUniqueId and whatever else is sent. Undefined: malformed. (OsmAnd protocol, query / form format)
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
    const take = takes.get(name);
    const value = values.at(-1) ?? "";
    if (take === undefined ? !keep(draft, name, value) : !take(draft, value, values)) return undefined;
  }
  return effectOf({ ...draft, attributes: Object.fromEntries(draft.attributes) }, receivedAt);
}

/** The identifier of a query or form. */
export function deviceOf(parameters: Parameters): string | undefined {
  return (parameters.get("id") ?? parameters.get("deviceid") ?? parameters.get("device_id"))?.at(-1);
}

function keep(draft: Draft, name: string, value: string): boolean {
  if (name.length > maximumName || value.length > maximumValue) return false;
  if (value !== "") draft.attributes.set(attributeName(name), plainValue(value));
  return true;
}

/** A number or a truth value where the text is exactly that; `007` and the firmware `1.10` stay text. */
function plainValue(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  const value = Number(text);
  return isMeasure(value) && String(value) === text ? value : text;
}

function takeTime(draft: Draft, text: string): boolean {
  draft.time = parseTimestamp(text);
  return draft.time !== undefined || text === "";
}

function takeLocation(draft: Draft, text: string): boolean {
  const [latitude, longitude, ...rest] = text.split(",").map(numberOf);
  if (latitude === undefined || longitude === undefined || rest.length > 0) return false;
  draft.latitude = latitude;
  draft.longitude = longitude;
  return true;
}

function takeDriver(draft: Draft, text: string): boolean {
  if (text !== "") draft.readings.driverId = text;
  return text.length <= maximumValue;
}

function takeAlarm(draft: Draft, text: string): boolean {
  draft.alarms = alarmsOf(text);
  if (draft.alarms.includes("general")) draft.attributes.set("alarmCode", text);
  return text.length <= maximumValue;
}

/** A decimal number; some apps write an exponent (`1.0E-5`). */
function numberOf(text: string): number | undefined {
  const plain = parseDecimal(text);
  if (plain !== mismatch) return plain;
  const value = /^[+-]?\d+(\.\d+)?e[+-]?\d{1,3}$/i.test(text) ? Number(text) : Number.NaN;
  return isMeasure(value) ? value + 0 : undefined;
}

function booleanOf(text: string): boolean | undefined {
  if (text === "true" || text === "1") return true;
  return text === "false" || text === "0" ? false : undefined;
}
