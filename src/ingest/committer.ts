import type { CommitBatch, DeviceCommit } from "../model/commit.ts";
import type { DeviceKey } from "../model/device.ts";
import type { AlertEngine } from "../ports/alert-engine.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { LocationStore } from "../ports/store.ts";
import type { Directory } from "./directory.ts";
import type { IngestMetrics } from "./metrics.ts";
import { OwnClock } from "./own-clock.ts";
import type { PendingDevice } from "./pending.ts";
import { type Planned, Planner } from "./planner.ts";
import type { States } from "./states.ts";

/** A device that loses the race for its version so often in a row is in trouble of another kind. */
const mostConflicts = 10;
/** One commit's bytes, in memory and on its way to the writer, whose heap has 64 MB; what is more is the next commit. */
const mostCommitBytes = 8 * 1024 * 1024;

/** A report of so long ago says that our clock may be fast, or that it is of a backlog. */
const longAgoMs = 24 * 3_600_000;
const clockTexts = {
  right: "most devices agree with our clock again",
  slow: "our own clock seems to be slow: most devices seem to be in the future. What they report is not acknowledged; set the clock right",
  fast: "our own clock seems to be fast: most devices report of more than a day ago. Set the clock right, unless they send a backlog",
} as const;

/** What a committer works with. */
export interface CommitterDeps {
  readonly locations: LocationStore;
  readonly directory: Directory;
  readonly states: States;
  readonly engine: AlertEngine;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: IngestMetrics;
}

/** Who is told what became of devices' reports. */
export interface CommitListener {
  /** All but the leftover is on disk. */
  stored(planned: Planned): void;
  /** The device may not report any longer. */
  refused(pending: PendingDevice): void;
  /** A commit took so long. */
  took(commits: readonly DeviceCommit[], ms: number): void;
}

/** Plans and commits the reports of some devices, in commits of bounded size. */
export class Committer {
  readonly planner: Planner;
  readonly ownClock = new OwnClock();
  readonly #deps: CommitterDeps;
  readonly #listener: CommitListener;

  constructor(deps: CommitterDeps, listener: CommitListener) {
    this.#deps = deps;
    this.#listener = listener;
    this.planner = new Planner(deps.locations, deps.states, deps);
  }

  /** Resolves when all are settled. Where it rejects, some may be; it may be tried again with the same ones. */
  async commit(devices: readonly PendingDevice[]): Promise<void> {
    let conflicts = 0;
    for (let left = devices; ; ) {
      left = await this.#admittedAgain(left);
      if (left.length === 0) return;
      const now = this.#deps.clock.monotonic();
      for (const { device } of left) this.ownClock.active(device.accountKey, now);
      for (const pending of left) if (this.#asksOfClock(pending)) await this.#judgeClock(pending);
      const planned = await this.planner.plan(left, mostCommitBytes);
      for (const part of inParts(planned)) if (!(await this.#commitPart(part))) conflicts++;
      if (conflicts >= mostConflicts) throw new Error(`${left.length} devices conflict again and again`);
    }
  }

  /** A usual report costs a comparison: only what is far from our time, or contradicts such a report, tells of our clock. */
  #asksOfClock({ isAhead, newest }: PendingDevice): boolean {
    return isAhead || (newest > Number.NEGATIVE_INFINITY && (newest < -longAgoMs || this.ownClock.open));
  }

  /** Hears what a device says of our clock. Where that may be wrong, what comes from the future is not acknowledged, so that the tracker keeps it. */
  async #judgeClock(pending: PendingDevice): Promise<void> {
    const { clock, states, log, metrics } = this.#deps;
    const { key, accountKey } = pending.device;
    const sight = pending.isAhead ? "ahead" : pending.newest < -longAgoMs ? "behind" : "near";
    const state = states.get(key) ?? (await states.load([key])).get(key);
    const known = state !== undefined && state.time > 0;
    const before = this.ownClock.standing;
    this.ownClock.saw(key, accountKey, sight, known, clock.monotonic(), clock.now());
    const { standing } = this.ownClock;
    if (standing !== before) log[standing === "right" ? "info" : "error"]({ clock: standing }, clockTexts[standing]);
    if (pending.isAhead && this.ownClock.withholds(known, clock.monotonic())) metrics.withheld.add(pending.withhold());
  }

  /** Those that are not settled and may report, admitted again where they changed since their reports came; the others are refused. */
  async #admittedAgain(devices: readonly PendingDevice[]): Promise<readonly PendingDevice[]> {
    const { directory } = this.#deps;
    const good: PendingDevice[] = [];
    for (const pending of devices) {
      if (pending.settled) continue;
      if (!directory.mayReport(pending.device)) {
        const admission = await directory.admit([pending.device.id]);
        // Registered anew under the same id, it is another device than the one that reported.
        if (admission.status !== "admitted" || admission.key !== pending.device.key) {
          pending.settled = true;
          this.#listener.refused(pending);
          continue;
        }
        pending.device = admission;
      }
      good.push(pending);
    }
    return good;
  }

  /** One commit. False: some of its devices are to be planned again. */
  async #commitPart(planned: readonly Planned[]): Promise<boolean> {
    const { locations, clock, metrics, states, directory } = this.#deps;
    const commits: DeviceCommit[] = [];
    let records = 0;
    for (const { pending, plan } of planned) {
      if (plan === undefined) continue;
      records += plan.records.length;
      commits.push({ device: pending.device.key, ...plan });
    }
    const batch: CommitBatch = { devices: commits, refused: planned.flatMap(({ pending }) => pending.refused) };
    if (commits.length > 0 || batch.refused.length > 0) {
      const started = clock.monotonic();
      const conflict = await locations.commit(batch, () => {
        for (const { plan } of planned) if (plan !== undefined) plan.records.length = 0;
      });
      const ms = clock.monotonic() - started;
      metrics.commitSeconds.observe(ms / 1000);
      this.#listener.took(commits, ms);
      if (conflict !== undefined) {
        forget(conflict.conflicts, states, directory);
        metrics.conflicts.add(conflict.conflicts.length);
        return false;
      }
    }
    this.#committed(planned);
    this.#count(planned, records);
    for (const one of planned) {
      one.pending.settled = true;
      this.#listener.stored(one);
    }
    return true;
  }

  /** What is on disk is taken up in memory, and told to those who act on it. */
  #committed(planned: readonly Planned[]): void {
    const { states, engine, bus, log } = this.#deps;
    let notices = 0;
    for (const { pending, plan } of planned) {
      if (plan === undefined) continue;
      states.committed(pending.device.key, plan.state);
      try {
        engine.committed(pending.device, plan.state);
      } catch (error) {
        log.error({ error, device: pending.device.id }, "timers of a device's alert rules could not be set");
      }
      notices += plan.notices?.length ?? 0;
    }
    if (notices > 0) bus.publish({ type: "noticesQueued" });
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
}

/** Who lost the race for its version is read again. */
function forget(devices: readonly DeviceKey[], states: States, directory: Directory): void {
  for (const key of devices) {
    states.forget(key);
    directory.doubt(key);
  }
}

/** Cuts plans into commits of bounded size; one that is larger by itself stands alone. */
function inParts(planned: readonly Planned[]): readonly (readonly Planned[])[] {
  const parts: Planned[][] = [];
  let part: Planned[] = [];
  let bytes = 0;
  for (const one of planned) {
    if (part.length > 0 && bytes + one.bytes > mostCommitBytes) {
      parts.push(part);
      part = [];
      bytes = 0;
    }
    part.push(one);
    bytes += one.bytes;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}
