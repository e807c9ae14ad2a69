import type { Map as LibreMap, MapMouseEvent } from "maplibre-gl";
import { bubbleAt, deviceAt, type Picture, pictureOf, type View } from "../live/grid.ts";
import { mercatorX, mercatorY, placeOf } from "../live/mercator.ts";
import type { FleetStore } from "../live/store.ts";
import { labelOf } from "../words/shown.ts";
import { DevicesLayer } from "./devices-layer.ts";
import { fontOf, nothing, setData } from "./map.ts";
import type { MapColours } from "./style.ts";

/** How often the picture is made anew while the fleet changes, and while the map moves. */
const changedMs = 500;
const movedMs = 200;
/** Texts go through MapLibre's worker and are laid out anew each time: they cost more than all the rest. */
const textsMs = 500;
/** Names stand beside devices where so few are in view. */
const mostNames = 40;
/** A cell beyond the edge, so that what comes into view is there already. */
const edgePixels = 60;
const pickPixels = 16;

/** What the view needs to know and tells. */
export interface FleetViewOptions {
  readonly store: FleetStore;
  readonly colours: MapColours;
  readonly nameOf: (id: string) => string;
  /** Rows that are shown; undefined: all. */
  readonly shown: () => Uint8Array | undefined;
  readonly pick: (id: string | undefined) => void;
  readonly pictured?: (picture: Picture) => void;
}

/** The fleet on a map: decides what is drawn, twice a second and while the map moves, and finds what is clicked. */
export class FleetView {
  readonly #map: LibreMap;
  readonly #options: FleetViewOptions;
  readonly #layer: DevicesLayer;
  readonly #timer: ReturnType<typeof setInterval>;
  #picture: Picture = { singles: new Uint32Array(0), bubbles: [], inView: 0 };
  #drawn = -1;
  #madeAt = 0;
  #textsAt = Number.NEGATIVE_INFINITY;
  #textsTimer: ReturnType<typeof setTimeout> | undefined;
  #followed: string | undefined;

