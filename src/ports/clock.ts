/** The only source of time; tests bring their own. */
export interface Clock {
  /** Wall clock, epoch ms. It may jump. */
  now(): number;
  /** Milliseconds since some moment; never goes back. For durations and timeouts. */
  monotonic(): number;
}
