import type { Attributes, Effect } from "../../model/effects.ts";
import type { Readings } from "../../model/readings.ts";
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

type JsonObject = { readonly [name: string]: unknown };

/** What a JSON body says. */
export interface JsonReport {
  readonly device: string | undefined;
  readonly effects: readonly Effect[];
}

/** Extras are stored as they come; longer ones are refused, since no tracker measures a text. */
const maximumName = 64;
const maximumValue = 4096;
const kmhOfMetersPerSecond = 3.6;

/**
 * The locations of a JSON body: `{"location": {...} or [...], "device_id": "..."}`, speed in m/s, battery level from 0 to 1, -1 for what is
 * not known. Undefined: malformed. (OsmAnd protocol, JSON format)
 */
export function readJson(body: Uint8Array, receivedAt: number): JsonReport | undefined {
  const root = parse(body);
  if (root === undefined) return undefined;
  const locations = Array.isArray(root.location) ? root.location : [root.location];
  const effects: Effect[] = [];
  let device = textOf(root.device_id) ?? textOf(root.id) ?? textOf(root.deviceid);
  for (const location of locations) {
    if (!isObject(location)) return undefined;
    const read = readLocation(location);
    const effect = read && effectOf(read, receivedAt);
    if (effect === undefined) return undefined;
    device ??= textOf(location.device_id);
    effects.push(effect);
  }
  return { device, effects: effects.length > 0 ? effects : [{ type: "ignored", reason: "no locations" }] };
}

function parse(body: Uint8Array): JsonObject | undefined {
  try {
    const root: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    return isObject(root) ? root : undefined;
  } catch {
    return undefined;
  }
}

function readLocation(location: JsonObject): Location | undefined {
  const time = location.timestamp === undefined ? undefined : parseTimestamp(textOf(location.timestamp) ?? "");
  if (location.timestamp !== undefined && time === undefined) return undefined;
  const coords = objectOf(location.coords);
  const latitude = numberOf(coords.latitude);
  const longitude = numberOf(coords.longitude);
  if (location.coords !== undefined && (latitude === undefined || longitude === undefined)) return undefined;
  const extras = objectOf(location.extras);
  const alarm = textOf(extras.alarm) ?? textOf(location.alarm) ?? "";
  const alarms = alarmsOf(alarm);
  const attributes = attributesOf(location, extras, alarms.includes("general") ? alarm : undefined);
  if (attributes === undefined) return undefined;
  return {
    time,
    valid: true,
    latitude,
    longitude,
    altitude: mapped(coords.altitude, altitudeOf),
    speed: mapped(coords.speed, (value) => speedOf(value * kmhOfMetersPerSecond)),
    course: mapped(coords.heading, courseOf),
    alarms,
    readings: readingsOf(location, coords, extras),
    attributes,
  };
}

function readingsOf(location: JsonObject, coords: JsonObject, extras: JsonObject): Readings {
  const state = objectOf(location.battery);
  const level = numberOf(state.level);
  const accuracy = numberOf(coords.accuracy);
  const odometer = numberOf(location.odometer);
  return {
    ...(level !== undefined && level >= 0 && level <= 1 && { battery: Math.round(level * 100) }),
    ...(typeof state.is_charging === "boolean" && { charging: state.is_charging }),
    ...(typeof location.is_moving === "boolean" && { motion: location.is_moving }),
    ...(accuracy !== undefined && accuracy >= 0 && { accuracy }),
    ...(isPercent(extras.fuel) && { fuel: extras.fuel }),
    // Metres on the device.
    ...(odometer !== undefined && odometer >= 0 && { odometer: odometer / 1000 }),
  };
}

function isPercent(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 100;
}

/** The event that made the app send, its activity, whether a test provider made the position up, and whatever the app adds as extras. */
function attributesOf(location: JsonObject, extras: JsonObject, alarmCode: string | undefined): Attributes | undefined {
  const entries: (readonly [string, unknown])[] = [
    ["event", location.event],
    ["activity", objectOf(location.activity).type],
    ["mock", location.mock],
    ["heartbeat", location.heartbeat],
    ["alarmCode", alarmCode],
    ...Object.entries(extras).filter(([name, value]) => name !== "alarm" && !(name === "fuel" && isPercent(value))),
  ];
  const attributes = new Map<string, string | number | boolean>();
  for (const [name, value] of entries) {
    const kept = attributeOf(value);
    if (kept === undefined || kept === "" || name === "") continue;
    if (name.length > maximumName || String(kept).length > maximumValue) return undefined;
    attributes.set(attributeName(name.toWellFormed()), kept);
  }
  return Object.fromEntries(attributes);
}

function attributeOf(value: unknown): string | number | boolean | undefined {
  if (typeof value === "number" && isMeasure(value)) return value + 0; // no -0
  if (typeof value === "boolean") return value;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : textOf(value);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && isMeasure(value) ? value + 0 : undefined;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return typeof value === "string" ? value.toWellFormed() : undefined;
}

function mapped<T>(value: unknown, map: (value: number) => T | undefined): T | undefined {
  const number = numberOf(value);
  return number === undefined ? undefined : map(number);
}
