import type { Map as LibreMap } from "maplibre-gl";
import { fontOf, nothing, setData } from "./map.ts";
import type { MapColours } from "./style.ts";
import { areaOf } from "./zone-shape.ts";
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
    layout: { "text-field": ["get", "name"], "text-font": fontOf(map), "text-size": 12 },
    paint: { "text-color": accent, "text-halo-color": halo, "text-halo-width": 1.5 },
  });
}

/** Shows these zones. */
export function setZones(map: LibreMap, zones: readonly Zone[]): void {
  setData(map, "zones", {
    type: "FeatureCollection",
    features: zones.map(({ id, name, geometry }) => ({
      type: "Feature",
      properties: { id, name: name.slice(0, 60) },
      geometry: areaOf(geometry),
    })),
  });
}
