import {
  AttributionControl,
  type GeoJSONSource,
  Map as LibreMap,
  type LngLatBoundsLike,
  NavigationControl,
  ScaleControl,
  setWorkerUrl,
} from "maplibre-gl";
import "maplibre-gl/dist/maplibre-gl.css";
import cities from "virtual:cities";
import workerUrl from "maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url";
import fineUrl from "world-atlas/countries-50m.json?url";
import coarseUrl from "world-atlas/countries-110m.json?url";
import { isDark, setting } from "../me/settings.svelte.ts";
import { language } from "../words/language.svelte.ts";
import type { BaseAnswer, BaseRequest } from "./base.worker.ts";
import BaseWorker from "./base.worker.ts?worker";
import { baseStyle, mapColours, textFont } from "./style.ts";

// Without it MapLibre makes its worker of a blob, which the policy of the page forbids.
setWorkerUrl(workerUrl);

/** Where a map begins. */
export interface MapOptions {
  readonly bounds?: LngLatBoundsLike | undefined;
  readonly label: string;
  readonly controls?: boolean;
}

/** Colours of the theme that is shown. */
export function coloursNow() {
  return mapColours[isDark() ? "dark" : "light"];
}

/** A map with the base that the service brings; resolves when layers can be added. */
export async function createMap(
  container: HTMLElement,
  { bounds, label, controls = true }: MapOptions,
): Promise<LibreMap> {
  const style = await chosenStyle();
  const map = new LibreMap({
    container,
    style: style || baseStyle(coloursNow()),
    ...(bounds === undefined ? { center: [0, 20] as [number, number], zoom: 1.5 } : { bounds }),
    fitBoundsOptions: { padding: 40, maxZoom: 15 },
    attributionControl: false,
    renderWorldCopies: false,
    // Counts change twice a second: the old one must not stand under the new one.
    fadeDuration: 0,
    dragRotate: false,
    pitchWithRotate: false,
    touchPitch: false,
    maxZoom: 19,
  });
  map.touchZoomRotate.disableRotation();
  map.getCanvas().setAttribute("aria-label", label);
  map.addControl(new AttributionControl({ compact: true }));
  if (controls) {
    map.addControl(new NavigationControl({ showCompass: false }), "bottom-right");
    map.addControl(new ScaleControl({ unit: setting("units") === "us" ? "imperial" : "metric" }), "bottom-left");
  }
  await new Promise((resolve) => map.once("load", resolve));
  if (style === "") loadBase(map);
  return map;
}

let styleAsked: Promise<string> | undefined;

/** Address of the style that the operator set; empty: none, or nobody answers. */
function chosenStyle(): Promise<string> {
  styleAsked ??= fetch("/console.json")
    .then(async (response) => {
      const { mapStyle }: { readonly mapStyle: string } = await response.json();
      return mapStyle;
    })
    .catch(() => {
      styleAsked = undefined;
      return "";
    });
  return styleAsked;
}

/** The letters of the map's style, for our own names on it: a style with letters of its own has no others. */
export function fontOf(map: LibreMap): string[] {
  for (const layer of map.getStyle().layers) {
    const font = layer.type === "symbol" ? layer.layout?.["text-font"] : undefined;
    const parts: readonly unknown[] = Array.isArray(font) ? font : [];
    const names = parts.filter((part) => typeof part === "string");
    if (names.length > 0 && names.length === parts.length) return names;
  }
  return textFont;
}

/** Sets what a source of the map shows. */
export function setData(map: LibreMap, source: string, data: GeoJSON.GeoJSON): void {
  map.getSource<GeoJSONSource>(source)?.setData(data);
}

/** No features. */
export const nothing: GeoJSON.FeatureCollection = { type: "FeatureCollection", features: [] };

/** The coarse countries come first: they are there at once. */
async function loadBase(map: LibreMap): Promise<void> {
  let removed = false;
  map.once("remove", () => {
    removed = true;
  });
  setData(map, "cities", {
    type: "FeatureCollection",
    features: cities.map(([name, longitude, latitude], rank) => ({
      type: "Feature",
      geometry: { type: "Point", coordinates: [longitude, latitude] },
      properties: { name, rank },
    })),
  });
  for (const url of [coarseUrl, fineUrl]) {
    const base = await baseOf(new URL(url, location.href).href, () => removed);
    if (base === undefined) return;
    setData(map, "land", base.land);
    setData(map, "borders", base.borders);
    setData(map, "names", base.names);
  }
}

/** Between two tries while the service does not answer, ms. */
const retryMs = 5000;

/** The countries of an address, as soon as the service answers. Undefined: the map is gone. */
async function baseOf(url: string, isGone: () => boolean): Promise<BaseAnswer | undefined> {
  while (!isGone()) {
    const base = await askBase({ url, language: language() }).catch(() => undefined);
    if (base !== undefined) return isGone() ? undefined : base;
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
  return undefined;
}

function askBase(request: BaseRequest): Promise<BaseAnswer> {
  const worker = new BaseWorker();
  return new Promise<BaseAnswer>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<BaseAnswer>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(request);
  }).finally(() => worker.terminate());
}
