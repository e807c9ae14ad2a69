import type { DeviceKey, SpokenWay } from "../model/device.ts";
import type { Report } from "../model/effects.ts";
import type { AlertEngine } from "../ports/alert-engine.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Following, Heads } from "../ports/follow.ts";
import type { Admission, Admitted, CameBy, Intake, Outcome } from "../ports/intake.ts";
import type { Log } from "../ports/log.ts";
import type { Store } from "../ports/store.ts";
import { Attempts, GivenUp } from "./attempts.ts";
import { judgeClock } from "./clock-judge.ts";
import { Directory } from "./directory.ts";
import { divide, type Failure } from "./division.ts";
import { Gather } from "./gather.ts";
import type { IngestMetrics } from "./metrics.ts";
import { OwnClock } from "./own-clock.ts";
import type { PendingDevice } from "./pending.ts";
import { PendingDevices } from "./pending-devices.ts";
import { Progress } from "./progress.ts";
import { Repeats } from "./repeats.ts";
import { Waiting } from "./waiting.ts";

/**
 * Bytes of reports that may wait for an append (an estimate); beyond it sockets are not read until half of them are on
 * disk.
 */
const mostWaitingBytes = 32 * 1024 * 1024;

/** Settings of ingest. */
export interface IngestOptions {
  /** How far ahead of ours a tracker's clock may be, ms. */
  readonly maxFutureMs: number;
}

/** What ingest works with. */
export interface IngestDeps {
  readonly store: Pick<Store, "positions" | "refused" | "devices" | "check">;
  readonly following: Following & Heads;
  readonly engine: Pick<AlertEngine, "watches">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: IngestMetrics;
}

/**
 * Takes the reports of many connections, and appends them as one batch: while one append is in flight the next batch
 * gathers, so batches grow with the load. No timer delays the messages of a few trackers; those of a fleet gather for
 * some milliseconds. An append reads nothing. A message's `done` is called only when all that it reported is on disk
 * and followed.
 */
export class Ingest implements Intake {
  /** What our own clock seems to be, by what devices report. */
  readonly ownClock: OwnClock;
  readonly #options: IngestOptions;
  readonly #deps: IngestDeps;
  readonly #directory: Directory;
  readonly #attempts: Attempts;
  readonly #progress: Progress;
  readonly #gather: Gather;
  readonly #repeats = new Repeats();
  readonly #waiting = new Waiting(mostWaitingBytes);
  readonly #pending = new PendingDevices();
  readonly #drainListeners: (() => void)[] = [];
  /**
   * What is on disk and not yet told: the next append is handed to the store first, which so works while many replies
   * are written.
   */
  #stored: PendingDevice[] = [];
  #running: Promise<void> | undefined;
  /** Nothing more is read from sockets. */
  #isCrowded = false;
  /** Somebody found that no more of its device may wait, and is to be told when that changes. */
  #heldBack = false;
  #stopping = false;

