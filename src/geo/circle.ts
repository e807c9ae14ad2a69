import type { Circle } from "../model/geofence.ts";
import { type Box, boxAround } from "./box.ts";
import { earthRadiusKm } from "./distance.ts";
import type { PreparedZone } from "./prepared.ts";
import { arcReached, chord2, type Reach, reachOf, writeVector } from "./sphere.ts";

/** The two ends of what is asked; one for all circles, since nothing is kept from one question to the next. */
const ends = new Float64Array(6);

/** A circle on the sphere; around a pole it is as right as anywhere. */
export class PreparedCircle implements PreparedZone {
  readonly box: Box;
  readonly #center = new Float64Array(3);
  readonly #reach: Reach;

  constructor({ center: [longitude, latitude], radius }: Circle) {
    const angle = (radius / earthRadiusKm) * (180 / Math.PI);
    this.box = boxAround(longitude, latitude, longitude, latitude, angle);
    this.#reach = reachOf(radius);
    writeVector(latitude, longitude, this.#center, 0);
  }

  contains(latitude: number, longitude: number): boolean {
    writeVector(latitude, longitude, ends, 0);
    return chord2(this.#center, 0, ends, 0) <= this.#reach.chord ** 2;
  }

  crosses(latitude1: number, longitude1: number, latitude2: number, longitude2: number): boolean {
    writeVector(latitude1, longitude1, ends, 0);
    writeVector(latitude2, longitude2, ends, 3);
    return arcReached(this.#reach, this.#center, 0, ends, 0, 3);
  }
}
