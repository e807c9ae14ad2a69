import { credibilityOf } from "../geo/credible.ts";
import { distanceKm } from "../geo/distance.ts";
import type { Anchor, LocationRecord, Totals } from "../model/location.ts";
import { millimetres } from "./mileage.ts";
import { stepOf } from "./step.ts";
import { type Step, sameTotals } from "./totals.ts";

/** What a record adds to the totals of the record before it. */
export interface Increment
  extends Pick<Step, "time" | "positioned" | "latitude" | "longitude" | "inputsReported" | "inputsActive"> {
  /** It has a position, which is not credible. */
  readonly aside: boolean;
  /** Where `aside`: the next position decides. Otherwise: the doubted position before it was credible. */
  readonly doubt: boolean;
  /** What the record adds to the odometer. */
  readonly countedMm: number;
  /** The device moved. */
  readonly moved: boolean;
  /** The device is on its way: see `Totals`. */
  readonly underway: boolean;
  /** After the record, a part of the way is not counted yet. */
  readonly uncounted: boolean;
}

/**
 * The totals after a record, made by adding one record's increment after the other. The fold has decided which way counts and whether the device moved: nothing is judged
 * again here. Blocks store increments, so what `add` makes of one belongs to the format of blocks, as `distanceKm` does, and must never change.
 */
export class RunningTotals {
  odometerMm = 0;
  sensor1 = 0;
  sensor2 = 0;
  sensor3 = 0;
  sensor4 = 0;
  movedAt = 0;
  inputsKnown = 0;
  #inputsActive = 0;
  /** The last credible position and its event time. */
  hasAnchor = false;
  anchorTime = 0;
  anchorLatitude = 0;
  anchorLongitude = 0;
  #doubted: Anchor | undefined;
  /** The way that is not in the odometer yet. */
  #hasUncounted = false;
  #fromTime = 0;
  #fromLatitude = 0;
  #fromLongitude = 0;
  #lengthMm = 0;
  #underway = false;

  /** Continues from these totals. */
  set(totals: Totals): void {
    const { anchor, doubted, uncounted, sensorMs } = totals;
    this.odometerMm = totals.odometerMm;
    this.sensor1 = sensorMs[0];
    this.sensor2 = sensorMs[1];
    this.sensor3 = sensorMs[2];
    this.sensor4 = sensorMs[3];
    this.movedAt = totals.movedAt;
    this.inputsKnown = totals.inputsKnown;
    this.#inputsActive = totals.inputsActive;
    this.hasAnchor = anchor !== undefined;
    this.anchorTime = anchor?.time ?? 0;
    this.anchorLatitude = anchor?.latitude ?? 0;
    this.anchorLongitude = anchor?.longitude ?? 0;
    this.#doubted = doubted;
    this.#hasUncounted = uncounted !== undefined;
    this.#fromTime = uncounted?.from.time ?? 0;
    this.#fromLatitude = uncounted?.from.latitude ?? 0;
    this.#fromLongitude = uncounted?.from.longitude ?? 0;
    this.#lengthMm = uncounted?.lengthMm ?? 0;
    this.#underway = totals.underway === true;
  }

