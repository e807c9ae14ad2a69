import type { CommitBatch, DeviceCommit } from "../model/commit.ts";
import type { DeviceKey } from "../model/device.ts";
import type { AlertEngine } from "../ports/alert-engine.ts";
import type { Bus, CommittedDevice } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { CommitConflict, LocationStore } from "../ports/store.ts";
import type { Directory } from "./directory.ts";
import type { Committed } from "./holds.ts";
import type { IngestMetrics } from "./metrics.ts";
import type { OwnClock } from "./own-clock.ts";
import type { PendingDevice } from "./pending.ts";
import { type Planned, Planner, type PlannerListener } from "./planner.ts";
import type { States } from "./states.ts";

/** Conflicts in a row after which a device is in trouble of another kind. */
const mostConflicts = 10;
/** One commit's bytes, in memory and on its way to the writer, whose heap has 64 MB; what is more is the next commit. */
const mostCommitBytes = 8 * 1024 * 1024;

/** A report older than this shows that our clock may be fast, or is of a backlog. */
const longAgoMs = 24 * 3_600_000;
/** The clock was set since a report came, or it waited long: it is heard no more of our clock. From the future, it is not acknowledged and judged anew when it comes again. */
const staleMs = 60_000;
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
  readonly ownClock: OwnClock;
  readonly log: Log;
  readonly metrics: IngestMetrics;
}

/** Who is told what became of devices' reports. */
export interface CommitListener extends PlannerListener {
  /** All but the leftover is on disk. */
  stored(planned: Planned): void;
  /** The device may not report any longer. */
  refused(pending: PendingDevice): void;
  /** A commit took `ms`, and its plans `planMs`. */
  took(commits: readonly Committed[], ms: number, planMs: number): void;
}

/** Plans and commits the reports of some devices, in commits of bounded size. */
export class Committer {
  readonly planner: Planner;
  readonly #deps: CommitterDeps;
  readonly #listener: CommitListener;
  /** A commit with notices failed: they may be queued nevertheless. */
  #perhapsQueued = false;

  constructor(deps: CommitterDeps, listener: CommitListener) {
    this.#deps = deps;
    this.#listener = listener;
    this.planner = new Planner(deps.locations, deps.states, deps, listener);
  }