  constructor(options: IngestOptions, deps: IngestDeps) {
    const { store, bus, clock, log, following } = deps;
    this.#options = options;
    this.#deps = deps;
    this.#progress = new Progress(clock);
    this.#gather = new Gather(clock);
    this.ownClock = new OwnClock(clock);
    this.#directory = new Directory(store.devices, bus, clock, log, this.ownClock);
    // Nothing more is read while nothing can be stored: the trackers keep their data.
    const onDown = () => {
      this.#isCrowded = true;
    };
    this.#attempts = new Attempts({ ...deps, onDown });
    following.onRoom(() => this.#tellDrained());
  }

  get congested(): boolean {
    return this.#isCrowded || this.#deps.following.isFull;
  }

  /** Reports that wait or are being appended, and their bytes. */
  get waiting(): Pick<Waiting, "reports" | "bytes"> {
    return this.#waiting;
  }

  /** Seconds since the last append while reports wait for one. 0: nothing waits. */
  get stalledSeconds(): number {
    return this.#progress.stalledMs / 1000;
  }

  /** Rejects where work waits and nothing was appended for some seconds. */
  async check(): Promise<void> {
    this.#progress.check();
  }

  takes(device: Admitted): boolean {
    if (this.congested) return false;
    if (this.#waiting.takes(device.accountKey, this.#pending.bytesOf(device.key))) return true;
    this.#heldBack = true;
    return false;
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

  spoke(device: Admitted, by: CameBy): SpokenWay {
    return this.#directory.spoke(device, by);
  }

  trust(device: Admitted, way: SpokenWay): void {
    this.#directory.trust(device, way);
  }

  submit(device: Admitted, reports: readonly Report[], receivedAt: number, done: (outcome: Outcome) => void): void {
    const { engine, metrics } = this.#deps;
    const pending = this.#pending.of(device);
    const before = pending.bytes;
    const dropped = (values: number) => metrics.droppedValues.add(values);
    pending.add(reports, receivedAt, { ...this.#options, watched: engine.watches(device), dropped }, done);
    this.#gather.reports(device.key);
    this.#waiting.add(device.accountKey, pending.bytes - before, reports.length);
    if (this.#waiting.over) this.#isCrowded = true;
    this.#begin();
  }

  heard(device: Admitted, receivedAt: number): void {
    this.#deps.following.heard(device, receivedAt);
  }

  /**
   * Appends what waits, then takes nothing more. While the store is down it gives up: what was not acknowledged comes
   * again.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#attempts.stop();
    // The last replies of a run may begin another one.
    while (this.#running !== undefined) await this.#running;
    await this.#directory.close();
  }

  #begin(): void {
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    try {
      await this.#appendWaiting();
    } catch (error) {
      if (!(error instanceof GivenUp)) this.#deps.log.error({ error }, "a run of appends broke off");
    }
    this.#relieve();
    this.#progress.idle();
    // What is told lets in what waited behind it: whoever submits now must find that nobody appends, and begin.
    this.#running = undefined;
    this.#tellStored();
    if (this.#pending.size > 0 && !this.#stopping) this.#begin();
  }

  async #appendWaiting(): Promise<void> {
    // Everything that this turn of the event loop reads from sockets joins the batch.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.#pending.size > 0) {
      await this.#gather.wait(
        () => this.#pending.size,
        () => this.#stopping,
      );
      await this.#appendBatch(this.#pending.take());
    }
  }

  async #appendBatch(taken: readonly PendingDevice[]): Promise<void> {
    const { metrics } = this.#deps;
    metrics.batchMessages.observe(taken.reduce((sum, { messages }) => sum + messages, 0));
    metrics.batchReports.observe(taken.reduce((sum, { reports }) => sum + reports, 0));
    this.#progress.begun();
    await divide(
      taken,
      (some) => this.#attempts.run(() => this.#judgeAndAppend(some), some.length === 1),
      (pending, why) => this.#failed(pending, why),
    );
    for (const { device, bytes, reports } of taken) this.#waiting.add(device.accountKey, -bytes, -reports);
    this.#relieve();
    // Where the run ends now, it tells them before.
    setImmediate(() => this.#tellStored());
  }

  /** May be tried again with the same devices, whatever became of them. */
  async #judgeAndAppend(taken: readonly PendingDevice[]): Promise<void> {
    const admitted = await this.#admittedAgain(taken);
    await judgeClock(admitted, { ...this.#deps, ownClock: this.ownClock, heads: this.#deps.following });
    await this.#keepRefused(admitted);
    await this.#append(admitted);
  }

  /** Those that may report, admitted again where they changed since their reports came; the others are refused. */
  async #admittedAgain(devices: readonly PendingDevice[]): Promise<readonly PendingDevice[]> {
    const good: PendingDevice[] = [];
    for (const pending of devices) {
      if (!this.#directory.mayReport(pending.device)) {
        const admission = await this.#directory.admit([pending.device.id]);
        // Registered anew under the same id, it is another device than the one that reported.
        if (admission.status !== "admitted" || admission.key !== pending.device.key) {
          this.#leaveOut(pending, "refused");
          continue;
        }
        pending.device = admission;
      }
      good.push(pending);
    }
    return good;
  }

  /** What is refused is on disk once, also where the append behind it has to be tried again. */
  async #keepRefused(devices: readonly PendingDevice[]): Promise<void> {
    const refused = devices.flatMap((pending) => pending.refused);
    if (refused.length === 0) return;
    await this.#deps.store.refused.add(refused);
    for (const pending of devices) pending.refused.length = 0;
    this.#deps.metrics.refusedReports.add(refused.length);
  }

  /** One append: everything is on disk when it resolves. */
  async #append(devices: readonly PendingDevice[]): Promise<void> {
    const { store, clock, metrics, following } = this.#deps;
    const batch = devices.flatMap(({ device, records }) => {
      const fresh = this.#repeats.without(device.key, records);
      return fresh.length === 0 ? [] : [{ device, records: fresh }];
    });
    let appended = 0;
    if (batch.length > 0) {
      const rows = batch.map(({ device: { key }, records }) => ({ device: key, records }));
      const began = clock.monotonic();
      const place = await store.positions.append(rows);
      metrics.appendSeconds.observe((clock.monotonic() - began) / 1000);
      for (const { device, records } of rows) {
        this.#repeats.appended(device, records);
        appended += records.length;
      }
      following.appended(batch, place);
    }
    metrics.appended.add(appended);
    metrics.repeats.add(devices.reduce((sum, { records }) => sum + records.length, -appended));
    this.#progress.appended();
    // Repeats and refused reports stand in no state, and the device was heard of all the same.
    const followed = new Set<DeviceKey>(batch.map(({ device }) => device.key));
    for (const { device, heardAt } of devices) if (!followed.has(device.key)) following.heard(device, heardAt);
    for (const pending of devices) this.#stored.push(pending);
  }

  #failed(pending: PendingDevice, { error }: Failure): void {
    this.#deps.log.error({ error, device: pending.device.id }, "a device's reports can't be stored");
    this.#deps.metrics.failed.add(pending.messages);
    this.#leaveOut(pending, "failed");
  }

  /** An append of it may have been tried, and be on disk though it failed. */
  #leaveOut(pending: PendingDevice, outcome: "refused" | "failed"): void {
    const { span } = pending;
    if (span !== undefined) this.#deps.following.mayBeAppended(pending.device.key, span);
    this.#answer(pending, outcome);
  }

  #tellStored(): void {
    const stored = this.#stored;
    this.#stored = [];
    for (const pending of stored) this.#answer(pending, "stored");
  }

  #answer(pending: PendingDevice, outcome: Outcome): void {
    pending.answer(outcome, (error) => {
      this.#deps.log.error({ error, device: pending.device.id }, "an answer could not be given");
    });
  }

  /** Tells those that wait where there is room again. */
  #relieve(): void {
    const relieved = this.#isCrowded && this.#waiting.relieved;
    if (relieved) this.#isCrowded = false;
    if (relieved || (this.#heldBack && !this.#isCrowded)) this.#tellDrained();
  }

  #tellDrained(): void {
    if (this.congested) return;
    this.#heldBack = false;
    for (const listener of this.#drainListeners) {
      try {
        listener();
      } catch (error) {
        this.#deps.log.error({ error }, "reading could not be taken up again");
      }
    }
  }
}
