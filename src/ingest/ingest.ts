import type { DeviceKey, SpokenWay } from "../model/device.ts";
import type { Report } from "../model/effects.ts";
import type { AlertEngine } from "../ports/alert-engine.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Admission, Admitted, CameBy, Intake, Outcome } from "../ports/intake.ts";
import type { Log } from "../ports/log.ts";
import type { SetAside, SetAsides } from "../ports/set-aside.ts";
import type { Store } from "../ports/store.ts";
import type { Aside } from "./aside.ts";
import { Attempts, GivenUp } from "./attempts.ts";
import { type Batch, Batches } from "./batches.ts";
import { Committer } from "./committer.ts";
import { Culprits } from "./culprits.ts";
import { Directory } from "./directory.ts";
import { Gather } from "./gather.ts";
import { Holds } from "./holds.ts";
import { Keeping } from "./keeping.ts";
import type { IngestMetrics } from "./metrics.ts";
import { OwnClock } from "./own-clock.ts";
import { Pending, PendingDevice } from "./pending.ts";
import type { Planned } from "./planner.ts";
import { Progress } from "./progress.ts";
import { Reviews } from "./reviews.ts";
import { States } from "./states.ts";
import { Ticks } from "./ticks.ts";
import { Waiting } from "./waiting.ts";

/** Bytes of reports that may wait for a commit (an estimate); beyond it sockets are not read until half of them are on disk. */
const mostWaitingBytes = 32 * 1024 * 1024;
/** Beside more devices set aside than this, of several accounts, that nothing is committed at all is a trouble of the store rather than of theirs. */
const manyAside = 10;
/** How often Ingest looks whether a device may go on, while nothing but held ones waits, ms. */
const heldPollMs = 20;

/** Settings of ingest. */
export interface IngestOptions {
  /** How far ahead of ours a tracker's clock may be, ms. */
  readonly maxFutureMs: number;
}

/** What ingest works with. */
export interface IngestDeps {
  readonly store: Pick<Store, "locations" | "devices" | "alerts" | "check">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: IngestMetrics;
  /** The devices' alert rules. */
  readonly engine: AlertEngine;
}

/**
 * Takes the reports of many connections, and commits them as one batch: while one commit is in flight the next batch gathers, so batches grow
 * with the load. No timer delays the messages of a few trackers; those of a fleet gather for some milliseconds. A message's `done` is called only when all that it reported
 * is on disk.
 */
export class Ingest implements Intake, SetAsides {
  readonly states: States;
  /** What time alone makes true of devices. */
  readonly ticks: Ticks;
  /** What late records make true of devices. */
  readonly reviews: Reviews;
  /** Deletes old positions. */
  readonly keeping: Keeping;
  /** What our own clock seems to be, by what devices report. */
  readonly ownClock: OwnClock;
  readonly #options: IngestOptions;
  readonly #deps: IngestDeps;
  readonly #directory: Directory;
  readonly #committer: Committer;
  readonly #attempts: Attempts;
  readonly #culprits: Culprits;
  readonly #progress: Progress;
  readonly #batches = new Batches();
  readonly #gather: Gather;
  readonly #waiting = new Waiting(mostWaitingBytes);
  readonly #unsubscribe: () => void;
  readonly #drainListeners: (() => void)[] = [];
  readonly #holds: Holds;
  /** What is on disk and not yet told: the next commit is handed to the store first, which so works while many replies are written. */
  #stored: PendingDevice[] = [];
  #pending = new Pending();
  readonly #dropped: (values: number) => void;
  #running: Promise<void> | undefined;
  /** The present batch has written something. */
  #wrote = false;
  /** Ends the wait for a held device. */
  #wake: (() => void) | undefined;
  #congested = false;
  /** Somebody found that no more of its device may wait, and is to be told when that changes. */
  #heldBack = false;
  #stopping = false;
  #hurries = false;

