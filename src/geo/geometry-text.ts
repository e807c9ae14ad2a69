import type { Zone } from "../model/geofence.ts";
import { geoJsonOfZone } from "./geojson.ts";

/** A zone as the geometry that the API shows: GeoJSON's, with the property of its kind as one more field. */
export function geometryOfZone(zone: Zone) {
  const { geometry, properties } = geoJsonOfZone(zone);
  return { ...geometry, coordinates: [...geometry.coordinates], ...properties };
}

/** How the text of a zone of each kind begins, and how that of its geometry does. The rest of both is the same. */
const beginnings = [
  ['{"kind":"circle","center":', '{"type":"Point","coordinates":'],
  ['{"kind":"polygon","rings":', '{"type":"Polygon","coordinates":'],
  ['{"kind":"route","line":', '{"type":"LineString","coordinates":'],
] as const;

/**
 * A longitude of 360 or more either way, which is the first number of a list. Such a line is written in smaller turns.
 */
const manyTurns = /\[-?(?:3[6-9]\d|[4-9]\d\d|\d{4})/;

/** The JSON text of `geometryOfZone` for the JSON text of a zone. A zone of 10,000 corners is not read for it. */
export function geometryTextOf(zoneText: string): string {
  const found = beginnings.find(([begin]) => zoneText.startsWith(begin));
  if (found === undefined || manyTurns.test(zoneText)) return JSON.stringify(geometryOfZone(JSON.parse(zoneText)));
  const [zone, geometry] = found;
  return geometry + zoneText.slice(zone.length);
}
