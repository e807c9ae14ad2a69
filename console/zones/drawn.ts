import { areaOf, boundsOf, type ZoneGeometry } from "../map/zone-shape.ts";

/** What a person draws. */
export const shapes = ["polygon", "rectangle", "circle", "linestring"] as const;
/** A shape that a person draws. */
export type Shape = (typeof shapes)[number];

/** A feature as the drawing has it. */
export interface Drawn {
  readonly geometry: { readonly type: string; readonly coordinates: unknown };
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Six digits after the point are 11 cm. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

function roundedAll(coordinates: unknown): unknown {
  if (typeof coordinates === "number") return rounded(coordinates);
  return Array.isArray(coordinates) ? coordinates.map(roundedAll) : coordinates;
}

/** The zone of what was drawn: a circle is a place with a radius, a line a route with a width (km). */
export function zoneOf({ geometry, properties }: Drawn, widthKm: number): ZoneGeometry {
  const { type } = geometry;
  const radius = properties.radiusKilometers;
  if (properties.mode === "circle" && typeof radius === "number") {
    const [west = 0, south = 0, east = 0, north = 0] = boundsOf(geometry.coordinates) ?? [];
    return {
      type: "Point",
      coordinates: [rounded((west + east) / 2), rounded((south + north) / 2)],
      radius: Math.round(radius * 1000) / 1000,
    };
  }
  const coordinates = roundedAll(geometry.coordinates);
  return type === "LineString" ? { type, coordinates, width: widthKm } : { type, coordinates };
}

/** A zone as the drawing takes it, to be changed. */
export function drawnOf(zone: ZoneGeometry): Drawn {
  const { type, coordinates } = areaOf(zone) as GeoJSON.Polygon | GeoJSON.LineString;
  const mode = zone.type === "Point" ? "circle" : zone.type === "LineString" ? "linestring" : "polygon";
  return {
    geometry: { type, coordinates: roundedAll(coordinates) },
    properties: { mode, ...(zone.radius !== undefined && { radiusKilometers: zone.radius }) },
  };
}
