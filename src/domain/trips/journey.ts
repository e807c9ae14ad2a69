import type { Point } from "./point.ts";

/** What makes a trip. */
export interface TripLimits {
  /** A device that stands for so long has ended its trip, ms. */
  readonly stopMs: number;
  /** A device that is silent for so long has ended its trip, ms. */
  readonly gapMs: number;
  /** A shorter way is no trip, km. */
  readonly leastKm: number;
}

/** Where and when a trip or a stop begins or ends. */
export interface End {
  readonly time: number;
  readonly latitude: number;
  readonly longitude: number;
}

/** What a trip and a stop have in common. */
interface Span {
  readonly start: End;
  readonly end: End;
  /** Standing with the ignition on, ms; absent where no ignition was reported. */
  readonly idleMs?: number;
  /** It was under way at the beginning of the range, and may have begun before. */
  readonly openStart: boolean;
  /** It is under way at the end of the range, and may go on. */
  readonly openEnd: boolean;
}

/** A way of the device from one stop to the next. */
export interface Trip extends Span {
  readonly type: "trip";
  readonly distanceKm: number;
  /** km/h; absent where no speed was reported. */
  readonly maxSpeed?: number;
}

/** The time between two trips. */
export interface Stop extends Span {
  readonly type: "stop";
}

/** A part of a device's history: it moves, or it stands. */
export type Segment = Trip | Stop;

/** A trip or a stop while it is gathered. */
interface Open {
  start: End;
  openStart: boolean;
  idleMs: number;
}

interface OpenTrip extends Open {
  /** Where it last moved. */
  end: End;
  startMileage: number;
  endMileage: number;
  maxSpeed: number | undefined;
  /** Standing with the ignition on since it last moved, ms. */
  pauseIdleMs: number;
}

/**
 * Cuts a device's history into stops and trips, which alternate. A trip begins where the device was last before it
 * moved, and ends where it last moved before it stood or was silent for long enough. The way over a silence belongs to
 * the trip after it, so the trips have the mileage's whole way, but for ways that are too short to be trips.
 */
export class Journey {
  readonly #limits: TripLimits;
  #previous: Point | undefined;
  #stop: Open | undefined;
  #trip: OpenTrip | undefined;
  #ignition: boolean | undefined;
  /** Whether a point has said where the device is. */
  #placed = false;

  constructor(limits: TripLimits) {
    this.#limits = limits;
  }

