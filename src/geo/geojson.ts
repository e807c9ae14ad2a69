import type { Corner, Zone } from "../model/geofence.ts";
import type { Steps } from "../model/steps.ts";
import { firstTurn, readCorner, readLine } from "./corners.ts";
import { earthRadiusKm } from "./distance.ts";
import { Problems } from "./problems.ts";
import { readRings } from "./rings.ts";

/**
 * A zone as GeoJSON (RFC 7946): a Feature whose geometry is a point with a radius, a polygon, or a line with a width.
 */
export interface ZoneFeature {
  readonly type: "Feature";
  readonly geometry:
    | { readonly type: "Point"; readonly coordinates: Corner }
    | { readonly type: "Polygon"; readonly coordinates: readonly (readonly Corner[])[] }
    | { readonly type: "LineString"; readonly coordinates: readonly Corner[] };
  /** `radius` of a point, whole `width` of a line, km. */
  readonly properties: { readonly radius?: number; readonly width?: number };
}

/** A zone, or all that is wrong with what was given, each with its place in it (a JSON Pointer). */
export type ReadZone =
  | { readonly ok: true; readonly zone: Zone }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Most positions of a zone. A road of 10,000 points is 500 km long at one in 50 m. */
export const mostCorners = 10_000;

/** Half of the earth's circumference, km: a circle of this radius is everything. */
const farthestKm = Math.PI * earthRadiusKm;

/** What a geometry that is no zone is refused for. */
const refusedTypes: Readonly<Record<string, string>> = {
  MultiPolygon:
    "a zone is one polygon: make a geofence of each. One over the antimeridian need not be cut: its longitudes may go on beyond 180",
  MultiPoint: "a zone is one circle: make a geofence of each point",
  MultiLineString: "a zone is one route: make a geofence of each line",
  GeometryCollection: "a zone is one geometry: make a geofence of each",
  FeatureCollection: "a zone is one Feature: make a geofence of each",
};

const kinds = "Point (with the property radius), Polygon, or LineString (with the property width)";

/**
 * Reads a zone from GeoJSON, parsed: a Feature, or a Polygon alone, which needs no property. The zone is as
 * `prepareZone` wants it: every number is in its range, rings are closed and touch neither themselves nor each other,
 * longitudes go on from corner to corner without a leap.
 */
export function* zoneOfGeoJson(value: unknown): Steps<ReadZone> {
  const problems = new Problems();
  const zone = yield* readZone(value, problems);
  return zone === undefined || problems.any ? { ok: false, problems: problems.list() } : { ok: true, zone };
}

/** A zone as GeoJSON: what `zoneOfGeoJson` reads as the same zone again. */
export function geoJsonOfZone(zone: Zone): ZoneFeature {
  switch (zone.kind) {
    case "circle":
      return feature({ type: "Point", coordinates: zone.center }, { radius: zone.radius });
    case "polygon":
      return feature({ type: "Polygon", coordinates: zone.rings.map(writable) }, {});
    case "route":
      return feature({ type: "LineString", coordinates: writable(zone.line) }, { width: zone.width });
  }
}

/**
 * Corners whose longitudes may be written: a line that goes on around the earth leaves the turns that `readCorner`
 * takes, and comes back to the first one. Whole turns that make a number smaller are taken from it exactly, so it is
 * read as the same corner again.
 */
function writable(corners: readonly Corner[]): readonly Corner[] {
  if (corners.every(([longitude]) => Math.abs(longitude) <= 360)) return corners;
  return corners.map(([longitude, latitude]) =>
    Math.abs(longitude) <= 360 ? [longitude, latitude] : [longitude - 360 * Math.round(longitude / 360), latitude],
  );
}

function feature(geometry: ZoneFeature["geometry"], properties: ZoneFeature["properties"]): ZoneFeature {
  return { type: "Feature", geometry, properties };
}

