import type { CommitBatch, DeviceCommit } from "../model/commit.ts";
import type { DeviceKey } from "../model/device.ts";
import type { Report } from "../model/effects.ts";
import type { AlertEngine } from "../ports/alert-engine.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Admission, Admitted, Intake, Outcome } from "../ports/intake.ts";
import type { Log } from "../ports/log.ts";
import { type Store, StoreUnavailable } from "../ports/store.ts";
import { Directory } from "./directory.ts";
import type { IngestMetrics } from "./metrics.ts";
import { Pending, type PendingDevice } from "./pending.ts";
import { type Planned, Planner } from "./planner.ts";
import { States } from "./states.ts";
import { Ticks } from "./ticks.ts";

/** Bytes of reports that may wait for a commit (an estimate); beyond it sockets are not read until half of them are on disk. */
const mostWaitingBytes = 32 * 1024 * 1024;
/** Pauses between tries of a commit while the store is down, ms: the first quickly, for a lock that was held for a moment. */
const retryDelays = [50, 100, 250, 500, 1000, 2000];
/** A device that loses the race for its version so often in a row is in trouble of another kind. */
const mostConflicts = 10;
/**
 * A commit that had to change many stored records takes long, and every device waits for it. The device that caused it waits that many times as long
 * before its next commit, so that one tracker can take a tenth of the store's time and not all of it.
 */
const heldTimes = 9;
/** Fewer of them cost little: some microseconds each. */
const manyPatches = 256;
/** Shorter commits hold up nobody. */
const longCommitMs = 20;
/** How often it is looked whether a device may go on, while nothing but held ones waits, ms. */
const heldPollMs = 20;

/** Settings of ingest. */
export interface IngestOptions {
  /** How far ahead of ours a tracker's clock may be, ms. */
  readonly maxFutureMs: number;
}

/** What ingest works with. */
export interface IngestDeps {
  readonly store: Pick<Store, "locations" | "devices">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: IngestMetrics;
  /** The devices' alert rules. */
  readonly engine: AlertEngine;
}

/**
 * Takes the reports of many connections, and commits them as one batch: while one commit is in flight the next batch gathers, so batches grow
 * with the load and no timer delays a lone message. A message's `done` is called only when all that it reported is on disk.
 */
export class Ingest implements Intake {
  readonly states: States;
  /** What time alone makes true of devices. */
  readonly ticks: Ticks;
  readonly #options: IngestOptions;
  readonly #deps: IngestDeps;
  readonly #directory: Directory;
  readonly #planner: Planner;
  readonly #unsubscribe: () => void;
  readonly #drainListeners: (() => void)[] = [];
  /** Until when devices are held back, on the clock that never goes back. */
  readonly #heldUntil = new Map<DeviceKey, number>();
  /** What is on disk and not yet told: the next commit is handed to the store first, which so works while many replies are written. */
  #stored: PendingDevice[] = [];
  #pending = new Pending();
  #waitingBytes = 0;
  #waitingReports = 0;
  readonly #dropped: (values: number) => void;
  #running: Promise<void> | undefined;
  #congested = false;
  #stopping = false;
  #storeDown = false;

