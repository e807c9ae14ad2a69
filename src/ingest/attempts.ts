import type { Log } from "../ports/log.ts";
import { type Store, StoreUnavailable } from "../ports/store.ts";
import type { Failure } from "./division.ts";
import type { IngestMetrics } from "./metrics.ts";

/** Pauses between tries while the store is down, ms: the first quickly, for a lock that was held for a moment. */
const retryDelays = [50, 100, 250, 500, 1000, 2000];

/** The service stops while the store is down: what waits is given up, and comes again. */
export class GivenUp extends Error {
  override readonly name = "GivenUp";
}

/** What attempts work with. */
export interface AttemptDeps {
  readonly store: Pick<Store, "check">;
  readonly log: Log;
  readonly metrics: Pick<IngestMetrics, "unavailable">;
  /** The store is down: nothing more should be read. */
  onDown(): void;
}

/**
 * Tries what needs the store. Where it fails, the store itself is tried: while that fails too, the store is down, and
 * the work waits until it works again. Where the store works at once, the work is at fault.
 */
export class Attempts {
  readonly #deps: AttemptDeps;
  #down = false;
  #stopping = false;

  constructor(deps: AttemptDeps) {
    this.#deps = deps;
  }

  /** No work is tried again while the store is down. */
  stop(): void {
    this.#stopping = true;
  }

  /**
   * Undefined: it is done. A failure of a moment is tried once more: one that concerns no device alone, and where
   * nothing can be divided any further (`last`) any failure of the store.
   */
  async run(work: () => Promise<void>, last: boolean): Promise<Failure | undefined> {
    let again = true;
    for (;;) {
      try {
        await work();
        this.#up();
        return undefined;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) return { error };
        this.#deps.metrics.unavailable.add(1);
        if (await this.#works(error)) {
          if (!again || !(last || error.trouble === "down")) return { error };
          again = false;
        } else await this.#untilBack(error);
      }
    }
  }

  /** Resolves when the store works again. */
  async #untilBack(error: StoreUnavailable): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      if (this.#stopping) throw new GivenUp("the store is down");
      const delay = retryDelays[Math.min(attempt, retryDelays.length - 1)] ?? 0;
      await new Promise<void>((resolve) => setTimeout(resolve, delay));
      if (await this.#works(error)) return;
      this.#deps.metrics.unavailable.add(1);
    }
  }

  async #works(error: StoreUnavailable): Promise<boolean> {
    try {
      await this.#deps.store.check();
      this.#up();
      return true;
    } catch {
      this.#deps.onDown();
      if (!this.#down)
        this.#deps.log.error({ error }, "the store is unavailable: trackers are not acknowledged until it is back");
      this.#down = true;
      return false;
    }
  }

  #up(): void {
    if (!this.#down) return;
    this.#down = false;
    this.#deps.log.info({}, "the store is back");
  }
}
