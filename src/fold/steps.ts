import { distanceKm } from "../geo/distance.ts";
import type { LocationRecord, Totals } from "../model/location.ts";
import { millimetres } from "./mileage.ts";
import { factsOf, isPositioned } from "./step.ts";
import { sameTotals } from "./totals.ts";

/** What a record's own step adds to the totals of the record before it. */
export interface TotalsStep {
  readonly time: number;
  /** It has a valid position of its own. */
  readonly positioned: boolean;
  readonly latitude: number;
  readonly longitude: number;
  /** As in the fold's `Step`. */
  readonly inputsReported: number;
  readonly inputsActive: number;
  /** What it adds to the odometer. */
  readonly countedMm: number;
  /** The device moved, it is on its way, and it leaves a way that is not counted yet. */
  readonly moved: boolean;
  readonly underway: boolean;
  readonly uncounted: boolean;
}

/** Adds step after step to the totals of a block's first record. No rule of the fold is repeated here: see `Steps`. */
export class StepTotals {
  odometerMm = 0;
  sensor1 = 0;
  sensor2 = 0;
  sensor3 = 0;
  sensor4 = 0;
  movedAt = 0;
  inputsKnown = 0;
  #inputsActive = 0;
  /** The last valid position and its event time. */
  hasAnchor = false;
  anchorTime = 0;
  anchorLatitude = 0;
  anchorLongitude = 0;
  /** The way that is not in the odometer yet. */
  #hasUncounted = false;
  #fromTime = 0;
  #fromLatitude = 0;
  #fromLongitude = 0;
  #lengthMm = 0;
  #underway = false;

  /** Goes on from these totals. */
  set(totals: Totals): void {
    const { anchor, uncounted, sensorMs } = totals;
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
      ...(this.#hasUncounted && { uncounted: { from, lengthMm: this.#lengthMm } }),
      ...(this.#underway && { underway: true }),
    };
  }

  /** `beforeTime`: of the record before. */
  add(beforeTime: number, step: TotalsStep): void {
    if (this.#inputsActive !== 0 && step.time > beforeTime) this.#addActive(step.time - beforeTime);
    this.inputsKnown |= step.inputsReported;
    this.#inputsActive = (this.#inputsActive & ~step.inputsReported) | (step.inputsActive & step.inputsReported);
    this.odometerMm += step.countedMm;
    if (step.moved) this.movedAt = step.time;
    this.#underway = step.underway;
    if (!step.positioned) return;
    if (step.uncounted) this.#addUncounted(step.latitude, step.longitude);
    else this.#hasUncounted = false;
    this.hasAnchor = true;
    this.anchorTime = step.time;
    this.anchorLatitude = step.latitude;
    this.anchorLongitude = step.longitude;
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

/** Takes the steps out of the totals that the fold gave records, one record after the other. */
export class Steps {
  readonly #totals = new StepTotals();
  #before: LocationRecord | undefined;

  /** The record's step; undefined: there is none that gives its totals, which are to stand in the block whole. */
  next(record: LocationRecord): TotalsStep | undefined {
    const before = this.#before;
    this.#before = record;
    const step = before && stepFrom(before.totals, record);
    if (before !== undefined && step !== undefined) this.#totals.add(before.time, step);
    if (step !== undefined && sameTotals(this.#totals.totals, record.totals)) return step;
    this.#totals.set(record.totals);
    return undefined;
  }
}

function stepFrom(before: Totals, record: LocationRecord): TotalsStep {
  const { time, latitude, longitude, extras, totals } = record;
  const { inputsReported, inputsActive } = factsOf(extras);
  return {
    time,
    positioned: isPositioned(record),
    latitude,
    longitude,
    inputsReported,
    inputsActive,
    countedMm: totals.odometerMm - before.odometerMm,
    moved: totals.movedAt === time,
    underway: totals.underway === true,
    uncounted: totals.uncounted !== undefined,
  };
}
