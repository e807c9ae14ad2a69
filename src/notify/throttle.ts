import type { Clock } from "../ports/clock.ts";

/** What a throttle needs to know. */
export interface ThrottleDeps {
  readonly clock: Pick<Clock, "monotonic">;
  /** Whether the event loop is busy. */
  readonly isBusy: () => boolean;
}

/** From one try to the next while it is busy, ms: 200 a second. */
const gapMs = 5;
/** Tries that begin together at most while it is busy: a turn of a busy event loop takes longer than a gap. */
const mostTogether = 4;

/** Holds back the tries of a lane while the event loop is busy: what goes out is less urgent than what trackers and users wait for. Some always go out. */
export class Throttle {
  readonly #deps: ThrottleDeps;
  /** When the next try may begin. */
  #next = Number.NEGATIVE_INFINITY;

  constructor(deps: ThrottleDeps) {
    this.#deps = deps;
  }

  /** How long the next try must wait, ms. */
  waitMs(): number {
    return this.#deps.isBusy() ? Math.max(0, this.#next - this.#deps.clock.monotonic()) : 0;
  }

  /** A try begins. */
  began(): void {
    if (!this.#deps.isBusy()) return;
    const now = this.#deps.clock.monotonic();
    this.#next = Math.max(this.#next, now - (mostTogether - 1) * gapMs) + gapMs;
  }
}
