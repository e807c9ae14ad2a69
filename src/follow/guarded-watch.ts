import type { LocationAlerts } from "../model/alert.ts";
import type { Device } from "../model/device.ts";
import { fuelTablesOf } from "../model/fuel-table.ts";
import type { Totals } from "../model/location.ts";
import type { Observation } from "../model/observation.ts";
import type { AlertEngine, AlertOutcome, Watch, WatchedDevice } from "../ports/alert-engine.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { WatchFor } from "./device-fold.ts";

/** What watches are made by. */
export interface WatchDeps {
  readonly engine: Pick<AlertEngine, "watch">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes watches of a device's rules, guarded. `unwatched`: one can't be made. */
export function watchFor(
  { engine, clock, log }: WatchDeps,
  device: WatchedDevice,
  unwatched: () => void = () => undefined,
): WatchFor {
  const failed = (error: unknown) => log.error({ error, device: device.id }, "a rule of a device can't be judged");
  return (standing) => {
    try {
      const watch = engine.watch(device, standing, clock.now());
      return watch && new GuardedWatch(watch, failed);
    } catch (error) {
      failed(error);
      unwatched();
      return undefined;
    }
  };
}

/** Whether the rules of this device are there. If not, loading asks for them again, and tells where that fails. */
export function isPrepared(
  { engine, log }: { readonly engine: Pick<AlertEngine, "prepare">; readonly log: Log },
  { accountKey }: Pick<WatchedDevice, "accountKey">,
): boolean {
  try {
    const preparing = engine.prepare([accountKey]);
    preparing?.catch(() => undefined);
    return preparing === undefined;
  } catch (error) {
    log.error({ error }, "alert rules can't be made ready");
    return false;
  }
}

/**
 * A watch whose defects cost alerts only: a rule that can't be judged must not keep a device from being followed. After
 * the first failure the watch finds nothing more in this batch; what it had found until then counts.
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

/** A device as rules see it. */
export function watchedOf({ key, accountKey, id, name, expires, odometerStart, tags }: Device): WatchedDevice {
  return { key, accountKey, id, name, expires, odometerStart, fuelTables: fuelTablesOf(tags) };
}
