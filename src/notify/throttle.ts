import type { Clock } from "../ports/clock.ts";
import { busyPart } from "../shares/loop-load.ts";

/** What a throttle needs to know. */
export interface ThrottleDeps {
  readonly clock: Pick<Clock, "monotonic">;
  /** Which part of its time the event loop was busy since this was last asked, 0 to 1. */
  readonly load: () => number;
}

/** How long the load is measured before it is judged, ms: one slow turn of the event loop says nothing. */
const windowMs = 250;
/** An event loop that was busy is so until its part falls below this: what the throttled tries take themselves lies between the two. */
const calmPart = 0.15;
/** From one try to the next while it is busy, ms: 200 a second. */
const gapMs = 5;
/** Tries that begin together at most while it is busy: a turn of a busy event loop takes longer than a gap. */
const mostTogether = 4;

/** Holds back the tries of a lane while the event loop is busy: what goes out is less urgent than what trackers and users wait for. Some always go out. */
export class Throttle {
  readonly #deps: ThrottleDeps;
  #judgedAt: number;
  #busy = false;
  /** When the next try may begin. */
  #next = 0;

  constructor(deps: ThrottleDeps) {
    this.#deps = deps;
    this.#judgedAt = deps.clock.monotonic();
  }

  /** How long the next try must wait, ms. */
  waitMs(): number {
    const now = this.#deps.clock.monotonic();
    this.#judge(now);
    return this.#busy ? Math.max(0, this.#next - now) : 0;
  }

  /** A try begins. */
  began(): void {
    if (!this.#busy) return;
    const now = this.#deps.clock.monotonic();
    this.#next = Math.max(this.#next, now - (mostTogether - 1) * gapMs) + gapMs;
  }

  #judge(now: number): void {
    if (now - this.#judgedAt < windowMs) return;
    this.#judgedAt = now;
    const load = this.#deps.load();
    const wasBusy = this.#busy;
    this.#busy = load > (wasBusy ? calmPart : busyPart);
    if (this.#busy && !wasBusy) this.#next = now;
  }
}