  constructor(options: IngestOptions, deps: IngestDeps) {
    this.#options = options;
    this.#deps = deps;
    this.states = new States(deps.store.locations);
    this.ticks = new Ticks({ ...deps, locations: deps.store.locations, states: this.states });
    this.#directory = new Directory(deps.store.devices, deps.bus, deps.clock);
    this.#dropped = (values) => deps.metrics.droppedValues.add(values);
    this.#planner = new Planner(deps.store.locations, this.states, deps);
    this.#unsubscribe = deps.bus.subscribe((event) => {
      if (event.type === "deviceChanged") this.states.forget(event.key);
    });
  }

  get congested(): boolean {
    return this.#congested;
  }

  /** Reports that wait or are being committed. */
  get waiting(): number {
    return this.#waitingReports;
  }

  onDrained(listener: () => void): void {
    this.#drainListeners.push(listener);
  }

  admit(ids: readonly string[]): Admission | Promise<Admission> {
    return this.#directory.admit(ids);
  }

  recall(ids: readonly string[]): Admitted | undefined {
    return this.#directory.recall(ids);
  }

  ask(ids: readonly string[]): Admission | Promise<Admission> {
    return this.#directory.ask(ids);
  }

  submit(device: Admitted, reports: readonly Report[], receivedAt: number, done: (outcome: Outcome) => void): void {
    const pending = this.#pending.of(device);
    const before = pending.bytes;
    const { maxFutureMs } = this.#options;
    const watched = this.#deps.engine.watches(device);
    pending.add(reports, receivedAt, { maxFutureMs, watched, dropped: this.#dropped }, done);
    this.#planner.lookAhead(pending);
    this.#waitingBytes += pending.bytes - before;
    this.#waitingReports += reports.length;
    if (this.#waitingBytes > mostWaitingBytes) this.#congested = true;
    this.#running ??= this.#run();
  }

  heard(device: Admitted, receivedAt: number): void {
    this.#deps.engine.heard(device.key, receivedAt);
  }

  /** Commits what waits, then takes nothing more. While the store is down it gives up: what was not acknowledged comes again. */
  async stop(): Promise<void> {
    this.#stopping = true;
    // The last replies of a run may begin another one.
    while (this.#running !== undefined) await this.#running;
    await this.ticks.stop();
    this.#unsubscribe();
    this.#directory.close();
  }

  async #run(): Promise<void> {
    // Everything that this turn of the event loop reads from sockets joins the batch.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (!this.#pending.empty && !(this.#stopping && this.#storeDown)) {
      const batch = this.#takeBatch();
      if (batch.length === 0) {
        await this.#untilOneIsReleased();
        continue;
      }
      let bytes = 0;
      let reports = 0;
      let messages = 0;
      for (const pending of batch) {
        bytes += pending.bytes;
        reports += pending.reports;
        messages += pending.messages;
      }
      this.#deps.metrics.batchMessages.observe(messages);
      this.#deps.metrics.batchReports.observe(reports);
      await this.#commitAll(batch);
      this.#waitingBytes -= bytes;
      this.#waitingReports -= reports;
      this.#relieve();
      if (!this.#pending.empty) setImmediate(() => this.#tellStored());
    }
    // What is told lets in what waited behind it: whoever submits now must find that nobody commits, and begin.
    this.#running = undefined;
    this.#tellStored();
  }

  #tellStored(): void {
    const stored = this.#stored;
    this.#stored = [];
    for (const pending of stored) pending.answer("stored");
  }

  /** All that waits, but for devices that are held back; those go on waiting. */
  #takeBatch(): readonly PendingDevice[] {
    const all = this.#pending;
    this.#pending = new Pending();
    if (this.#heldUntil.size === 0 || this.#stopping) return [...all.devices.values()];
    const now = this.#deps.clock.monotonic();
    const batch: PendingDevice[] = [];
    for (const [key, pending] of all.devices) {
      const until = this.#heldUntil.get(key);
      if (until === undefined || until <= now) batch.push(pending);
      else this.#pending.devices.set(key, pending);
    }
    for (const [key, until] of this.#heldUntil) if (until <= now) this.#heldUntil.delete(key);
    return batch;
  }

  /** Only held devices wait: looks again soon, whether one of them may go on or others came. */
  async #untilOneIsReleased(): Promise<void> {
    await new Promise<void>((resolve) => setTimeout(resolve, heldPollMs));
  }

  #relieve(): void {
    if (!this.#congested || this.#waitingBytes > mostWaitingBytes / 2) return;
    this.#congested = false;
    for (const listener of this.#drainListeners) listener();
  }

  async #commitAll(devices: readonly PendingDevice[]): Promise<void> {
    try {
      await this.#commit(devices);
    } catch (error) {
      if (this.#stopping && error instanceof StoreUnavailable) return;
      // One device's bad data must not hold up the others: each is tried alone, and the one that fails is not acknowledged.
      this.#deps.log.error(
        { error, devices: devices.length },
        "a batch could not be committed; trying its devices one by one",
      );
      for (const device of devices) if (device.messages > 0) await this.#commitAlone(device);
    }
  }

  async #commitAlone(pending: PendingDevice): Promise<void> {
    try {
      await this.#commit([pending]);
    } catch (error) {
      if (this.#stopping && error instanceof StoreUnavailable) return;
      this.#deps.log.error({ error, device: pending.device.id }, "a device's reports could not be committed");
      this.#deps.metrics.failed.add(pending.messages);
      pending.answer("failed");
    }
  }

  /** Plans and commits until no conflict is left. Rejects only for what trying again won't mend, or when stopping while the store is down. */
  async #commit(devices: readonly PendingDevice[]): Promise<void> {
    let left = devices;
    for (let attempt = 0; left.length > 0; attempt++) {
      if (attempt >= mostConflicts) throw new Error(`${left.length} devices conflict again and again`);
      left = await this.#whileStoreIsDown(async () => this.#commitOnce(await this.#admittedAgain(left)));
    }
  }

  /** Those that may report, admitted again where they changed since their reports came; the others are refused. */
  async #admittedAgain(devices: readonly PendingDevice[]): Promise<readonly PendingDevice[]> {
    const good: PendingDevice[] = [];
    for (const pending of devices) {
      if (pending.messages === 0) continue;
      if (!this.#directory.mayReport(pending.device)) {
        const admission = await this.#directory.admit([pending.device.id]);
        // Registered anew under the same id, it is another device than the one that reported.
        if (admission.status !== "admitted" || admission.key !== pending.device.key) {
          pending.answer("refused");
          continue;
        }
        pending.device = admission;
      }
      good.push(pending);
    }
    return good;
  }

  /** One plan and one commit; the devices that are to be planned again. */
  async #commitOnce(devices: readonly PendingDevice[]): Promise<readonly PendingDevice[]> {
    const planned = await this.#planner.plan(devices);
    const commits: DeviceCommit[] = [];
    let records = 0;
    for (const { pending, plan } of planned) {
      if (plan === undefined) continue;
      records += plan.records.length;
      commits.push({ device: pending.device.key, ...plan });
    }
    const batch: CommitBatch = { devices: commits, refused: devices.flatMap((pending) => pending.refused) };
    if (commits.length > 0 || batch.refused.length > 0) {
      const started = this.#deps.clock.monotonic();
      const conflict = await this.#deps.store.locations.commit(batch, () => {
        for (const { plan } of planned) if (plan !== undefined) plan.records.length = 0;
      });
      this.#timed(commits, this.#deps.clock.monotonic() - started);
      if (conflict !== undefined) {
        for (const key of conflict.conflicts) {
          this.states.forget(key);
          this.#directory.doubt(key);
        }
        this.#deps.metrics.conflicts.add(conflict.conflicts.length);
        return devices;
      }
    }
    this.#committed(planned);
    this.#count(planned, records);
    for (const one of planned) this.#settle(one);
    return [];
  }

  /** What is on disk is taken up in memory, and told to those who act on it. */
  #committed(planned: readonly Planned[]): void {
    let notices = 0;
    for (const { pending, plan } of planned) {
      if (plan === undefined) continue;
      this.states.committed(pending.device.key, plan.state);
      this.#deps.engine.committed(pending.device, plan.state);
      notices += plan.notices?.length ?? 0;
    }
    if (notices > 0) this.#deps.bus.publish({ type: "noticesQueued" });
  }

  /** Holds back the devices that made a commit long. */
  #timed(commits: readonly DeviceCommit[], ms: number): void {
    this.#deps.metrics.commitSeconds.observe(ms / 1000);
    if (ms < longCommitMs) return;
    const until = this.#deps.clock.monotonic() + ms * heldTimes;
    for (const { device, patches } of commits) if (patches.length > manyPatches) this.#heldUntil.set(device, until);
  }

  #count(planned: readonly Planned[], stored: number): void {
    const { metrics } = this.#deps;
    let reports = 0;
    let refused = 0;
    for (const { pending, leftover } of planned) {
      reports += pending.drafts.length - leftover.length;
      refused += pending.refused.length;
    }
    metrics.stored.add(stored);
    metrics.repeats.add(reports - stored);
    metrics.refusedReports.add(refused);
  }

  #settle({ pending, leftover }: Planned): void {
    if (leftover.length === 0) {
      this.#stored.push(pending);
      return;
    }
    const waiting = this.#pending.of(pending.device);
    const { bytes, reports } = waiting;
    waiting.putBefore(pending, leftover);
    this.#waitingBytes += waiting.bytes - bytes;
    this.#waitingReports += waiting.reports - reports;
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
    this.#deps.log.error({ error }, "the store is unavailable: trackers are not acknowledged until it is back");
  }

  #up(): void {
    if (!this.#storeDown) return;
    this.#storeDown = false;
    this.#deps.log.info({}, "the store is back");
  }
}
