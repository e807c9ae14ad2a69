import type { CommitBatch, DeviceCommit } from "../model/commit.ts";
import type { Report } from "../model/effects.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Admission, Admitted, Intake, Outcome } from "../ports/intake.ts";
import type { Log } from "../ports/log.ts";
import { type Store, StoreUnavailable } from "../ports/store.ts";
import { Directory } from "./directory.ts";
import type { IngestMetrics } from "./metrics.ts";
import { Pending, type PendingDevice } from "./pending.ts";
import { Planner } from "./planner.ts";
import { States } from "./states.ts";

/** Reports that may wait for a commit; beyond it sockets are not read until half of them are on disk. About 1 KB each. */
const mostWaiting = 20_000;
/** Pauses between tries of a commit while the store is down, ms: the first quickly, for a lock that was held for a moment. */
const retryDelays = [50, 100, 250, 500, 1000, 2000];
/** A device that loses the race for its version so often in a row is in trouble of another kind. */
const mostConflicts = 10;

/** What of ingest is configured. */
export interface IngestOptions {
  /** How far ahead of ours a tracker's clock may be, ms. */
  readonly maxFutureMs: number;
}

/** What ingest needs of the service. */
export interface IngestDeps {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: IngestMetrics;
}

/**
 * Takes the reports of many connections, and commits them as one batch: while one commit is in flight the next batch gathers, so batches grow
 * with the load and no timer delays a lone message. A message's `done` is called only when all that it reported is on disk.
 */
export class Ingest implements Intake {
  readonly states: States;
  readonly #options: IngestOptions;
  readonly #deps: IngestDeps;
  readonly #directory: Directory;
  readonly #planner: Planner;
  readonly #unsubscribe: () => void;
  readonly #drainListeners: (() => void)[] = [];
  #pending = new Pending();
  #inFlight = 0;
  #running: Promise<void> | undefined;
  #congested = false;
  #stopping = false;
  #storeDown = false;

