import { dayIn, nextDayIn } from "../../model/account-day.ts";
import type { Segment } from "./journey.ts";
import type { Point } from "./point.ts";

/** What a device did in a day of a time zone. */
export interface Day {
  /** `2026-11-21` */
  readonly date: string;
  /** The first and the last report, epoch ms. */
  first: number;
  last: number;
  distanceKm: number;
  /** Within trips, ms. */
  tripMs: number;
  /** Trips that began in it. */
  trips: number;
  /** Standing with the ignition on, ms; absent where no ignition was reported. */
  idleMs?: number;
  maxSpeed?: number;
}

/** Sums a device's points and trips by day. Both come by time, a trip after its points. */
export class Days {
  readonly #timeZone: string;
  readonly #gapMs: number;
  readonly #from: number;
  readonly #days = new Map<string, Day>();
  #previous: Point | undefined;
  #ignition: boolean | undefined;
  #day: Day | undefined;
  /** Where `#day` ends, epoch ms. */
  #midnight = Number.NEGATIVE_INFINITY;

  /**
   * `gapMs`: standing over a longer silence is not known to be idling. `from`: what was before it counts to no day; the
   * way from there to the first point behind it belongs to that one.
   */
  constructor(timeZone: string, gapMs: number, from: number) {
    this.#timeZone = timeZone;
    this.#gapMs = gapMs;
    this.#from = from;
  }

  add(point: Point): void {
    if (point.time >= this.#from) this.#count(point);
    this.#previous = point;
    if (point.ignition !== undefined) this.#ignition = point.ignition;
  }

  #count(point: Point): void {
    const previous = this.#previous;
    const day = this.#dayOf(point.time);
    day.last = point.time;
    if (previous !== undefined) day.distanceKm += point.mileage - previous.mileage;
    if (point.moved && point.speed !== undefined) day.maxSpeed = Math.max(day.maxSpeed ?? 0, point.speed);
    if (this.#ignition !== undefined) day.idleMs = (day.idleMs ?? 0) + this.#idleMs(previous, point);
  }

  addSegment(segment: Segment): void {
    if (segment.type !== "trip") return;
    const { start, end } = segment;
    const first = this.#days.get(dayIn(this.#timeZone, start.time));
    if (first !== undefined && start.time >= this.#from) first.trips++;
    for (let from = Math.max(start.time, this.#from); from < end.time; ) {
      const to = Math.min(nextDayIn(this.#timeZone, from), end.time);
      const day = this.#days.get(dayIn(this.#timeZone, from));
      if (day !== undefined) day.tripMs += to - from;
      from = to;
    }
  }

  /** All days with a report, in their order. */
  all(): readonly Day[] {
    return [...this.#days.values()];
  }

  #idleMs(previous: Point | undefined, point: Point): number {
    if (previous === undefined || this.#ignition !== true || point.moved) return 0;
    const elapsed = point.time - previous.time;
    return elapsed <= this.#gapMs ? elapsed : 0;
  }

  #dayOf(time: number): Day {
    if (this.#day !== undefined && time < this.#midnight) return this.#day;
    const date = dayIn(this.#timeZone, time);
    const day = this.#days.get(date) ?? { date, first: time, last: time, distanceKm: 0, tripMs: 0, trips: 0 };
    this.#days.set(date, day);
    this.#day = day;
    this.#midnight = nextDayIn(this.#timeZone, time);
    return day;
  }
}
