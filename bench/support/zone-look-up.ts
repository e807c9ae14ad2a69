import { type PreparedZone, prepareZone } from "../../src/geo/zone.ts";
import { ZoneIndex } from "../../src/geo/zone-index.ts";
import { cityKm, cityPlace, cityZone } from "./city.ts";

/** Ways between two fixes that are looked up, some ten metres each, anywhere among the zones. */
const ways = 4096;
/** Zones for which the city has its usual width: it grows with their number, so that as many lie over each place. */
const usualZones = 1000;

/** Zones, and what it takes to find those that a vehicle's way touches. */
export class ZoneLookUp {
  readonly zones: number;
  /** Zones that were found to hold a fix: about as many however many zones there are. */
  inside = 0;
  /** ns of one look-up, in each round. */
  readonly rounds: number[] = [];
  readonly #prepared: readonly PreparedZone[];
  readonly #index: ZoneIndex;
  readonly #from: Float64Array;
  readonly #near: number[] = [];

  constructor(zones: number) {
    const halfKm = cityKm * Math.sqrt(zones / usualZones);
    this.zones = zones;
    this.#prepared = Array.from({ length: zones }, (_, index) => prepareZone(cityZone(index, halfKm)));
    this.#index = new ZoneIndex(this.#prepared.map((prepared) => ({ prepared })));
    this.#from = Float64Array.from(Array.from({ length: ways }, (_, way) => cityPlace(way + 0.5, halfKm)).flat());
  }

  /** One round, noted or not: each way once, the zones near it asked whether they hold its end, as rules do. */
  measure(noted: boolean): void {
    const began = performance.now();
    for (let way = 0; way < ways; way++) {
      const longitude = this.#from[way * 2] ?? 0;
      const latitude = this.#from[way * 2 + 1] ?? 0;
      this.#near.length = 0;
      this.#index.near(latitude, longitude, latitude + 0.0001, longitude + 0.0001, (zone) => this.#near.push(zone));
      for (const zone of this.#near)
        if (this.#prepared[zone]?.contains(latitude + 0.0001, longitude + 0.0001)) this.inside++;
    }
    if (noted) this.rounds.push(((performance.now() - began) * 1e6) / ways);
  }
}
