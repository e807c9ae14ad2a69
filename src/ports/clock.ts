/** The only source of time; tests bring their own. */
export interface Clock {
  /** Wall clock, epoch ms. It may jump. */
  now(): number;
  /** Milliseconds since some moment; never goes back. For durations and timeouts. */
  monotonic(): number;
}

/**
 * How far the wall clock is to be trusted, by what devices report: one that was set a year ahead makes everything old.
 */
export interface ClockTrust {
  /** Whether what is old by it may be deleted. */
  mayDelete(): boolean;
  /** Whether what has run out by it may be ended. */
  mayExpire(): boolean;
}
