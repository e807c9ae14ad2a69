/** From this part of its time on the event loop is busy: reports and requests need the processors. */
export const busyPart = 0.3;
/**
 * A busy loop counts as busy until its load falls below this. By one limit alone it would swing: what gives way while
 * it is busy is a part of its load.
 */
const calmPart = 0.15;
/** How long the load is measured before it is judged, ms: one slow turn of the event loop means nothing. */
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
 * Tells whether the event loop is busy, by the last quarter of a second. It measures all the time. Measured only when
 * somebody asks, a burst would be averaged with the hours of calm before it.
 */
export class BusyLoop {
  readonly #load: () => number;
  #busyLoad = 0;
  #measuring: NodeJS.Timeout | undefined;

  /** `load` returns the part of the time since its previous call, 0 to 1, in which the event loop was busy. */
  constructor(load: () => number = loopLoad()) {
    this.#load = load;
  }

  /**
   * The part of the last quarter of a second, 0 to 1, in which the loop was busy. 0 while it does not count as busy,
   * and before the first measurement.
   */
  get busyLoad(): number {
    return this.#busyLoad;
  }

  /** Starts measuring. */
  start(): void {
    this.#load();
    this.#measuring ??= setInterval(() => {
      const load = this.#load();
      this.#busyLoad = load > (this.#busyLoad > 0 ? calmPart : busyPart) ? load : 0;
    }, windowMs).unref();
  }

  /** Stops measuring. */
  stop(): void {
    clearInterval(this.#measuring);
    this.#measuring = undefined;
  }
}
