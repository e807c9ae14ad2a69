import type { Corner } from "../model/geofence.ts";
import { turnedFrom } from "./longitude.ts";
import type { Problems } from "./problems.ts";

/** Corners as read: repeated ones left out, each the nearest turn to the one before it. */
export interface Line {
  readonly corners: readonly Corner[];
  /** For each corner its index in what was given. */
  readonly places: readonly number[];
}

/**
 * Reads a position: longitude, latitude, and perhaps more, which is not used (RFC 7946, 3.1.1). A longitude of the next
 * turn, which maps give beyond the antimeridian, is taken as it is. Undefined: it is none, and the problems say why.
 */
export function readCorner(value: unknown, place: string, problems: Problems): Corner | undefined {
  if (!Array.isArray(value) || value.length < 2) {
    problems.add(place, "must be a position: [longitude, latitude]");
    return undefined;
  }
  const [longitude, latitude]: readonly unknown[] = value;
  const problem = problemOf(longitude, "longitude", 360) ?? problemOf(latitude, "latitude", 90);
  if (problem !== undefined) problems.add(place, problem);
  return typeof longitude === "number" && typeof latitude === "number" && problem === undefined
    ? [longitude + 0, latitude + 0] // JSON knows no -0
    : undefined;
}

function problemOf(value: unknown, name: string, most: number): string | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return `its ${name} must be a number`;
  return Math.abs(value) > most ? `its ${name} must be between -${most} and ${most}, and is ${value}` : undefined;
}

/** Reads a line of positions. Undefined: something of it is wrong, and the problems say what. */
export function readLine(value: unknown, place: string, problems: Problems): Line | undefined {
  if (!Array.isArray(value)) {
    problems.add(place, "must be an array of positions");
    return undefined;
  }
  const read: readonly (Corner | undefined)[] = value.map((item, index) =>
    readCorner(item, `${place}/${index}`, problems),
  );
  const corners: Corner[] = [];
  const places: number[] = [];
  for (const [index, corner] of read.entries()) {
    if (corner === undefined) return undefined;
    const [longitude, latitude] = corner;
    const before = corners.at(-1);
    const turned = before === undefined ? firstTurn(longitude) : nearestTurn(before[0], longitude);
    if (before !== undefined && Math.abs(before[0] - turned) < sameDegrees && before[1] === latitude) continue;
    corners.push([turned, latitude]);
    places.push(index);
  }
  return { corners, places };
}

/** Longitudes within -180 and 180 stay as they were given. */
export function firstTurn(longitude: number): number {
  return Math.abs(longitude) > 180 ? turnedFrom(-180, longitude) : longitude;
}

function nearestTurn(before: number, longitude: number): number {
  // Half a turn away but for rounding, it always goes the same way round: what was written is read as it was.
  return longitude + 360 * Math.round((before - longitude + sameDegrees) / 360);
}

/** A hundredth of a millimetre: far less than any map knows, far more than rounding of a turn. */
export const sameDegrees = 1e-10;
