import type { Clock } from "../ports/clock.ts";

/**
 * So long nothing may be appended while something waits, ms: a slow disk takes a second or two at times, and no tracker
 * waits much longer for its answer.
 */
const mostStalledMs = 5000;

/** Whether appends go on while there is something to append. */
export class Progress {
  readonly #clock: Clock;
  /** When what is being appended was begun, or last went on; undefined: nothing waits. */
  #since: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Something waits for an append. */
  begun(): void {
    this.#since ??= this.#clock.monotonic();
  }

  /** Nothing waits for an append. */
  idle(): void {
    this.#since = undefined;
  }

  appended(): void {
    if (this.#since !== undefined) this.#since = this.#clock.monotonic();
  }

  /** Ms without an append while reports wait for one. */
  get stalledMs(): number {
    return this.#since === undefined ? 0 : this.#clock.monotonic() - this.#since;
  }

  /** Throws where that is too long. */
  check(): void {
    const ms = this.stalledMs;
    if (ms > mostStalledMs) throw new Error(`nothing was appended for ${Math.round(ms / 1000)} s though reports wait`);
  }
}
