import type { ExpressionSpecification, Map as LibreMap } from "maplibre-gl";
import type { components } from "../api/schema.ts";
import { nothing, setData } from "../map/map.ts";
import type { MapColours } from "../map/style.ts";

/**
 * Colours of the speed classes: from dark blue to orange, so that also who sees few colours can tell slow from fast.
 */
export const speedColours = ["#30346b", "#2f6c8e", "#1f988b", "#5ec962", "#c9b70c", "#e8622a"] as const;

const [standing, slow, town, road, fast, fastest] = speedColours;
const byClass: ExpressionSpecification = [
  "match",
  ["get", "speed"],
  0,
  standing,
  1,
  slow,
  2,
  town,
  3,
  road,
  4,
  fast,
  fastest,
];

/** A time without moving. */
export type Stop = components["schemas"]["Stop"];

/** The layers of one device's way, and of the place that is looked at. */
export function addTrack(map: LibreMap, { halo, accent, text, states }: MapColours): void {
  map.addSource("track", { type: "geojson", data: nothing });
  map.addSource("stops", { type: "geojson", data: nothing });
  map.addSource("mark", { type: "geojson", data: nothing });
  const layout = { "line-cap": "round", "line-join": "round" } as const;
  const line = { type: "line", source: "track" } as const;
  map.addLayer({ id: "track-ground", ...line, layout, paint: { "line-color": halo, "line-width": 7 } });
  map.addLayer({
    ...{ id: "track", ...line, layout, filter: ["!", ["get", "gap"]] },
    paint: { "line-color": byClass, "line-width": 4 },
  });
  map.addLayer({
    ...{ id: "track-gaps", ...line, filter: ["get", "gap"] },
    paint: { "line-color": text, "line-width": 2, "line-dasharray": [2, 2] },
  });
  map.addLayer({
    ...{ id: "stops", type: "circle", source: "stops" },
    paint: { "circle-radius": 5, "circle-color": halo, "circle-stroke-color": states[2], "circle-stroke-width": 3 },
  });
  map.addLayer({
    ...{ id: "mark", type: "circle", source: "mark" },
    paint: { "circle-radius": 8, "circle-color": accent, "circle-stroke-color": halo, "circle-stroke-width": 3 },
  });
}

/** Shows where the device stood. */
export function showStops(map: LibreMap, stops: readonly Stop[]): void {
  const coordinates = stops.map(({ start }) => [start.longitude, start.latitude]);
  setData(map, "stops", { type: "MultiPoint", coordinates });
}

/** Marks a place of the way. */
export function markAt(map: LibreMap, place: readonly [number, number] | undefined): void {
  setData(map, "mark", place === undefined ? nothing : { type: "Point", coordinates: [...place] });
}
