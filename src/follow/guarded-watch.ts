import type { LocationAlerts } from "../model/alert.ts";
import type { Totals } from "../model/location.ts";
import type { Observation } from "../model/observation.ts";
import type { AlertOutcome, Watch } from "../ports/alert-engine.ts";

/**
 * A watch whose defects cost alerts only: a rule that can't be judged must not keep a device from being followed. After the first failure the watch finds nothing more in this batch; what it
 * had found until then counts.
 */
export class GuardedWatch implements Watch {
  readonly #watch: Watch;
  readonly #failed: (error: unknown) => void;
  #broken = false;

  constructor(watch: Watch, failed: (error: unknown) => void) {
    this.#watch = watch;
    this.#failed = failed;
  }

  get full(): boolean {
    return !this.#broken && this.#watch.full;
  }

  get late(): Watch["late"] {
    return this.#watch.late;
  }

  observe(observation: Observation, totals: Totals): LocationAlerts | undefined {
    return this.#try(() => this.#watch.observe(observation, totals), undefined);
  }

  tick(): void {
    this.#try(() => this.#watch.tick(), undefined);
  }

  settled(): string | undefined {
    return this.#try(() => this.#watch.settled(), undefined);
  }

  outcome(): AlertOutcome | undefined {
    try {
      return this.#watch.outcome();
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  #try<T>(work: () => T, otherwise: T): T {
    if (this.#broken) return otherwise;
    try {
      return work();
    } catch (error) {
      this.#broken = true;
      this.#failed(error);
      return otherwise;
    }
  }
}
