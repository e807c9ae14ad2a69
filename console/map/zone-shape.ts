/** A zone's geometry as the API has it: a circle is a Point with a radius, a route a LineString with a width (km). */
export interface ZoneGeometry {
  readonly type: string;
  readonly coordinates: unknown;
  readonly radius?: number;
  readonly width?: number;
}

/** km of a degree of latitude. */
const degreeKm = 111.195;
const corners = 64;

/** What the map can draw of a zone: circles become polygons; a route stays a line. */
export function areaOf({ type, coordinates, radius = 0 }: ZoneGeometry): GeoJSON.Geometry {
  if (type === "Point") return { type: "Polygon", coordinates: [circle(coordinates as [number, number], radius)] };
  return { type, coordinates } as GeoJSON.Polygon | GeoJSON.LineString;
}

/** The ring of a circle, radius in km. */
export function circle([longitude, latitude]: readonly [number, number], radius: number): [number, number][] {
  const high = radius / degreeKm;
  const wide = high / Math.max(0.01, Math.cos((latitude * Math.PI) / 180));
  return Array.from({ length: corners + 1 }, (_, corner): [number, number] => {
    const angle = ((corner % corners) / corners) * 2 * Math.PI;
    return [longitude + wide * Math.cos(angle), latitude + high * Math.sin(angle)];
  });
}

/** West, south, east and north of positions in any nesting; undefined: there is none. */
export function boundsOf(coordinates: unknown): [number, number, number, number] | undefined {
  let found: [number, number, number, number] | undefined;
  const walk = (value: unknown): void => {
    if (!Array.isArray(value)) return;
    const [x, y] = value;
    if (typeof x !== "number" || typeof y !== "number") {
      for (const part of value) walk(part);
      return;
    }
    const [west, south, east, north] = found ?? [x, y, x, y];
    found = [Math.min(west, x), Math.min(south, y), Math.max(east, x), Math.max(north, y)];
  };
  walk(coordinates);
  return found;
}
