import type { Effect } from "../../model/effects.ts";
import { isInRange } from "../../model/readings.ts";
import { altitudeOf, courseOf, effectOf, speedOf } from "../../wire/app-report.ts";
import { attributesOf, isObject, type JsonObject, numeric, objectOf, textOf } from "../../wire/json.ts";
import type { JsonReport } from "./json.ts";
import { parseTimestamp } from "./time.ts";

const kmhOfMetersPerSecond = 3.6;

/** Properties that have a place of their own; all others are attributes. */
const placed: ReadonlySet<string> = new Set([
  "timestamp",
  "altitude",
  "speed",
  "course",
  "horizontal_accuracy",
  "battery_level",
  "battery_state",
  "device_id",
]);

/**
 * The batch of Overland: `{"locations": [GeoJSON features], ...}`, speed in m/s, battery level from 0 to 1, -1 for what
 * is not known. The current location and the trip that may stand beside them come again as features of their own.
 * Undefined: malformed. (Overland, API)
 */
export function readOverland(root: JsonObject, receivedAt: number): JsonReport | undefined {
  if (!Array.isArray(root.locations)) return undefined;
  const effects: Effect[] = [];
  let device: string | undefined;
  for (const feature of root.locations) {
    const properties = objectOf(isObject(feature) ? feature.properties : undefined);
    const effect = isObject(feature) ? readFeature(feature, properties, receivedAt) : undefined;
    if (effect === undefined) return undefined;
    device ||= textOf(properties.device_id);
    effects.push(effect);
  }
  return {
    device: device || undefined,
    effects: effects.length > 0 ? effects : [{ type: "ignored", reason: "no locations" }],
  };
}

function readFeature(feature: JsonObject, properties: JsonObject, receivedAt: number): Effect | undefined {
  const given = properties.timestamp ?? undefined;
  const time = given === undefined ? undefined : parseTimestamp(textOf(given) ?? "");
  const { coordinates } = objectOf(feature.geometry);
  const [longitude, latitude] = Array.isArray(coordinates) ? coordinates.map(numeric) : [];
  if ((given !== undefined && time === undefined) || latitude === undefined || longitude === undefined)
    return undefined;
  const altitude = numeric(properties.altitude);
  const speed = numeric(properties.speed);
  const course = numeric(properties.course);
  const accuracy = numeric(properties.horizontal_accuracy);
  const level = numeric(properties.battery_level);
  const state = textOf(properties.battery_state);
  return effectOf(
    {
      time,
      valid: true,
      latitude,
      longitude,
      altitude: altitude === undefined ? undefined : altitudeOf(altitude),
      speed: speed === undefined ? undefined : speedOf(speed * kmhOfMetersPerSecond),
      course: course === undefined ? undefined : courseOf(course),
      alarms: [],
      readings: {
        ...(level !== undefined && level >= 0 && level <= 1 && { battery: Math.round(level * 100) }),
        ...((state === "charging" || state === "full") && { charging: true }),
        ...(state === "unplugged" && { charging: false }),
        ...(accuracy !== undefined && isInRange("accuracy", accuracy) && { accuracy }),
      },
      attributes: attributesOf(Object.entries(properties).filter(([name]) => !placed.has(name))),
    },
    receivedAt,
  );
}