  constructor(options: IngestOptions, deps: IngestDeps) {
    this.#options = options;
    this.#deps = deps;
    this.states = new States(deps.store.locations);
    this.#dropped = (values) => deps.metrics.droppedValues.add(values);
    this.#progress = new Progress(deps.clock);
    this.#gather = new Gather(deps.clock);
    this.#holds = new Holds(deps.clock);
    const { bus, clock, store } = deps;
    const { locations, alerts } = store;
    const own = { ...deps, locations, alerts, states: this.states };
    this.ticks = new Ticks(own);
    this.reviews = new Reviews(own);
    this.keeping = new Keeping({ ...own, deleted: deps.metrics.deleted });
    this.ownClock = new OwnClock(clock);
    this.#directory = new Directory(store.devices, bus, clock, deps.log, this.ownClock);
    const parts = { ...own, directory: this.#directory, ownClock: this.ownClock };
    this.#committer = new Committer(parts, {
      stored: (planned) => this.#settle(planned),
      refused: (pending) => this.#answer(pending, "refused"),
      took: (commits, ms, planMs) => {
        this.#wrote = true;
        this.#progress.committed();
        this.#holds.committed(commits, ms, planMs);
      },
      slow: (devices, ms) => this.#holds.planned(devices, ms),
      readEnded: () => {
        this.#progress.read();
        this.#wake?.();
      },
    });
    // Nothing more is read while nothing can be stored: the trackers keep their data.
    const onDown = () => {
      this.#congested = true;
    };
    this.#attempts = new Attempts({ ...deps, onDown });
    const commit = (devices: readonly PendingDevice[]) => this.#committer.commit(devices);
    this.#culprits = new Culprits(
      { ...deps, attempts: this.#attempts, progress: this.#progress, commit },
      {
        ended: ({ device, bytes, reports }) => this.#waiting.add(device.accountKey, -bytes, -reports),
        failed: (pending) => this.#answer(pending, "failed"),
        withdraw: (device) => this.#withdraw(device),
        due: () => this.#begin(),
      },
    );
    this.#unsubscribe = bus.subscribe((event) => {
      if (event.type === "deviceChanged") this.states.forget(event.key);
    });
  }

  get congested(): boolean {
    return this.#congested;
  }

  /** Reports that wait or are being committed, and their bytes. */
  get waiting(): Pick<Waiting, "reports" | "bytes"> {
    return this.#waiting;
  }

  /** Devices that are set aside, and the bytes kept of them. */
  get aside(): Pick<Aside, "size" | "bytes"> {
    return this.#culprits.aside;
  }

  /** Seconds since the last commit while reports wait for one, or since the last read of a history while late reports wait for one, whichever is longer. 0: nothing waits. */
  get stalledSeconds(): number {
    return this.#progress.stalledMs(this.#unreadSince) / 1000;
  }

  /** When the read was asked for that late reports have waited for longest. Undefined: they wait for none. */
  get #unreadSince(): number | undefined {
    let first: number | undefined;
    for (const pending of this.#pending.devices.values()) {
      const since = this.#committer.planner.unreadSince(pending);
      if (since !== undefined && (first === undefined || since < first)) first = since;
    }
    return first;
  }

  setAside(device: DeviceKey): SetAside | undefined {
    return this.#culprits.aside.of(device);
  }

  /** Rejects where work waits and nothing was committed for some seconds. */
  async check(): Promise<void> {
    this.#progress.check(this.#unreadSince);
    const { size } = this.#culprits.aside;
    if (size < manyAside || !this.#progress.nothingSinceAside) return;
    const { accounts } = this.#culprits.aside;
    if (accounts > 1)
      throw new Error(`${size} devices of ${accounts} accounts are set aside, and nothing was committed since`);
  }

  takes(device: Admitted): boolean {
    if (this.#congested) return false;
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
    const aside = this.#culprits.aside.holds(device.key);
    const pending = aside ? new PendingDevice(device) : this.#pending.of(device);
    const before = pending.bytes;
    const watched = this.#deps.engine.watches(device);
    pending.add(reports, receivedAt, { ...this.#options, watched, dropped: this.#dropped }, done);
    if (aside) {
      this.#culprits.putAside(pending);
      return;
    }
    this.#gather.reports(device.key);
    // A rest of this device goes first and changes the history, so reading ahead for these reports would be for nothing.
    const first = this.#pending.devices.get(device.key) ?? pending;
    if (first === pending) this.#committer.planner.lookAhead(pending);
    this.#waiting.add(device.accountKey, pending.bytes - before, reports.length);
    if (this.#waiting.over) this.#congested = true;
    this.#running ??= this.#run();
    if (this.#wake === undefined) return;
    const held = this.#holds.has(device.key) || this.#culprits.suspects(device.key);
    if (!held && this.#committer.planner.unreadSince(first) === undefined) this.#wake();
  }

  heard(device: Admitted, receivedAt: number): void {
    this.#deps.engine.heard(device.key, receivedAt);
  }

  /** Holds back no device from now on: the service is about to stop, and trackers wait for their answers. */
  hurry(): void {
    this.#hurries = true;
    this.#committer.planner.hurry();
    this.#wake?.();
  }

  /** Commits what waits, then takes nothing more. While the store is down it gives up: what was not acknowledged comes again. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.hurry();
    this.#attempts.stop();
    this.#culprits.stop();
    // The last replies of a run may begin another one.
    while (this.#running !== undefined) await this.#running;
    await Promise.all([this.ticks.stop(), this.reviews.stop()]);
    this.#unsubscribe();
    await this.#directory.close();
  }

  async #run(): Promise<void> {
    try {
      await this.#commitWaiting();
    } catch (error) {
      if (!(error instanceof GivenUp)) this.#deps.log.error({ error }, "a run of commits broke off");
    }
    this.#relieve();
    this.#progress.idle();
    // What is told lets in what waited behind it: whoever submits now must find that nobody commits, and begin.
    this.#running = undefined;
    this.#tellStored();
    if (!this.#pending.empty && !this.#stopping) this.#begin();
    if (this.#running === undefined && !this.#stopping) this.#culprits.look();
  }

  #begin(): void {
    this.#running ??= this.#run();
  }

  async #commitWaiting(): Promise<void> {
    // Everything that this turn of the event loop reads from sockets joins the batch.
    await new Promise<void>((resolve) => setImmediate(resolve));
    for (;;) {
      // Who waits to be told waits for no trial, which may take long.
      const tried = await this.#culprits.next(this.#stopping, () => this.#tellStored());
      if (tried) this.#relieve();
      if (!this.#pending.empty)
        await this.#gather.wait(
          () => this.#pending.devices.size,
          () => this.#stopping || this.#hurries,
        );
      const taken = this.#takeBatch();
      if (taken.devices.length > 0) await this.#commitBatch(taken);
      else if (this.#pending.empty && !tried) return;
      else if (!tried) await this.#untilOneMayGo();
    }
  }

  async #commitBatch(batch: Batch): Promise<void> {
    const { clock, metrics } = this.#deps;
    let reports = 0;
    let messages = 0;
    for (const pending of batch.devices) {
      reports += pending.reports;
      messages += pending.messages;
    }
    metrics.batchMessages.observe(messages);
    metrics.batchReports.observe(reports);
    this.#progress.begun();
    const began = clock.monotonic();
    this.#wrote = false;
    await this.#culprits.commit(batch.devices);
    this.#batches.took(batch, clock.monotonic() - began, this.#wrote);
    this.#relieve();
    // Where the run ends now, it tells them before.
    setImmediate(() => this.#tellStored());
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

  /** Takes the next batch out of what waits. */
  #takeBatch(): Batch {
    const all = this.#pending;
    this.#pending = new Pending();
    const now = this.#deps.clock.monotonic();
    const holds = this.#holds.some && !this.#hurries;
    const batch = this.#batches.take(all, this.#pending, {
      heldBack: (key) => (holds && this.#holds.has(key, now)) || this.#culprits.suspects(key),
      isLate: (pending) => this.#committer.planner.isLate(pending),
      isUnread: (pending) => this.#committer.planner.unreadSince(pending) !== undefined,
    });
    if (holds) this.#holds.release(now);
    this.#committer.planner.ahead.taken(batch.devices);
    return batch;
  }

  #withdraw(device: DeviceKey): PendingDevice | undefined {
    const pending = this.#pending.take(device);
    if (pending !== undefined) this.#committer.planner.ahead.taken([pending]);
    return pending;
  }

  /** Nothing that waits may be committed yet: devices are held back, or their history is being read. Waits for 20 ms, or until a read ends or another device reports. */
  async #untilOneMayGo(): Promise<void> {
    this.#progress.idle();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, heldPollMs);
    await promise;
    clearTimeout(timer);
    this.#wake = undefined;
  }

  /** Tells those that wait where there is room again. */
  #relieve(): void {
    const relieved = this.#congested && this.#waiting.relieved;
    if (relieved) this.#congested = false;
    if (!relieved && !(this.#heldBack && !this.#congested)) return;
    this.#heldBack = false;
    for (const listener of this.#drainListeners) {
      try {
        listener();
      } catch (error) {
        this.#deps.log.error({ error }, "reading could not be taken up again");
      }
    }
  }

  #settle({ pending, leftover, further }: Planned): void {
    if (further === undefined) this.#progress.committed();
    if (leftover.length === 0) {
      this.#stored.push(pending);
      return;
    }
    pending.left = leftover.length;
    const { rest, bytes } = this.#pending.putBack(pending, leftover);
    this.#waiting.add(pending.device.accountKey, bytes, leftover.length);
    const { planner } = this.#committer;
    rest.wasPostponed = further !== undefined;
    pending.postponed = further !== undefined;
    if (further === undefined) planner.lookAhead(rest);
    else planner.ahead.hold(rest, further);
  }
}
