import type { StyleSpecification } from "maplibre-gl";

/** Colours of the map, by theme. The sprites' are those of look/tokens.css. */
export const mapColours = {
  light: {
    sea: "#d5e3ec",
    land: "#f4f2ec",
    border: "#b4aea0",
    text: "#1b2128",
    halo: "#ffffff",
    accent: "#0b5cad",
    states: ["#0063a6", "#8a5a00", "#1f262d", "#d1006c", "#6b6b6b"],
    ground: "#ffffff",
  },
  dark: {
    sea: "#161b21",
    land: "#20262d",
    border: "#4a5561",
    text: "#e8ecf0",
    halo: "#14181d",
    accent: "#7cc0ff",
    states: ["#4fa8ff", "#f0c000", "#a3adb7", "#ff7a59", "#8f98a1"],
    ground: "#14181d",
  },
} as const;

/** Colours of one theme. */
export type MapColours = (typeof mapColours)["light" | "dark"];

/** Without `glyphs` MapLibre draws letters itself, with the system's fonts. */
export const textFont: string[] = ["DejaVu Sans"];

const nothing: GeoJSON.FeatureCollection = { type: "FeatureCollection", features: [] };

/** The map without its data: sea, land, borders, names of countries and cities. */
export function baseStyle(colours: MapColours): StyleSpecification {
  const source = { type: "geojson" as const, data: nothing };
  const halo = { "text-color": colours.text, "text-halo-color": colours.halo, "text-halo-width": 1.2 };
  return {
    version: 8,
    sources: {
      land: { ...source, attribution: "Natural Earth" },
      borders: source,
      names: source,
      cities: { ...source, attribution: "SimpleMaps (CC BY 4.0)" },
    },
    layers: [
      { id: "sea", type: "background", paint: { "background-color": colours.sea } },
      { id: "land", type: "fill", source: "land", paint: { "fill-color": colours.land, "fill-antialias": true } },
      {
        id: "borders",
        type: "line",
        source: "borders",
        paint: { "line-color": colours.border, "line-width": ["interpolate", ["linear"], ["zoom"], 2, 0.5, 8, 1.5] },
      },
      {
        id: "cities",
        type: "symbol",
        source: "cities",
        minzoom: 4,
        filter: ["<=", ["get", "rank"], ["step", ["zoom"], 150, 5, 500, 6, 1200, 7, 3000]],
        layout: {
          "text-field": ["get", "name"],
          "text-font": textFont,
          "text-size": 11,
          "symbol-sort-key": ["get", "rank"],
        },
        paint: { ...halo, "text-opacity": 0.85 },
      },
      {
        id: "names",
        type: "symbol",
        source: "names",
        maxzoom: 8,
        layout: {
          "text-field": ["get", "name"],
          "text-font": textFont,
          "text-size": ["interpolate", ["linear"], ["zoom"], 1, 10, 6, 15],
          "text-max-width": 7,
          "symbol-sort-key": ["-", 0, ["get", "area"]],
        },
        paint: halo,
      },
    ],
  };
}
