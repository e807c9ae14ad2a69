import type { Map as LibreMap } from "maplibre-gl";
import { labelOf } from "../words/shown.ts";
import { fontOf, nothing, setData } from "./map.ts";
import type { MapColours } from "./style.ts";
import { areaOf, boundsOf } from "./zone-shape.ts";
import { readZones, type Zone } from "./zones.ts";

/** Shows the account's zones below the devices. */
export async function showZones(map: LibreMap, colours: MapColours): Promise<void> {
  addZoneLayers(map, colours);
  const zones = await readZones().catch(() => []);
  if (map.getSource("zones")) setZones(map, zones);
}

/** The layers of zones, without zones. */
export function addZoneLayers(map: LibreMap, { accent, halo }: MapColours): void {
  map.addSource("zones", { type: "geojson", data: nothing });
  map.addLayer({
    id: "zone-areas",
    type: "fill",
    source: "zones",
    paint: { "fill-color": accent, "fill-opacity": 0.12 },
  });
  map.addLayer({
    id: "zone-edges",
    type: "line",
    source: "zones",
    paint: { "line-color": accent, "line-width": 1.5, "line-dasharray": [3, 2] },
  });
  map.addLayer({
    id: "zone-names",
    type: "symbol",
    source: "zones",
    minzoom: 9,
    filter: ["==", ["geometry-type"], "Point"],
    layout: { "text-field": ["get", "name"], "text-font": fontOf(map), "text-size": 12 },
    paint: { "text-color": accent, "text-halo-color": halo, "text-halo-width": 1.5 },
  });
}

/** Shows these zones. A name stands once, in the middle: an area lies in several tiles, each of which would name it. */
export function setZones(map: LibreMap, zones: readonly Zone[]): void {
  setData(map, "zones", { type: "FeatureCollection", features: zones.flatMap(featuresOf) });
}

function featuresOf({ id, name, geometry }: Zone): GeoJSON.Feature[] {
  const properties = { id, name: labelOf(name) };
  const [west = 0, south = 0, east = 0, north = 0] = boundsOf(geometry.coordinates) ?? [];
  return [
    { type: "Feature", properties, geometry: areaOf(geometry) },
    { type: "Feature", properties, geometry: { type: "Point", coordinates: [(west + east) / 2, (south + north) / 2] } },
  ];
}
