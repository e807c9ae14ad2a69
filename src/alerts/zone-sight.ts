import { credibilityOf } from "../geo/credible.ts";
import type { PreparedZone } from "../geo/zone.ts";
import type { ZoneIndex } from "../geo/zone-index.ts";
import type { Totals } from "../model/location.ts";
import type { Observation } from "../model/observation.ts";
import { crossed, isIn, wasIn, type ZoneSight } from "./judge.ts";

const unasked = 8;

/**
 * An account's zones as seen from one fix after another: those near are looked up once for a fix, when the first rule
 * asks, and each is asked once, for all rules.
 */
export class AccountSight implements ZoneSight {
  readonly #zones: readonly PreparedZone[];
  readonly #index: ZoneIndex;
  /** What is known of each zone; all but those in `near` are 0. */
  readonly #bits: Uint8Array;
  readonly #near: number[] = [];
  readonly #note: (zone: number) => void;
  #looked = false;
  #latitude = 0;
  #longitude = 0;
  #beforeLatitude = 0;
  #beforeLongitude = 0;
  /** The way between may be asked. */
  #way = false;
  known = false;

  constructor(zones: readonly PreparedZone[], index: ZoneIndex) {
    this.#zones = zones;
    this.#index = index;
    this.#bits = new Uint8Array(zones.length);
    this.#note = (zone) => {
      this.#bits[zone] = unasked;
      this.#near.push(zone);
    };
  }

  /**
   * Looks from a credible fix, as after the totals before it. A leg that adds nothing to the mileage is none that a
   * vehicle made, and crosses nothing. Nor does the way to a position that was doubted, which nobody knows.
   */
  look(observation: Observation, previous: Totals, totals: Totals): void {
    for (const zone of this.#near) this.#bits[zone] = 0;
    this.#near.length = 0;
    this.#looked = false;
    this.#latitude = observation.latitude;
    this.#longitude = observation.longitude;
    const { anchor } = previous;
    this.known = anchor !== undefined;
    this.#beforeLatitude = anchor?.latitude ?? this.#latitude;
    this.#beforeLongitude = anchor?.longitude ?? this.#longitude;
    this.#way = totals.odometerMm > previous.odometerMm && !confirmsDoubted(previous, observation);
  }

  bits(zone: number): number {
    if (!this.#looked) this.#lookUp();
    const bits = this.#bits[zone] ?? 0;
    return bits === unasked ? this.#ask(zone) : bits;
  }

  #lookUp(): void {
    this.#looked = true;
    if (this.#way || !this.known)
      this.#index.near(this.#beforeLatitude, this.#beforeLongitude, this.#latitude, this.#longitude, this.#note);
    else {
      this.#index.near(
        this.#beforeLatitude,
        this.#beforeLongitude,
        this.#beforeLatitude,
        this.#beforeLongitude,
        this.#note,
      );
      if (this.#latitude !== this.#beforeLatitude || this.#longitude !== this.#beforeLongitude)
        this.#index.near(this.#latitude, this.#longitude, this.#latitude, this.#longitude, this.#note);
    }
  }

  #ask(zone: number): number {
    const prepared = this.#zones[zone];
    if (prepared === undefined) return 0;
    const was = this.known && prepared.contains(this.#beforeLatitude, this.#beforeLongitude);
    const now = prepared.contains(this.#latitude, this.#longitude);
    const bits =
      (was ? wasIn : 0) | (now ? isIn : 0) | (this.#way && !was && !now && this.#crosses(prepared) ? crossed : 0);
    this.#bits[zone] = bits;
    return bits;
  }

  #crosses(prepared: PreparedZone): boolean {
    return prepared.crosses(this.#beforeLatitude, this.#beforeLongitude, this.#latitude, this.#longitude);
  }
}

/** Whether a credible fix goes on from the position that was doubted. */
function confirmsDoubted(previous: Totals, { time, latitude, longitude, speed }: Observation): boolean {
  if (previous.doubted === undefined) return false;
  return credibilityOf(previous, { time, latitude, longitude, speed, positioned: true, vague: false }) === "confirming";
}
