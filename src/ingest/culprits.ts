import type { DeviceKey } from "../model/device.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { Aside, type Trial } from "./aside.ts";
import type { Attempts } from "./attempts.ts";
import { halves } from "./division.ts";
import type { IngestMetrics } from "./metrics.ts";
import type { PendingDevice } from "./pending.ts";
import type { Progress } from "./progress.ts";

/** What culprits are found with. */
export interface CulpritDeps {
  readonly attempts: Attempts;
  readonly progress: Progress;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<IngestMetrics, "setAside" | "failed">;
  /** Commits these. It may be called again with the same ones where it failed. */
  commit(devices: readonly PendingDevice[]): Promise<void>;
}

/** Who is told what became of devices' reports. */
export interface CulpritListener {
  /** Nothing of it is to be committed any longer: it is stored, refused or set aside. */
  ended(pending: PendingDevice): void;
  /** It can't be stored now: its messages are not acknowledged, and nobody waits for it. */
  failed(pending: PendingDevice): void;
  /** What else waits of a device that is set aside; the next batch is to be without it. */
  withdraw(device: DeviceKey): PendingDevice | undefined;
  /** Something that is set aside is to be tried. */
  due(): void;
}

/**
 * Commits batches. Where the store can't take one though it takes others, the batch is halved until the culprits are alone, and these are set aside. The parts of such a batch
 * take turns with new batches, so that others wait for one part at a time, however many culprits there are.
 */
export class Culprits {
  readonly aside: Aside;
  readonly #deps: CulpritDeps;
  readonly #listener: CulpritListener;
  /** Parts of batches that failed, one batch after the other. */
  readonly #parts: (readonly PendingDevice[])[] = [];
  readonly #suspects = new Set<DeviceKey>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: CulpritDeps, listener: CulpritListener) {
    this.#deps = deps;
    this.#listener = listener;
    this.aside = new Aside(deps.clock);
  }

  /** Whether a device is in a part that failed: what else it reports waits until that is settled, or the next batch would fail too. */
  suspects(device: DeviceKey): boolean {
    return this.#suspects.size > 0 && this.#suspects.has(device);
  }

  /** Commits a batch, or as much of it as can be for now. */
  async commit(batch: readonly PendingDevice[], isPart = false): Promise<void> {
    const failure = await this.#deps.attempts.run(() => this.#deps.commit(batch), batch.length === 1);
    const [first] = batch;
    if (failure !== undefined && batch.length > 1) {
      for (const pending of batch) {
        this.#suspects.add(pending.device.key);
        // A postponed part would count as stored.
        pending.mayBePostponed = false;
      }
      // The halves of a part come next: so the first culprit is found after few tries, and shows that something goes on.
      if (isPart) this.#parts.unshift(...halves(batch));
      else this.#parts.push(...halves(batch));
      return;
    }
    if (failure !== undefined && first !== undefined) this.#foundAlone(first, failure.error);
    for (const pending of batch) {
      this.#suspects.delete(pending.device.key);
      this.#listener.ended(pending);
    }
  }

  /** Commits one part of a batch that failed, or tries something that is set aside. False: there is nothing to do. `tell` is called before. */
  async next(stopping: boolean, tell: () => void): Promise<boolean> {
    const part = this.#parts.shift();
    const trial = part === undefined && !stopping ? this.aside.trial() : undefined;
    if (part === undefined && trial === undefined) return false;
    tell();
    this.#deps.progress.begun();
    if (part !== undefined) await this.commit(part, true);
    if (trial !== undefined) await this.#try(trial);
    return true;
  }

  /** Keeps what there is room for, and answers its messages. */
  putAside(pending: PendingDevice, error?: unknown): void {
    this.aside.put(pending, error);
    this.#deps.metrics.failed.add(pending.messages);
    // In a turn of its own: who submits has not done yet what it does when it is answered.
    setImmediate(() => this.#listener.failed(pending));
  }

  /** Makes sure that somebody looks when something that is set aside is to be tried. */
  look(): void {
    clearTimeout(this.#timer);
    const { dueIn } = this.aside;
    if (dueIn !== undefined) this.#timer = setTimeout(() => this.#listener.due(), dueIn).unref();
  }

  /** Nobody looks any more. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #foundAlone(pending: PendingDevice, error: unknown): void {
    const { log, metrics, progress } = this.#deps;
    log.error({ error, device: pending.device.id }, "a device's reports can't be stored: they are set aside");
    metrics.setAside.add(1);
    this.putAside(pending, error);
    progress.setAside();
    const more = this.#listener.withdraw(pending.device.key);
    if (more === undefined) return;
    this.putAside(more);
    this.#listener.ended(more);
  }

  async #try(trial: Trial): Promise<void> {
    const { pending } = trial;
    const failure = await this.#deps.attempts.run(() => this.#deps.commit([pending]), true);
    if (failure !== undefined) {
      this.aside.failed(trial, failure.error);
      return;
    }
    this.aside.stored(trial);
    this.#deps.log.info({ device: pending.device.id }, "reports that were set aside are stored");
  }
}
