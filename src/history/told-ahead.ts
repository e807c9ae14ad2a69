import { foundByTime, type LocationAlerts } from "../model/alert.ts";
import type { DeviceKey } from "../model/device.ts";
import type { AlertKey, AlertStore, StoredAlert } from "../ports/alert-store.ts";

/** Alerts of one question: as many as records are wanted, or so. */
const fewest = 16;
const most = 500;

/** Which of a device's alerts are shown at its records. */
export interface ToldRange {
  readonly from: number;
  readonly to: number;
  /** Records that are wanted. */
  readonly limit: number;
}

/**
 * What rules found at a device's records, by event time, read some at a time ahead of them. What was withdrawn is left
 * out.
 */
export class ToldAhead {
  readonly #alerts: Pick<AlertStore, "list">;
  readonly #device: DeviceKey;
  readonly #range: ToldRange;
  /** Alerts of a moment of which others may follow. */
  #rest: readonly StoredAlert[] = [];
  found: ReadonlyMap<number, LocationAlerts> = new Map();
  /** Everything that was found up to this event time is known. Undefined: nothing was read yet. */
  through: number | undefined;

  constructor(alerts: Pick<AlertStore, "list">, device: DeviceKey, range: ToldRange) {
    this.#alerts = alerts;
    this.#device = device;
    this.#range = range;
  }

  /** Reads on. What was known before is forgotten. */
  async next(): Promise<void> {
    const { from, to } = this.#range;
    const limit = Math.min(most, Math.max(fewest, this.#range.limit));
    const some = [...this.#rest];
    for (;;) {
      const last = some.at(-1);
      const after: AlertKey | undefined = last && { time: last.time, key: last.key };
      const page = await this.#alerts.list(this.#device, { from, to, limit, ...(after && { after }) });
      some.push(...page);
      const end = page.length < limit ? undefined : some.at(-1)?.time;
      if (end === undefined) return this.#take(some, [], to);
      const ready = some.findIndex(({ time }) => time === end);
      const known = some[ready - 1]?.time;
      if (known !== undefined) return this.#take(some.slice(0, ready), some.slice(ready), known);
    }
  }

  #take(alerts: readonly StoredAlert[], rest: readonly StoredAlert[], through: number): void {
    this.#rest = rest;
    this.through = through;
    this.found = foundByTime(alerts);
  }
}
