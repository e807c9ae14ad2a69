/** From this part of its time on the event loop is busy: reports and requests need the processors. */
export const busyPart = 0.3;
/** One that was busy is so until its part falls below this: what gives way to it is a part of its load, and would make it swing between the two. */
const calmPart = 0.15;
/** How long the load is measured before it is judged, ms: one slow turn of the event loop says nothing. */
const windowMs = 250;

/** Gives a function that tells which part of its time the event loop was busy since it was last asked, 0 to 1. */
export function loopLoad(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}

/**
 * Whether the event loop is busy, by each quarter of a second. It measures all the time: who asks seldom would be told of the hours since he last asked, and a burst after them is
 * what he asks for.
 */
export class BusyLoop {
  readonly #load: () => number;
  #busyLoad = 0;
  #measuring: NodeJS.Timeout | undefined;

  /** `load`: which part of its time the event loop was busy since this was last asked, 0 to 1. */
  constructor(load: () => number = loopLoad()) {
    this.#load = load;
  }

  /** Which part of the last quarter of a second it was busy, 0 to 1. 0 while it does not count as busy, and before the first quarter of a second. */
  get busyLoad(): number {
    return this.#busyLoad;
  }

  /** Measures from now on. */
  start(): void {
    this.#load();
    this.#measuring ??= setInterval(() => {
      const load = this.#load();
      this.#busyLoad = load > (this.#busyLoad > 0 ? calmPart : busyPart) ? load : 0;
    }, windowMs).unref();
  }

  /** Measures no more. */
  stop(): void {
    clearInterval(this.#measuring);
    this.#measuring = undefined;
  }
}
