import { distanceKm } from "../geo/distance.ts";
import type { Totals } from "../model/location.ts";
import { clockUnset, countedOf, hasMoved, isPossible, millimetres, movingKmh, partOf } from "./mileage.ts";
import type { Step } from "./totals.ts";

/**
 * The fold of `advance` over many records without an object for each: who reads a history goes through a hundred thousand of them. It gives what `advance` gives,
 * which a test proves.
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
  /** The last valid position and its event time. */
  hasAnchor = false;
  anchorTime = 0;
  anchorLatitude = 0;
  anchorLongitude = 0;
  /** The way that is not in the mileage yet. */
  #hasUncounted = false;
  #fromTime = 0;
  #fromLatitude = 0;
  #fromLongitude = 0;
  #lengthMm = 0;
  #underway = false;
  /** A leg that was not counted moved the device. */
  #moved = false;

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
    if (uncounted !== undefined) this.#from(uncounted.from.time, uncounted.from.latitude, uncounted.from.longitude);
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

  /** Goes past a record that is not the first one. `beforeTime`: of the record before it. */
  add(beforeTime: number, step: Step): void {
    const { time, speed } = step;
    const first = clockUnset(beforeTime) && !clockUnset(time);
    const elapsedMs = time - beforeTime;
    // As `advance` says it, which differs for what is no number.
    if (!first && this.#inputsActive !== 0 && !(elapsedMs <= 0)) this.#addActive(elapsedMs);
    this.inputsKnown |= step.inputsReported;
    this.#inputsActive = (this.#inputsActive & ~step.inputsReported) | (step.inputsActive & step.inputsReported);
    if (!step.positioned) {
      if (first) this.movedAt = time;
      return;
    }
    this.#moved = false;
    if (this.hasAnchor) this.#addLeg(step);
    else this.#restart();
    if (first || (speed === undefined ? this.#moved : speed > movingKmh)) this.movedAt = time;
    this.hasAnchor = true;
    this.anchorTime = time;
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

  #from(time: number, latitude: number, longitude: number): void {
    this.#fromTime = time;
    this.#fromLatitude = latitude;
    this.#fromLongitude = longitude;
  }

  /** From here on the way is measured anew, and it is not known whether the device is on its way. */
  #restart(): void {
    this.#hasUncounted = false;
    this.#lengthMm = 0;
    this.#underway = false;
  }

  /** As `advanceMileage`. */
  #addLeg(fix: Step): void {
    const { time, latitude, longitude } = fix;
    const leg = distanceKm(this.anchorLatitude, this.anchorLongitude, latitude, longitude);
    if (!isPossible(leg, this.anchorTime, time)) {
      this.#restart();
      return;
    }
    if (!this.#hasUncounted) this.#from(this.anchorTime, this.anchorLatitude, this.anchorLongitude);
    const chord = this.#hasUncounted ? distanceKm(this.#fromLatitude, this.#fromLongitude, latitude, longitude) : leg;
    const lengthMm = this.#lengthMm + millimetres(leg);
    const newPart = partOf(this.anchorTime) !== partOf(time);
    const underway = this.#underway;
    const countedMm = countedOf(chord, lengthMm, fix, underway, newPart);
    if (countedMm !== undefined) {
      this.#restart();
      this.odometerMm += countedMm;
      this.#moved = hasMoved(countedMm, time - this.#fromTime);
      this.#underway = !newPart;
    } else if (newPart) this.#restart();
    else if (lengthMm === 0) this.#hasUncounted = false;
    else {
      this.#hasUncounted = true;
      this.#lengthMm = lengthMm;
    }
  }
}
