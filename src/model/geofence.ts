/** A corner: longitude, latitude in degrees, in the order of GeoJSON (RFC 7946, 3.1.1). */
export type Corner = readonly [longitude: number, latitude: number];

/** All within a distance of a point, measured on the great circle. */
export interface Circle {
  readonly kind: "circle";
  readonly center: Corner;
  /** km */
  readonly radius: number;
}

/**
 * An area between straight lines in longitude and latitude (RFC 7946, 3.1.6): the outer ring, then holes; each closed
 * (its last corner is its first). Longitudes may go beyond ±180 where a ring crosses the antimeridian; each corner is
 * the nearest turn to the one before it.
 */
export interface Polygon {
  readonly kind: "polygon";
  readonly rings: readonly (readonly Corner[])[];
}

/** All within a distance of a line: a road that a vehicle is to keep to. */
export interface Route {
  readonly kind: "route";
  readonly line: readonly Corner[];
  /** The corridor's whole width, km. */
  readonly width: number;
}

/** What a geofence covers. */
export type Zone = Circle | Polygon | Route;

/** How many positions a zone has. */
export function positionsOf(zone: Zone): number {
  if (zone.kind === "circle") return 1;
  return zone.kind === "route" ? zone.line.length : zone.rings.reduce((sum, ring) => sum + ring.length, 0);
}

/** A geofence whose zone is still the text that was stored: to show it, nothing of it need be read. */
export interface GeofenceText extends Omit<Geofence, "zone"> {
  /** A `Zone` as JSON. */
  readonly zoneText: string;
}

/** A named zone of an account. */
export interface Geofence {
  readonly key: number;
  /** Public identifier (UUID). */
  readonly id: string;
  readonly accountKey: number;
  readonly name: string;
  readonly description: string | null;
  readonly zone: Zone;
  readonly creation: number;
  readonly modification: number;
}
