import { type Alarm, alarmNames } from "../model/alarms.ts";
import { reservedAttributes } from "../model/attribute-names.ts";
import type { Attributes, Effect } from "../model/effects.ts";
import type { Readings } from "../model/readings.ts";
import { mismatch, parseDecimal } from "./text.ts";

/** What one location of a request says, before it is an effect. Fields that were not sent are undefined. */
export interface Location {
  readonly time: number | undefined;
  readonly valid: boolean;
  readonly latitude: number | undefined;
  readonly longitude: number | undefined;
  readonly altitude: number | undefined;
  /** km/h */
  readonly speed: number | undefined;
  readonly course: number | undefined;
  readonly alarms: readonly Alarm[];
  readonly readings: Readings;
  readonly attributes: Attributes;
}

/** Identifiers that apps may give their device, of which it is registered under one. */
export const appIdPattern = /^[A-Za-z0-9._:@+/-]{1,64}$/;

/**
 * The name that a sender's own parameter is stored under: as it was sent, or behind `app.` where the service has a use
 * of its own for it.
 */
export function attributeName(name: string): string {
  return reservedAttributes.has(name) || name === "cells" || name === "wifi" ? `app.${name}` : name;
}

/** The longest value of a sender that is kept: no tracker measures a longer text. */
export const maximumValue = 4096;
/** The longest name that is kept. */
const maximumName = 64;

/** The attribute that names what is not kept because its name or value is too long. */
const leftOut = "app.leftOut";

/** Keeps what a sender says beside its position; too long ones are left out, and named. An empty name says nothing. */
export function keepAttribute(
  attributes: Map<string, string | number | boolean>,
  name: string,
  value: string | number | boolean,
): void {
  if (name === "") return;
  if (name.length <= maximumName && String(value).length <= maximumValue) {
    attributes.set(name, value);
    return;
  }
  const names = [attributes.get(leftOut), name.slice(0, maximumName)].filter((text) => text !== undefined).join(",");
  if (names.length <= maximumValue) attributes.set(leftOut, names);
}

/** A decimal number; some apps write an exponent (`1.0E-5`). */
export function numberOf(text: string): number | undefined {
  const plain = parseDecimal(text);
  if (plain !== mismatch) return plain;
  const value = /^[+-]?\d+(\.\d+)?e[+-]?\d{1,3}$/i.test(text) ? Number(text) : Number.NaN;
  return isMeasure(value) ? value + 0 : undefined;
}

const truths: ReadonlyMap<string, boolean> = new Map([
  ...["true", "1", "on", "yes"].map((text) => [text, true] as const),
  ...["false", "0", "off", "no"].map((text) => [text, false] as const),
]);

/** A truth value in one of the ways that apps write it, without regard to case. */
export function truthOf(text: string): boolean | undefined {
  return truths.get(text.toLowerCase());
}

const alarms: ReadonlyMap<string, Alarm> = new Map(alarmNames.map((name) => [name.toLowerCase(), name]));

/** Alarms of a comma-separated text; one that the catalogue does not have is "general". */
export function alarmsOf(text: string): readonly Alarm[] {
  const names = text.split(",").map((name) => name.trim().toLowerCase());
  return [...new Set(names.filter((name) => name !== "").map((name) => alarms.get(name) ?? "general"))];
}

/**
 * The effect of a location: a fix; readings where it has no position; or nothing to store. Undefined: half a position.
 */
export function effectOf(location: Location, receivedAt: number): Effect | undefined {
  const { time, latitude, longitude, altitude, speed, course, alarms: raised, readings, attributes } = location;
  if ((latitude === undefined) !== (longitude === undefined)) return undefined;
  if (latitude === undefined || longitude === undefined) {
    if (raised.length + Object.keys(readings).length + Object.keys(attributes).length === 0)
      return { type: "ignored", reason: "neither position nor readings" };
    return { type: "readings", ...(time !== undefined && { time }), alarms: raised, readings, attributes };
  }
  return {
    type: "fix",
    time: time ?? receivedAt,
    valid: location.valid,
    latitude,
    longitude,
    ...(altitude !== undefined && { altitude }),
    ...(speed !== undefined && { speed }),
    ...(course !== undefined && { course }),
    alarms: raised,
    readings,
    attributes,
  };
}

/** Whether a number can be one that was measured: finite, and not beyond what a double holds exactly. */
export function isMeasure(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** A speed in km/h that can be one; apps send -1 where they have none. */
export function speedOf(kmh: number): number | undefined {
  return kmh >= 0 && kmh < 100_000 ? Math.round(kmh * 1000) / 1000 : undefined;
}

/** A course from 0 to below 360; apps send -1 where they have none. */
export function courseOf(degrees: number): number | undefined {
  return degrees >= 0 && degrees <= 360 ? degrees % 360 : undefined;
}

/** An altitude in m that can be one. */
export function altitudeOf(meters: number): number | undefined {
  return Math.abs(meters) < 100_000 ? meters : undefined;
}
