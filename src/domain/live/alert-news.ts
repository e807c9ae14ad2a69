import type { AlertEnd } from "../../model/alert.ts";
import type { DeviceKey } from "../../model/device.ts";
import type { AlertStore, StoredAlert } from "../../ports/alert-store.ts";

/** Alerts of one question. */
const askedAtOnce = 100;
/**
 * The newest alerts of a rule and device among which those are that an end is about: hardly ever is more than one of
 * them open.
 */
const fewNewest = 20;
/** Bytes of the alerts that are read for one end. */
const readBytes = 1_048_576;
/** Alerts and ends that may wait to be read, some 100 bytes each. */
const mostWaiting = 10_000;

/** What it needs of the service. */
export interface AlertNewsContext {
  readonly accountKey: number;
  readonly alerts: Pick<AlertStore, "ofAccount" | "places" | "read">;
  /** Told of each alert, as it is now. */
  readonly tell: (alert: StoredAlert) => void;
  /** Some could not be read, or were too many. */
  readonly lost: (error?: unknown) => void;
}

interface End extends AlertEnd {
  readonly device: DeviceKey;
}

/** Reads the alerts of an account that were found, ended or handled, some at a time while more come. */
export class AlertNews {
  readonly #context: AlertNewsContext;
  readonly #ids = new Set<string>();
  #ends: End[] = [];
  #reading = false;

  constructor(context: AlertNewsContext) {
    this.#context = context;
  }

  add(ids: Iterable<string>): void {
    for (const id of ids) this.#ids.add(id);
    this.#read();
  }

  ended(device: DeviceKey, ends: readonly AlertEnd[]): void {
    for (const end of ends) {
      if (end.withdrawn === undefined) this.#ends.push({ ...end, device });
      else this.#ids.add(end.withdrawn);
    }
    this.#read();
  }

  #read(): void {
    if (this.#ids.size + this.#ends.length > mostWaiting) this.#lose();
    if (this.#reading) return;
    this.#reading = true;
    this.#readAll()
      .catch((error: unknown) => this.#lose(error))
      .finally(() => {
        this.#reading = false;
      });
  }

  #lose(error?: unknown): void {
    this.#ids.clear();
    this.#ends = [];
    this.#context.lost(error);
  }

  async #readAll(): Promise<void> {
    const { accountKey, alerts, tell } = this.#context;
    while (this.#ids.size > 0 || this.#ends.length > 0) {
      const ids = this.#ids.values().take(askedAtOnce).toArray();
      for (const id of ids) this.#ids.delete(id);
      const found = ids.length === 0 ? [] : await alerts.ofAccount(accountKey, ids);
      for (const alert of found.toSorted((one, other) => one.key - other.key)) tell(alert);
      const end = this.#ends.shift();
      if (end !== undefined) for (const alert of await this.#endedBy(end)) tell(alert);
    }
  }

  /** An end names no alerts: those of its rule and device that have ended at its time are meant. */
  async #endedBy({ device, ruleKey, time }: End): Promise<readonly StoredAlert[]> {
    const { accountKey, alerts } = this.#context;
    const wanted = { ruleKey, to: time };
    const asked = { order: "newest", wanted, devices: [device], limit: fewNewest } as const;
    const { places } = await alerts.places(accountKey, asked);
    const { rows } = await alerts.read(
      places.map(({ key }) => key),
      readBytes,
    );
    return rows.filter(({ handling }) => handling.endedAt === time);
  }
}