function* readZone(value: unknown, problems: Problems): Steps<Zone | undefined> {
  const root = objectOf(value);
  if (root === undefined) return refuse(problems, "", "must be a GeoJSON Feature");
  if (root.type !== "Feature") return yield* readGeometry(root, "", {}, problems);
  const geometry = objectOf(root.geometry);
  if (geometry === undefined) return refuse(problems, "/geometry", `must be a ${kinds}`);
  return yield* readGeometry(geometry, "/geometry", objectOf(root.properties) ?? {}, problems);
}

type Json = Readonly<Record<string, unknown>>;

function* readGeometry(geometry: Json, place: string, properties: Json, problems: Problems): Steps<Zone | undefined> {
  const { type, coordinates } = geometry;
  const at = `${place}/coordinates`;
  if (type === "Point") return readCircle(coordinates, at, properties, problems);
  if (type !== "Polygon" && type !== "LineString") {
    const why = typeof type === "string" && Object.hasOwn(refusedTypes, type) ? refusedTypes[type] : undefined;
    return refuse(problems, `${place}/type`, why ?? `must be ${kinds}`);
  }
  const positions = countOf(coordinates, type === "Polygon");
  if (positions > mostCorners)
    return refuse(problems, at, `must have ${mostCorners} positions at most, and has ${positions}`);
  return type === "LineString"
    ? readRoute(coordinates, at, properties, problems)
    : yield* readPolygon(coordinates, at, problems);
}

function readCircle(coordinates: unknown, at: string, properties: Json, problems: Problems): Zone | undefined {
  const center = readCorner(coordinates, at, problems);
  const radius = readLength(properties, "radius", problems);
  if (center === undefined || radius === undefined) return undefined;
  return { kind: "circle", center: [firstTurn(center[0]), center[1]], radius };
}

function* readPolygon(coordinates: unknown, at: string, problems: Problems): Steps<Zone | undefined> {
  const rings = yield* readRings(coordinates, at, problems);
  return rings && { kind: "polygon", rings };
}

function readRoute(coordinates: unknown, at: string, properties: Json, problems: Problems): Zone | undefined {
  const line = readLine(coordinates, at, problems);
  const width = readLength(properties, "width", problems);
  if (line === undefined) return undefined;
  const { corners, places } = line;
  if (corners.length < 2) return refuse(problems, at, "must have 2 different positions at least");
  for (let index = 1; index < corners.length; index++)
    if (opposite(corners[index - 1], corners[index]))
      problems.add(
        at,
        `positions ${places[index - 1]} and ${places[index]} lie opposite each other on the earth, so it is not clear which way the route goes; put one between them`,
      );
  return width === undefined ? undefined : { kind: "route", line: corners, width };
}

function opposite(one: Corner | undefined, other: Corner | undefined): boolean {
  if (one === undefined || other === undefined || one[1] !== -other[1]) return false;
  return Math.abs(one[0] - other[0]) === 180 || Math.abs(one[1]) === 90;
}

function readLength(properties: Json, name: "radius" | "width", problems: Problems): number | undefined {
  const value = properties[name];
  if (typeof value === "number" && value > 0 && value <= farthestKm) return value;
  const problem =
    value === undefined
      ? "is required, in km"
      : `must be a number of km over 0, and at most ${Math.floor(farthestKm)} (half of the way around the earth)`;
  return refuse(problems, `/properties/${name}`, problem);
}

/** Positions of a line, or of all rings. */
function countOf(coordinates: unknown, rings: boolean): number {
  if (!Array.isArray(coordinates)) return 0;
  if (!rings) return coordinates.length;
  return coordinates.reduce((sum: number, ring: unknown) => sum + (Array.isArray(ring) ? ring.length : 1), 0);
}

function objectOf(value: unknown): Json | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function refuse(problems: Problems, place: string, problem: string): undefined {
  problems.add(place, problem);
  return undefined;
}
