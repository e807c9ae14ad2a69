import type { SimulatedReport } from "../wire/protocol.ts";

/**
 * What a tracker has to tell, oldest first: reports wait here until they are acknowledged. It holds a bounded number;
 * a further one takes the place of the oldest that is not on its way, as in a real tracker's memory.
 */
export class Backlog {
  readonly #reports: SimulatedReport[] = [];
  readonly #limit: number;
  /** Reports at the head that are on their way. */
  #inFlight = 0;
  /** Reports at the head that were sent at least once. */
  #sentBefore = 0;

  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  get length(): number {
    return this.#reports.length;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Adds the newest report; how many it pushed out (0 or 1). */
  add(report: SimulatedReport): number {
    const full = this.#reports.length >= this.#limit && this.#inFlight < this.#reports.length;
    if (full) {
      this.#reports.splice(this.#inFlight, 1);
      if (this.#sentBefore > this.#inFlight) this.#sentBefore -= 1;
    }
    this.#reports.push(report);
    return full ? 1 : 0;
  }

  /**
   * The next reports to send, at most so many, which are then on their way; and how many of them were sent before. Not
   * while others are.
   */
  take(limit: number): { readonly reports: readonly SimulatedReport[]; readonly again: number } {
    // Never all of an overfull memory: what a further report pushes out must be there.
    const reports = this.#inFlight > 0 ? [] : this.#reports.slice(0, Math.min(limit, this.#limit));
    const again = Math.min(reports.length, this.#sentBefore);
    this.#inFlight += reports.length;
    this.#sentBefore = Math.max(this.#sentBefore, this.#inFlight);
    return { reports, again };
  }

  /** The oldest ones on their way arrived; how many that are. */
  acknowledge(count: number): number {
    const done = Math.min(count, this.#inFlight);
    this.#reports.splice(0, done);
    this.#inFlight -= done;
    this.#sentBefore -= done;
    return done;
  }

  /** The connection is gone: what was on its way is to be sent again. */
  lose(): void {
    this.#inFlight = 0;
  }
}
