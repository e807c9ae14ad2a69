/** Seconds of its rate that a peer may use at once: trackers send their backlog in bursts. */
const burstSeconds = 2;

/** A token bucket that is filled by whole seconds, so that no message asks a clock. */
export class MessageRate {
  readonly #perSecond: number;
  #tokens: number;
  #filledAt: number;

  /** `tick`: whole seconds since any moment, here and below. */
  constructor(perSecond: number, tick: number) {
    this.#perSecond = perSecond;
    this.#tokens = perSecond * burstSeconds;
    this.#filledAt = tick;
  }

  /** Whether a message may be taken now. */
  allows(tick: number): boolean {
    if (this.#tokens > 0) return true;
    this.#tokens = Math.min((tick - this.#filledAt) * this.#perSecond, this.#perSecond * burstSeconds);
    this.#filledAt = tick;
    return this.#tokens > 0;
  }

  /** A message was taken. */
  spend(): void {
    this.#tokens--;
  }
}
