import type { LocationAlerts } from "../model/alert.ts";
import type { Totals } from "../model/location.ts";
import type { AlertOutcome, Observation, Watch } from "../ports/alert-engine.ts";

/**
 * A watch whose defects cost alerts only: a rule that can't be judged must not keep a tracker's positions from being stored. After the first failure it
 * finds nothing more in this batch; what it had found until then is committed.
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

  get mostBesideLate(): number {
    return this.#watch.mostBesideLate;
  }

  observe(observation: Observation, totals: Totals): LocationAlerts | undefined {
    return this.#try(() => this.#watch.observe(observation, totals), undefined);
  }

  late(from: number, to: number): void {
    this.#try(() => this.#watch.late(from, to), undefined);
  }

  tick(): void {
    this.#try(() => this.#watch.tick(), undefined);
  }

  outcome(): AlertOutcome | undefined {
    // Also after a failure: alerts that stand in records already have to be committed with them.
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