  /** The totals as a value. */
  get totals(): Totals {
    const anchor = { time: this.anchorTime, latitude: this.anchorLatitude, longitude: this.anchorLongitude };
    const from = { time: this.#fromTime, latitude: this.#fromLatitude, longitude: this.#fromLongitude };
    return {
      odometerMm: this.odometerMm,
      sensorMs: [this.sensor1, this.sensor2, this.sensor3, this.sensor4],
      movedAt: this.movedAt,
      inputsKnown: this.inputsKnown,
      inputsActive: this.#inputsActive,
      ...(this.hasAnchor && { anchor }),
      ...(this.#doubted && { doubted: this.#doubted }),
      ...(this.#hasUncounted && { uncounted: { from, lengthMm: this.#lengthMm } }),
      ...(this.#underway && { underway: true }),
    };
  }

  /** Adds the increment of the next record. `beforeTime`: event time of the record before it. */
  add(beforeTime: number, increment: Increment): void {
    if (this.#inputsActive !== 0 && increment.time > beforeTime) this.#addActive(increment.time - beforeTime);
    this.inputsKnown |= increment.inputsReported;
    this.#inputsActive =
      (this.#inputsActive & ~increment.inputsReported) | (increment.inputsActive & increment.inputsReported);
    this.odometerMm += increment.countedMm;
    if (increment.moved) this.movedAt = increment.time;
    this.#underway = increment.underway;
    if (!increment.positioned) return;
    if (increment.aside) {
      if (increment.doubt) this.#doubted = placeOf(increment);
      return;
    }
    if (increment.doubt && this.#doubted !== undefined) this.#goTo(this.#doubted);
    this.#doubted = undefined;
    if (increment.uncounted) this.#addUncounted(increment.latitude, increment.longitude);
    else this.#hasUncounted = false;
    this.hasAnchor = true;
    this.anchorTime = increment.time;
    this.anchorLatitude = increment.latitude;
    this.anchorLongitude = increment.longitude;
  }

  /** The way begins anew, at the position that was doubted. */
  #goTo({ time, latitude, longitude }: Anchor): void {
    this.anchorTime = time;
    this.anchorLatitude = latitude;
    this.anchorLongitude = longitude;
    this.#hasUncounted = false;
  }

  #addActive(ms: number): void {
    const active = this.#inputsActive;
    if (active & 1) this.sensor1 += ms;
    if (active & 2) this.sensor2 += ms;
    if (active & 4) this.sensor3 += ms;
    if (active & 8) this.sensor4 += ms;
  }

  #addUncounted(latitude: number, longitude: number): void {
    if (!this.#hasUncounted) {
      this.#hasUncounted = true;
      this.#fromTime = this.anchorTime;
      this.#fromLatitude = this.anchorLatitude;
      this.#fromLongitude = this.anchorLongitude;
      this.#lengthMm = 0;
    }
    this.#lengthMm += millimetres(distanceKm(this.anchorLatitude, this.anchorLongitude, latitude, longitude));
  }
}

/** Finds each record's increment from the totals that the fold gave the record and the one before. */
export class Increments {
  readonly #running = new RunningTotals();
  #before: LocationRecord | undefined;

  /** The next record's increment. Undefined: no increment gives the record's totals, so they must be kept whole. */
  next(record: LocationRecord): Increment | undefined {
    const before = this.#before;
    this.#before = record;
    if (before !== undefined) {
      const increment = incrementOf(before.totals, record);
      this.#running.add(before.time, increment);
      if (sameTotals(this.#running.totals, record.totals)) return increment;
    }
    this.#running.set(record.totals);
    return undefined;
  }
}

/** The only increment that may give the record's totals. */
function incrementOf(before: Totals, record: LocationRecord): Increment {
  const step = stepOf(record);
  const { time, positioned, latitude, longitude, inputsReported, inputsActive } = step;
  const { odometerMm, movedAt, anchor, doubted, uncounted, underway } = record.totals;
  const aside = positioned && !isAt(anchor, record);
  return {
    time,
    positioned,
    aside,
    doubt: aside ? isAt(doubted, record) : credibilityOf(before, step) === "confirming",
    latitude,
    longitude,
    inputsReported,
    inputsActive,
    countedMm: odometerMm - before.odometerMm,
    moved: movedAt === time,
    underway: underway === true,
    uncounted: uncounted !== undefined,
  };
}

function isAt(place: Anchor | undefined, { time, latitude, longitude }: LocationRecord): boolean {
  return place?.time === time && place.latitude === latitude && place.longitude === longitude;
}

function placeOf({ time, latitude, longitude }: Increment): Anchor {
  return { time, latitude, longitude };
}