  /** When what is not ended yet begins: the moment to read on from; undefined before the first point. */
  get openSince(): number | undefined {
    return (this.#stop ?? this.#trip)?.start.time;
  }

  /** Takes the next point by time, and gives what ended before it. */
  add(point: Point): readonly Segment[] {
    const previous = this.#previous;
    const ended: Segment[] = [];
    if (previous === undefined) this.#begin(point);
    else {
      const idleMs = this.#idleMs(previous, point);
      if (this.#trip !== undefined && this.#isOver(this.#trip, previous, point))
        ended.push(...this.#endTrip(this.#trip));
      if (point.moved) this.#move(previous, point);
      else this.#stand(point, idleMs);
    }
    if (point.ignition !== undefined) this.#ignition = point.ignition;
    this.#previous = point;
    return ended;
  }

  /** The history that is asked for ends here: what is not ended yet. */
  end(): readonly Segment[] {
    const ended: Segment[] = [];
    if (this.#trip !== undefined && !this.#isShort(this.#trip)) {
      ended.push(...this.#stopBefore(this.#stop, this.#trip), this.#tripOf(this.#trip, true));
    } else {
      const stop = this.#stop ?? this.#trip;
      if (stop !== undefined && this.#previous !== undefined) ended.push(this.#stopOf(stop, this.#previous.time, true));
    }
    return ended;
  }

  #begin(point: Point): void {
    const start = endOf(point);
    this.#placed = point.placed;
    // The first record of all counts as moved, wherever it lies.
    if (point.moved && point.placed) this.#trip = tripFrom(start, point, true);
    else this.#stop = { start, openStart: true, idleMs: 0 };
  }

  /** Standing with the ignition on, from one point to the next. */
  #idleMs(previous: Point, point: Point): number {
    const elapsed = point.time - previous.time;
    return this.#ignition === true && !point.moved && elapsed <= this.#limits.gapMs ? elapsed : 0;
  }

  #isOver(trip: OpenTrip, previous: Point, point: Point): boolean {
    if (point.time - previous.time > this.#limits.gapMs) return true;
    return !point.moved && point.time - trip.end.time >= this.#limits.stopMs;
  }

  /** The trip and the stop before it; a way that is too short for a trip belongs to the stop. */
  #endTrip(trip: OpenTrip): readonly Segment[] {
    this.#trip = undefined;
    const before = this.#stop;
    if (this.#isShort(trip)) {
      this.#stop = before ?? { start: trip.start, openStart: trip.openStart, idleMs: 0 };
      this.#stop.idleMs += trip.idleMs + trip.pauseIdleMs;
      return [];
    }
    this.#stop = { start: trip.end, openStart: false, idleMs: trip.pauseIdleMs };
    return [...this.#stopBefore(before, trip), this.#tripOf(trip, false)];
  }

  /** A stop as long as nothing, at the beginning of a range, is none. */
  #stopBefore(stop: Open | undefined, { start }: OpenTrip): readonly Stop[] {
    return stop === undefined || stop.start.time === start.time ? [] : [this.#stopOf(stop, start.time, false)];
  }

  #isShort({ startMileage, endMileage }: OpenTrip): boolean {
    return endMileage - startMileage < this.#limits.leastKm;
  }

  #move(previous: Point, point: Point): void {
    this.#trip ??= this.#tripAfter(previous, point);
    const trip = this.#trip;
    trip.idleMs += trip.pauseIdleMs;
    trip.pauseIdleMs = 0;
    trip.end = endOf(point);
    trip.endMileage = point.mileage;
    if (point.speed !== undefined) trip.maxSpeed = Math.max(trip.maxSpeed ?? 0, point.speed);
  }

  /** A trip that begins in place where the device stood, and in time not before anything was heard of it lately. */
  #tripAfter(previous: Point, point: Point): OpenTrip {
    const place = this.#placed ? (this.#stop?.start ?? endOf(previous)) : endOf(point);
    this.#placed = true;
    const time = point.time - previous.time > this.#limits.stopMs ? point.time : previous.time;
    return tripFrom({ ...place, time }, previous, false);
  }

  #stand(point: Point, idleMs: number): void {
    if (this.#trip !== undefined) this.#trip.pauseIdleMs += idleMs;
    else if (this.#stop !== undefined) {
      this.#stop.idleMs += idleMs;
      if (!this.#placed && point.placed) this.#stop.start = { ...endOf(point), time: this.#stop.start.time };
      this.#placed ||= point.placed;
    }
  }

  #tripOf({ start, end, startMileage, endMileage, maxSpeed, openStart, idleMs }: OpenTrip, openEnd: boolean): Trip {
    const distanceKm = Math.round((endMileage - startMileage) * 1000) / 1000;
    const idle = this.#ignition === undefined ? {} : { idleMs };
    return {
      type: "trip",
      start,
      end,
      distanceKm,
      ...(maxSpeed !== undefined && { maxSpeed }),
      ...idle,
      openStart,
      openEnd,
    };
  }

  #stopOf({ start, idleMs, openStart }: Open, time: number, openEnd: boolean): Stop {
    const idle = this.#ignition === undefined ? {} : { idleMs };
    return { type: "stop", start, end: { ...start, time }, ...idle, openStart, openEnd };
  }
}

function tripFrom(start: End, { mileage }: Point, openStart: boolean): OpenTrip {
  return {
    start,
    end: start,
    openStart,
    startMileage: mileage,
    endMileage: mileage,
    maxSpeed: undefined,
    idleMs: 0,
    pauseIdleMs: 0,
  };
}

function endOf({ time, latitude, longitude }: Point): End {
  return { time, latitude, longitude };
}