  constructor(map: LibreMap, options: FleetViewOptions) {
    this.#map = map;
    this.#options = options;
    this.#layer = new DevicesLayer(options.store, options.colours);
    map.addLayer(this.#layer);
    this.#addTexts();
    map.on("move", this.#moved);
    map.on("moveend", () => {
      this.#textsAt = Number.NEGATIVE_INFINITY;
      this.refresh();
    });
    map.on("click", this.#clicked);
    map.on("mousemove", (event) => {
      map.getCanvas().style.cursor = this.#at(event) === undefined ? "" : "pointer";
    });
    this.#timer = setInterval(() => {
      if (document.hidden || options.store.version === this.#drawn) return;
      this.refresh();
    }, changedMs);
    this.refresh();
  }

  /** Ends it; the map goes with its layers. */
  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#textsTimer);
  }

  /** Marks a device. */
  select(id: string | undefined): void {
    this.#layer.selected = id === undefined ? undefined : this.#options.store.rowOf(id);
    this.#map.triggerRepaint();
  }

  /** Keeps a device in the middle. */
  follow(id: string | undefined): void {
    this.#followed = id;
    this.#keepInMiddle();
  }

  /** Goes to a device. */
  show(id: string): void {
    const row = this.#options.store.rowOf(id);
    if (row === undefined || !this.#options.store.isPlaced(row)) return;
    this.#map.easeTo({ center: this.#placeOf(row), zoom: Math.max(this.#map.getZoom(), 14) });
  }

  /** Shows all devices that are shown. */
  showAll(): void {
    const { store, shown } = this.#options;
    const wanted = shown();
    let [west, south, east, north] = [180, 90, -180, -90];
    for (let row = 0; row < store.rows; row += 1) {
      if (!store.isPlaced(row) || wanted?.[row] === 0) continue;
      const [longitude, latitude] = this.#placeOf(row);
      west = Math.min(west, longitude);
      east = Math.max(east, longitude);
      south = Math.min(south, latitude);
      north = Math.max(north, latitude);
    }
    if (west > east) return;
    this.#map.fitBounds([west, south, east, north], { padding: 60, maxZoom: 15, animate: false });
  }

  /** Makes the picture anew. */
  refresh(): void {
    const { store, shown, pictured } = this.#options;
    this.#drawn = store.version;
    this.#madeAt = performance.now();
    this.#picture = pictureOf(store, this.#view(), shown());
    this.#layer.show(this.#picture);
    this.#showTexts();
    this.#keepInMiddle();
    pictured?.(this.#picture);
  }

  #keepInMiddle(): void {
    const row = this.#followed === undefined ? undefined : this.#options.store.rowOf(this.#followed);
    if (row === undefined || this.#map.isMoving()) return;
    this.#map.easeTo({ center: this.#placeOf(row), duration: 400 });
  }

  #placeOf(row: number): [number, number] {
    return placeOf(this.#options.store.x[row] ?? 0, this.#options.store.y[row] ?? 0);
  }

  #view(): View {
    const bounds = this.#map.getBounds();
    const worldPixels = this.#worldPixels();
    const edge = edgePixels / worldPixels;
    return {
      left: mercatorX(bounds.getWest()) - edge,
      right: mercatorX(bounds.getEast()) + edge,
      top: mercatorY(bounds.getNorth()) - edge,
      bottom: mercatorY(bounds.getSouth()) + edge,
      worldPixels,
    };
  }

  #worldPixels(): number {
    return 512 * 2 ** this.#map.getZoom();
  }

  readonly #moved = (): void => {
    if (performance.now() - this.#madeAt > movedMs) this.refresh();
  };

  #at({ lngLat }: MapMouseEvent): number | undefined {
    const at = { x: mercatorX(lngLat.lng), y: mercatorY(lngLat.lat) };
    return deviceAt(this.#options.store, this.#picture, at, { worldPixels: this.#worldPixels(), within: pickPixels });
  }

  readonly #clicked = (event: MapMouseEvent): void => {
    const row = this.#at(event);
    if (row !== undefined) {
      this.#options.pick(this.#options.store.ids[row]);
      return;
    }
    const at = { x: mercatorX(event.lngLat.lng), y: mercatorY(event.lngLat.lat) };
    const bubble = bubbleAt(this.#picture, at, this.#worldPixels());
    if (bubble === undefined) this.#options.pick(undefined);
    else this.#map.easeTo({ center: placeOf(bubble.x, bubble.y), zoom: this.#map.getZoom() + 2 });
  };

  #addTexts(): void {
    const { text, halo } = this.#options.colours;
    this.#map.addSource("fleet", { type: "geojson", data: nothing });
    this.#map.addLayer({
      id: "counts",
      type: "symbol",
      source: "fleet",
      filter: ["has", "count"],
      layout: {
        "text-field": ["get", "count"],
        "text-font": fontOf(this.#map),
        "text-size": 12,
        "text-allow-overlap": true,
        "text-ignore-placement": true,
      },
      paint: { "text-color": text },
    });
    this.#map.addLayer({
      id: "device-names",
      type: "symbol",
      source: "fleet",
      filter: ["has", "name"],
      layout: {
        "text-field": ["get", "name"],
        "text-font": fontOf(this.#map),
        "text-size": 12,
        "text-anchor": "top",
        "text-offset": [0, 0.9],
        "text-max-width": 12,
      },
      paint: { "text-color": text, "text-halo-color": halo, "text-halo-width": 1.5 },
    });
  }

  #showTexts(): void {
    const now = performance.now();
    if (now - this.#textsAt < textsMs) {
      this.#textsTimer ??= setTimeout(() => {
        this.#textsTimer = undefined;
        this.#showTexts();
      }, textsMs);
      return;
    }
    this.#textsAt = now;
    const { singles, bubbles } = this.#picture;
    const counts = bubbles.map(({ x, y, count }) => point(placeOf(x, y), { count: shortCount(count) }));
    const rows = bubbles.length === 0 && singles.length <= mostNames ? [...singles] : [];
    const names = rows.map((row) => {
      const name = labelOf(this.#options.nameOf(this.#options.store.ids[row] ?? ""));
      return point(this.#placeOf(row), { name });
    });
    setData(this.#map, "fleet", { type: "FeatureCollection", features: [...counts, ...names] });
  }
}

function point(coordinates: [number, number], properties: Record<string, string>): GeoJSON.Feature {
  return { type: "Feature", geometry: { type: "Point", coordinates }, properties };
}

function shortCount(count: number): string {
  return count < 10_000 ? String(count) : `${Math.round(count / 1000)}k`;
}