  /** Resolves when all are settled. Where it rejects, some may be; it may be tried again with the same ones. */
  async commit(devices: readonly PendingDevice[]): Promise<void> {
    let conflicts = 0;
    for (let left = devices; ; ) {
      left = await this.#admittedAgain(left);
      if (left.length === 0) return;
      await this.#judgeClock(left);
      const { clock } = this.#deps;
      const began = clock.monotonic();
      const planned = await this.planner.plan(left, mostCommitBytes);
      const planMs = clock.monotonic() - began - this.planner.loadingMs;
      for (const part of inParts(planned)) if (!(await this.#commitPart(part, planMs))) conflicts++;
      if (conflicts >= mostConflicts) throw new Error(`${left.length} devices conflict again and again`);
    }
  }

  /** Hears what devices say of our clock. Where that may be wrong, what comes from the future is not acknowledged, so that the trackers keep it. */
  async #judgeClock(devices: readonly PendingDevice[]): Promise<void> {
    const { ownClock, clock, log, metrics } = this.#deps;
    const { hears } = ownClock;
    let told: PendingDevice[] | undefined;
    // A usual report costs two comparisons: only what is far from our time tells of our clock, or what contradicts that.
    for (const pending of devices) {
      const { newest } = pending;
      if (pending.isAhead || (newest > Number.NEGATIVE_INFINITY && (hears || newest < -longAgoMs))) {
        told ??= [];
        told.push(pending);
      }
    }
    if (told === undefined) return;
    const before = ownClock.standing;
    const known = await this.#withHistory(told);
    // In this order, after all that waits: what came before the clock was set is heard no more.
    ownClock.look();
    const wall = clock.now();
    const ahead: PendingDevice[] = [];
    for (const pending of told) {
      const { key, accountKey } = pending.device;
      if (pending.isAhead) ahead.push(pending);
      if (Math.abs(wall - pending.toldAt) > staleMs) continue;
      const sight = pending.isAhead ? "ahead" : pending.newest < -longAgoMs ? "behind" : "near";
      ownClock.saw(key, accountKey, sight, known.has(key));
    }
    ownClock.judge();
    const { standing } = ownClock;
    if (standing !== before) log[standing === "right" ? "info" : "error"]({ clock: standing }, clockTexts[standing]);
    for (const pending of ahead) {
      const { key, id } = pending.device;
      const isStale = Math.abs(wall - pending.toldAt) > staleMs;
      if (!isStale && !ownClock.withholds(known.has(key))) continue;
      const failed = (error: unknown) => log.error({ error, device: id }, "an answer could not be given");
      metrics.withheld.add(pending.withhold(failed));
    }
  }

  /** Which of those that are far from our time have reported what was believed before. */
  async #withHistory(devices: readonly PendingDevice[]): Promise<ReadonlySet<DeviceKey>> {
    const { states } = this.#deps;
    const known = new Set<DeviceKey>();
    const missing: DeviceKey[] = [];
    for (const { device, isAhead, newest } of devices) {
      if (!isAhead && newest >= -longAgoMs) continue;
      const state = states.get(device.key);
      if (state === undefined) missing.push(device.key);
      else if (state.time > 0) known.add(device.key);
    }
    if (missing.length > 0) for (const [key, { time }] of await states.load(missing)) if (time > 0) known.add(key);
    return known;
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
  async #commitPart(planned: readonly Planned[], planMs: number): Promise<boolean> {
    const { clock, metrics, states, directory } = this.#deps;
    const commits: DeviceCommit[] = [];
    const committed: (Committed & CommittedDevice)[] = [];
    let records = 0;
    for (const { pending, plan } of planned) {
      if (plan === undefined) continue;
      records += plan.records.length;
      commits.push({ device: pending.device.key, ...plan });
      committed.push({ device: pending.device, plan });
    }
    const batch: CommitBatch = { devices: commits, refused: planned.flatMap(({ pending }) => pending.refused) };
    if (commits.length > 0 || batch.refused.length > 0) {
      const started = clock.monotonic();
      const conflict = await this.#store(batch, committed, () => {
        for (const { plan } of planned) if (plan !== undefined) plan.records.length = 0;
      });
      const ms = clock.monotonic() - started;
      metrics.commitSeconds.observe(ms / 1000);
      this.#listener.took(committed, ms, planMs);
      if (conflict !== undefined) {
        forget(conflict.conflicts, states, directory);
        metrics.conflicts.add(conflict.conflicts.length);
        return false;
      }
    }
    this.#committed(planned);
    if (committed.length > 0) this.#deps.bus.publish({ type: "committed", devices: committed });
    this.#count(planned, records);
    for (const one of planned) {
      one.pending.settled = true;
      this.#listener.stored(one);
    }
    return true;
  }

  /** A commit that fails may be on disk nevertheless. Memory then forgets its devices: where the next try finds only repeats, no conflict would show that their states are old. */
  async #store(
    batch: CommitBatch,
    devices: readonly CommittedDevice[],
    written: () => void,
  ): Promise<CommitConflict | undefined> {
    const { locations, states, bus } = this.#deps;
    try {
      return await locations.commit(batch, written);
    } catch (error) {
      for (const { device, notices } of batch.devices) {
        states.forget(device);
        this.#perhapsQueued ||= notices !== undefined && notices.length > 0;
      }
      bus.publish({ type: "committed", devices });
      throw error;
    }
  }

  /** What is on disk is taken up in memory, and told to those who act on it. */
  #committed(planned: readonly Planned[]): void {
    const { states, engine, bus, log } = this.#deps;
    let notices = 0;
    for (const { pending, plan, whenStored, further } of planned) {
      // Postponed: nothing of it is stored.
      if (further !== undefined) continue;
      whenStored?.();
      if (plan !== undefined) states.committed(pending.device.key, plan.state);
      // Where all were repeats, they may be those of a commit whose answer was lost.
      const state = plan?.state ?? states.get(pending.device.key);
      try {
        if (state !== undefined) engine.committed(pending.device, state, plan?.notices?.length ?? 0);
        // Repeats and refused reports stand in no state, and the device was heard of all the same.
        if (plan === undefined) engine.heard(pending.device.key, pending.heardAt);
      } catch (error) {
        log.error({ error, device: pending.device.id }, "timers of a device's alert rules could not be set");
      }
      notices += plan?.notices?.length ?? 0;
    }
    if (notices === 0 && !this.#perhapsQueued) return;
    this.#perhapsQueued = false;
    bus.publish({ type: "noticesQueued" });
  }

  #count(planned: readonly Planned[], stored: number): void {
    const { metrics } = this.#deps;
    let reports = 0;
    let refused = 0;
    let tooOld = 0;
    for (const { pending, leftover } of planned) {
      reports += pending.drafts.length - leftover.length;
      tooOld += pending.tooOld;
      refused += pending.refused.length;
    }
    metrics.stored.add(stored);
    metrics.repeats.add(reports - stored - tooOld);
    metrics.oldReports.add(tooOld);
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
