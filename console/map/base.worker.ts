import codes from "i18n-iso-countries/codes.json";
import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { middleOf } from "./middle.ts";
import { unwrapped } from "./unwrap.ts";

/** What the map asks: the countries of an address, named in a language. */
export interface BaseRequest {
  readonly url: string;
  readonly language: string;
}

/** Land, borders and names, as GeoJSON. */
export interface BaseAnswer {
  readonly land: GeoJSON.FeatureCollection;
  readonly borders: GeoJSON.MultiLineString;
  readonly names: GeoJSON.FeatureCollection<GeoJSON.Point>;
}

type Countries = Topology<{ countries: GeometryCollection<{ name: string }>; land: GeometryCollection }>;

/** ISO 3166-1: two letters by number. */
const letters = new Map(codes.map(([two, , number]) => [number, two]));

self.onmessage = async ({ data: { url, language } }: MessageEvent<BaseRequest>) => {
  const response = await fetch(url);
  const topology: Countries = await response.json();
  const { countries } = topology.objects;
  const { features } = feature(topology, countries);
  const shapes = features.map((country) => ({ ...country, geometry: unwrapped(country.geometry) }));
  const names = new Intl.DisplayNames(language, { type: "region" });
  const labels = shapes.flatMap((country): GeoJSON.Feature<GeoJSON.Point>[] => {
    const code = letters.get(String(country.id ?? "").padStart(3, "0"));
    const middle = middleOf(country.geometry);
    // What is no country of ISO 3166-1 is disputed, and carries no name.
    if (code === undefined || middle === undefined) return [];
    return [
      {
        type: "Feature",
        geometry: { type: "Point", coordinates: middle.place },
        properties: { name: names.of(code) ?? country.properties.name, area: middle.area },
      },
    ];
  });
  const answer: BaseAnswer = {
    land: {
      type: "FeatureCollection",
      features: shapes.map(({ type, geometry }) => ({ type, geometry, properties: {} })),
    },
    borders: mesh(topology, countries, (left, right) => left !== right),
    names: { type: "FeatureCollection", features: labels },
  };
  self.postMessage(answer);
};
