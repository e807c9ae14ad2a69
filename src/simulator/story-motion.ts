import { distanceKm } from "../geo/distance.ts";
import type { StoryPlace } from "./story.ts";

/** Where a tracker of a story is, how fast (km/h) and in which direction (degrees clockwise from north). */
export interface Motion extends StoryPlace {
  readonly speed: number;
  readonly course: number;
}

interface Leg {
  readonly from: StoryPlace;
  readonly to: StoryPlace;
  readonly km: number;
}

/** A way along places at one speed. */
export class Way {
  /** Milliseconds that it takes, whole seconds up: the arrival is a moment of its own. */
  readonly duration: number;
  readonly #legs: readonly Leg[];
  readonly #speed: number;
  readonly #end: Motion;

  /** @param speed km/h */
  constructor(from: Motion, along: readonly StoryPlace[], speed: number) {
    this.#speed = speed;
    let start: StoryPlace = from;
    this.#legs = along.map((to) => {
      const leg = { from: start, to, km: distanceKm(start.latitude, start.longitude, to.latitude, to.longitude) };
      start = to;
      return leg;
    });
    const km = this.#legs.reduce((sum, leg) => sum + leg.km, 0);
    this.duration = Math.ceil((km / speed) * 3600) * 1000;
    const last = this.#legs.findLast((leg) => leg.km > 0);
    this.#end = { ...start, speed: 0, course: last ? courseOf(last) : from.course };
  }

  /** The motion after a time, ms. */
  at(elapsed: number): Motion {
    if (elapsed >= this.duration) return this.#end;
    let km = (elapsed / 3_600_000) * this.#speed;
    for (const leg of this.#legs) {
      if (km < leg.km) return { ...between(leg, km / leg.km), speed: this.#speed, course: courseOf(leg) };
      km -= leg.km;
    }
    return this.#end;
  }
}

/** Straight in degrees, the short way round. */
function between({ from, to }: Leg, part: number): StoryPlace {
  const east = eastward(from.longitude, to.longitude) * part;
  return {
    latitude: from.latitude + (to.latitude - from.latitude) * part,
    longitude: from.longitude + east - 360 * Math.round((from.longitude + east) / 360),
    altitude: from.altitude + (to.altitude - from.altitude) * part,
  };
}

function courseOf({ from, to }: Leg): number {
  const east = eastward(from.longitude, to.longitude) * Math.cos((from.latitude * Math.PI) / 180);
  return ((Math.atan2(east, to.latitude - from.latitude) * 180) / Math.PI + 360) % 360;
}

function eastward(from: number, to: number): number {
  const span = to - from;
  return span - 360 * Math.round(span / 360);
}
