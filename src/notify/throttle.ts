import type { Clock } from "../ports/clock.ts";

/** What a throttle needs to know. */
export interface ThrottleDeps {
  readonly clock: Pick<Clock, "monotonic">;
  /** See `BusyLoop`. */
  readonly busyLoad: () => number;
}

/** From one try to the next while the event loop is busy, ms: 200 tries a second. */
const gapMs = 5;
/** The same while it has no time left: 50 tries a second. A try takes a millisecond of it. */
const mostGapMs = 20;
/** From this load on, the gap grows from `gapMs` towards `mostGapMs`. */
const heavyPart = 0.5;
/** Tries that begin together at most while it is busy: a turn of a busy event loop takes longer than a gap. */
const mostTogether = 4;

/**
 * Holds back the tries of a lane while the event loop is busy: what goes out is less urgent than what trackers and
 * users wait for. Some always go out.
 */
export class Throttle {
  readonly #deps: ThrottleDeps;
  /** When the next try may begin. */
  #next = Number.NEGATIVE_INFINITY;

  constructor(deps: ThrottleDeps) {
    this.#deps = deps;
  }

  /** How long the next try must wait, ms. */
  waitMs(): number {
    return this.#deps.busyLoad() > 0 ? Math.max(0, this.#next - this.#deps.clock.monotonic()) : 0;
  }

  /** A try begins. */
  began(): void {
    const load = this.#deps.busyLoad();
    if (load === 0) return;
    const gap = gapAt(load);
    this.#next = Math.max(this.#next, this.#deps.clock.monotonic() - (mostTogether - 1) * gap) + gap;
  }
}

/** Time from one try to the next at a load, ms. */
function gapAt(load: number): number {
  const heavy = Math.max(0, load - heavyPart) / (1 - heavyPart);
  return gapMs + heavy * (mostGapMs - gapMs);
}