  constructor(options: IngestOptions, deps: IngestDeps) {
    this.#options = options;
    this.#deps = deps;
    this.states = new States(deps.store.locations);
    this.#directory = new Directory(deps.store.devices, deps.bus, deps.clock);
    this.#planner = new Planner(deps.store.locations, this.states);
    this.#unsubscribe = deps.bus.subscribe((event) => {
      if (event.type === "deviceChanged") this.states.forget(event.key);
    });
  }

  get congested(): boolean {
    return this.#congested;
  }

  /** Whether commits fail at present. */
  get storeDown(): boolean {
    return this.#storeDown;
  }

  /** Reports that wait or are being committed. */
  get waiting(): number {
    return this.#pending.reports + this.#inFlight;
  }

  onDrained(listener: () => void): void {
    this.#drainListeners.push(listener);
  }

  admit(ids: readonly string[]): Admission | Promise<Admission> {
    return this.#directory.admit(ids);
  }

  submit(device: Admitted, reports: readonly Report[], receivedAt: number, done: (outcome: Outcome) => void): void {
    if (!this.#directory.mayReport(device)) {
      done("refused");
      return;
    }
    this.#pending.add(device, reports, receivedAt, this.#options.maxFutureMs, done);
    if (this.waiting > mostWaiting) this.#congested = true;
    this.#running ??= this.#run();
  }

  /** Commits what waits, then takes nothing more. While the store is down it gives up: what was not acknowledged comes again. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
    this.#unsubscribe();
    this.#directory.close();
  }

  async #run(): Promise<void> {
    // Everything that this turn of the event loop reads from sockets joins the batch.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (!this.#pending.empty && !(this.#stopping && this.#storeDown)) {
      const batch = this.#pending;
      this.#pending = new Pending();
      this.#inFlight = batch.reports;
      this.#deps.metrics.batchMessages.observe(batch.messages);
      this.#deps.metrics.batchReports.observe(batch.reports);
      await this.#commitAll([...batch.devices.values()]);
      this.#inFlight = 0;
      this.#relieve();
    }
    this.#running = undefined;
  }

  #relieve(): void {
    if (!this.#congested || this.waiting > mostWaiting / 2) return;
    this.#congested = false;
    for (const listener of this.#drainListeners) listener();
  }

  async #commitAll(devices: readonly PendingDevice[]): Promise<void> {
    try {
      await this.#commit(devices);
    } catch (error) {
      if (this.#stopping && error instanceof StoreUnavailable) return;
      // One device's bad data must not hold up the others: each is tried alone, and the one that fails is refused, not acknowledged.
      this.#deps.log.error(
        { err: error, devices: devices.length },
        "a batch could not be committed; trying its devices one by one",
      );
      for (const device of devices) await this.#commitAlone(device);
    }
  }

  async #commitAlone(device: PendingDevice): Promise<void> {
    try {
      await this.#commit([device]);
    } catch (error) {
      if (this.#stopping && error instanceof StoreUnavailable) return;
      this.#deps.log.error({ err: error, device: device.device.id }, "a device's reports could not be committed");
      this.#deps.metrics.failed.add(device.done.length);
      answer(device, "refused");
    }
  }

  /** Plans and commits until no conflict is left. Rejects only for what trying again won't mend, or when stopping while the store is down. */
  async #commit(devices: readonly PendingDevice[]): Promise<void> {
    let left = devices;
    for (let attempt = 0; left.length > 0; attempt++) {
      if (attempt >= mostConflicts) throw new Error(`${left.length} devices conflict again and again`);
      left = await this.#whileStoreIsDown(() => this.#commitOnce(left));
    }
  }

  /** One plan and one commit; the devices that are to be planned again. */
  async #commitOnce(devices: readonly PendingDevice[]): Promise<readonly PendingDevice[]> {
    const alive = devices.filter((pending) => pending.device.live || refuse(pending));
    const planned = await this.#planner.plan(alive);
    const commits: DeviceCommit[] = [];
    for (const { pending, plan } of planned)
      if (plan !== undefined) commits.push({ device: pending.device.key, ...plan });
    const batch: CommitBatch = { devices: commits, refused: alive.flatMap((pending) => pending.refused) };
    if (commits.length > 0 || batch.refused.length > 0) {
      const started = this.#deps.clock.monotonic();
      const conflict = await this.#deps.store.locations.commit(batch);
      this.#deps.metrics.commitSeconds.observe((this.#deps.clock.monotonic() - started) / 1000);
      if (conflict !== undefined) {
        for (const key of conflict.conflicts) this.states.forget(key);
        this.#deps.metrics.conflicts.add(conflict.conflicts.length);
        return alive;
      }
    }
    for (const { device, state } of commits) this.states.committed(device, state);
    for (const { pending, plan, leftover } of planned) this.#settle(pending, plan?.records.length ?? 0, leftover);
    return [];
  }

  #settle(pending: PendingDevice, stored: number, leftover: PendingDevice["drafts"]): void {
    const { metrics } = this.#deps;
    metrics.stored.add(stored);
    metrics.repeats.add(pending.drafts.length - leftover.length - stored);
    metrics.refusedReports.add(pending.refused.length);
    if (leftover.length > 0) this.#pending.putBack(pending.device, leftover, pending.done);
    else answer(pending, "stored");
  }

  async #whileStoreIsDown<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        const result = await work();
        this.#up();
        return result;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        this.#down(error);
        if (this.#stopping) throw error;
        const delay = retryDelays[Math.min(attempt, retryDelays.length - 1)] ?? 0;
        await new Promise<void>((resolve) => setTimeout(resolve, delay));
      }
    }
  }

  #down(error: StoreUnavailable): void {
    this.#deps.metrics.unavailable.add(1);
    // Nothing more is read while nothing can be stored: the trackers keep their data.
    this.#congested = true;
    if (this.#storeDown) return;
    this.#storeDown = true;
    this.#deps.log.error({ err: error }, "the store is unavailable: trackers are not acknowledged until it is back");
  }

  #up(): void {
    if (!this.#storeDown) return;
    this.#storeDown = false;
    this.#deps.log.info({}, "the store is back");
  }
}

function answer(pending: PendingDevice, outcome: Outcome): void {
  for (const done of pending.done) done(outcome);
}

function refuse(pending: PendingDevice): false {
  answer(pending, "refused");
  return false;
}
