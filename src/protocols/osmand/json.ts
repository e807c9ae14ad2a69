import type { Effect } from "../../model/effects.ts";
import { isInRange, type Readings } from "../../model/readings.ts";
import { alarmsOf, altitudeOf, courseOf, effectOf, type Location, speedOf } from "../../wire/app-report.ts";
import { attributesOf, isGiven, isObject, type JsonObject, numeric, objectOf, textOf, truth } from "../../wire/json.ts";
import { parseTimestamp } from "./time.ts";

/** What a JSON body says. */
export interface JsonReport {
  readonly device: string | undefined;
  readonly effects: readonly Effect[];
}

const kmhOfMetersPerSecond = 3.6;

/**
 * The locations of a JSON body: `{"location": {...} or [...], "device_id": "..."}`, speed in m/s, battery level from 0
 * to 1, -1 for what is not known. Undefined: malformed. (OsmAnd protocol, JSON format)
 */
export function readJson(root: JsonObject, receivedAt: number): JsonReport | undefined {
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

function readLocation(location: JsonObject): Location | undefined {
  const time = isGiven(location.timestamp) ? parseTimestamp(textOf(location.timestamp) ?? "") : undefined;
  if (isGiven(location.timestamp) && time === undefined) return undefined;
  const coords = objectOf(location.coords);
  const latitude = numeric(coords.latitude);
  const longitude = numeric(coords.longitude);
  if (location.coords !== undefined && (latitude === undefined || longitude === undefined)) return undefined;
  const extras = objectOf(location.extras);
  const alarm = textOf(extras.alarm) ?? textOf(location.alarm) ?? "";
  const alarms = alarmsOf(alarm);
  const unread = new Map<string, unknown>();
  const side = sideValues(location, coords, extras, unread);
  const own = Object.entries(extras).filter(([name]) => name !== "alarm" && name !== "fuel");
  const attributes = attributesOf([
    // The event that made the app send, its activity, and whether a test provider made the position up.
    ["event", location.event],
    ["activity", objectOf(location.activity).type],
    ["mock", location.mock],
    ["heartbeat", location.heartbeat],
    ["alarmCode", alarms.includes("general") ? alarm : undefined],
    ...own,
    ...unread,
  ]);
  return { time, valid: true, latitude, longitude, alarms, ...side, attributes };
}

/**
 * What a location says beside its position; what is given and can't be read goes to `unread`, under the name that it
 * has there.
 */
function sideValues(location: JsonObject, coords: JsonObject, extras: JsonObject, unread: Map<string, unknown>) {
  const read = <T>(name: string, value: unknown, parse: (value: unknown) => T | undefined): T | undefined => {
    const parsed = isGiven(value) ? parse(value) : undefined;
    if (isGiven(value) && parsed === undefined) unread.set(name, value);
    return parsed;
  };
  const state = objectOf(location.battery);
  const level = read("level", state.level, numeric);
  const charging = read("is_charging", state.is_charging, truth);
  const motion = read("is_moving", location.is_moving, truth);
  const accuracy = read("accuracy", coords.accuracy, numeric);
  const fuel = read("fuel", extras.fuel, percent);
  const odometer = read("odometer", location.odometer, numeric);
  const altitude = read("altitude", coords.altitude, numeric);
  const speed = read("speed", coords.speed, numeric);
  const heading = read("heading", coords.heading, numeric);
  const readings: Readings = {
    ...(level !== undefined && level >= 0 && level <= 1 && { battery: Math.round(level * 100) }),
    ...(charging !== undefined && { charging }),
    ...(motion !== undefined && { motion }),
    ...(accuracy !== undefined && isInRange("accuracy", accuracy) && { accuracy }),
    ...(fuel !== undefined && { fuel }),
    // Metres on the device.
    ...(odometer !== undefined && isInRange("odometer", odometer / 1000) && { odometer: odometer / 1000 }),
  };
  return {
    altitude: altitude === undefined ? undefined : altitudeOf(altitude),
    speed: speed === undefined ? undefined : speedOf(speed * kmhOfMetersPerSecond),
    course: heading === undefined ? undefined : courseOf(heading),
    readings,
  };
}

function percent(value: unknown): number | undefined {
  const share = numeric(value);
  return share !== undefined && share >= 0 && share <= 100 ? share : undefined;
}
