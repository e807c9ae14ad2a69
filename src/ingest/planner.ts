import type { DeviceKey } from "../model/device.ts";
import { type DeviceState, neverReported, placeBefore, placeBehind } from "../model/location.ts";
import type { AlertEngine, Watch } from "../ports/alert-engine.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { HistoryContext, LocationStore } from "../ports/store.ts";
import type { Draft } from "./draft.ts";
import { GuardedWatch } from "./guarded-watch.ts";
import type { IngestMetrics } from "./metrics.ts";
import { type KnownMoment, Moments } from "./moments.ts";
import { Pace } from "./pace.ts";
import { type Ahead, keptOf, ordered, type PendingDevice } from "./pending.ts";
import { type Plan, planAppend, planLate, withoutRepeats } from "./plan.ts";
import { ReadAhead } from "./read-ahead.ts";
import type { States } from "./states.ts";
import { type PackedStretch, readStretches, unpackStretches } from "./stretches.ts";
import { mostReadAhead, wantedFor } from "./wanted.ts";
import { weightOf } from "./weight.ts";

/** The most records of history that late reports are ever shown, some 8 MB for a moment. */
const largestContext = 16_384;
/** The fewest records of history that are read for postponed reports. Within these a vehicle has mostly left its receiver's noise, and the totals meet. */
const leastFurther = 16;
/** The largest context with which the reports of one batch are planned together, records. */
const smallContext = mostReadAhead;
/** If a context is too small, the next one is this many times as large. */
const contextGrowth = 4;
/** Devices that are planned at a time, to bound the memory of their histories: those that need a larger context, and the others. */
const lateAtOnce = 8;
const smallAtOnce = 128;
/** Planning a late report takes well under a millisecond. One that takes longer than this lies among thousands of one moment: its tracker's clock stands still. */
const slowReportMs = 2;
/** After this time planning lets sockets be served: a backlog of thousands of reports takes long. */
const mostTurnMs = 4;
/** A device's plan; none where all it sent is stored already. */
export interface Planned {
  readonly pending: PendingDevice;
  readonly plan: Plan | undefined;
  readonly leftover: readonly Draft[];
  /** The history that the leftover needs to see. */
  readonly further?: Ahead;
  /** Memory that its commit takes (an estimate). */
  readonly bytes: number;
  /** To be called when the plan is stored. */
  readonly whenStored?: (() => void) | undefined;
}

/** What surrounds late reports, and those of them that are not known to be stored already. */
interface Surroundings {
  /** Undefined: all that they say of the first moment is stored already. */
  readonly context: HistoryContext | undefined;
  readonly drafts: readonly Draft[];
}

/** A device whose reports are not all newer than what is stored. */
interface Late {
  readonly pending: PendingDevice;
  readonly drafts: readonly Draft[];
  readonly first: Draft;
  readonly state: DeviceState;
}

/** What judges rules, and who is told where that fails. */
export interface PlannerDeps {
  readonly engine: AlertEngine;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<IngestMetrics, "judgeFailures">;
}

/** Who is told of how planning goes. */
export interface PlannerListener {
  /** These devices took `ms` together to plan, which is long for the few reports that they sent. */
  slow(devices: readonly DeviceKey[], ms: number): void;
  /** A read of the history around late reports has ended. */
  readEnded(): void;
}

/** Makes the plans of a batch: in memory where reports are newer than all before, with the history's help where they come late. */
export class Planner {
  readonly #store: LocationStore;
  readonly #states: States;
  readonly #engine: AlertEngine;
  readonly #clock: Clock;
  readonly #judgeFailed: (device: string, error: unknown) => void;
  readonly #listener: PlannerListener;
  readonly #moments: Moments;
  readonly #pace: Pace;
  /** What is read of histories before it is needed. */
  readonly ahead: ReadAhead;
  #hurries = false;
  #loadingMs = 0;

  constructor(
    store: LocationStore,
    states: States,
    { engine, clock, log, metrics }: PlannerDeps,
    listener: PlannerListener,
  ) {
    this.#listener = listener;
    this.#store = store;
    this.#states = states;
    this.#moments = new Moments(store);
    this.ahead = new ReadAhead(store, this.#moments, clock, () => listener.readEnded());
    this.#engine = engine;
    this.#clock = clock;
    this.#pace = new Pace(clock, mostTurnMs);
    this.#judgeFailed = (device, error) => {
      metrics.judgeFailures.add(1);
      log.error({ device, error }, "a device's alert rules could not be judged; its positions are stored without");
    };
  }

  /** How long the last plans waited, after a start, until histories could be read, ms. No device is at fault for that time. */
  get loadingMs(): number {
    return this.#loadingMs;
  }

  /** Plans these devices, or the first of them: it ends when the plans exceed `mostBytes`. It plans at least one. */
  async plan(devices: readonly PendingDevice[], mostBytes: number): Promise<readonly Planned[]> {
    this.#pace.begin();
    this.#loadingMs = 0;
    this.ahead.planBegins();
    const read = await this.#readStates(devices);
    // Rules are there, but for those of an account that is heard of for the first time.
    const loading = this.#engine.prepare(accountsOf(devices));
    if (loading !== undefined) await loading;
    const planned: Planned[] = [];
    const late: Late[] = [];
    /** Devices whose first report has the time of their newest record: the planner looks for repeats of it first. */
    const ofMoment: Late[] = [];
    let bytes = 0;
    const add = (one: Planned) => {
      planned.push(one);
      bytes += one.bytes;
    };
    for (const pending of devices) {
      if (bytes > mostBytes) return planned;
      const { key } = pending.device;
      const state = read?.get(key) ?? this.#states.get(key) ?? neverReported;
      const drafts = keptOf(pending, state);
      const first = drafts[0];
      if (first === undefined) add({ pending, plan: undefined, leftover: [], bytes: 0 });
      else if (first.time > state.time) add(this.#append(pending, state, drafts));
      else if (first.time < state.time) late.push({ pending, drafts, first, state });
      else {
        const known = this.#moments.get(key, state, first.time);
        if (known === undefined) ofMoment.push({ pending, drafts, first, state });
        else add(this.#append(pending, state, fresh(drafts, known)));
      }
    }
    for (let at = 0; at < ofMoment.length && bytes <= mostBytes; at += smallAtOnce)
      for (const one of await this.#timed(ofMoment.slice(at, at + smallAtOnce), (some) => this.#appendToMoment(some)))
        add(one);
    const waiting: Late[] = [];
    for (let at = 0; at < late.length && bytes <= mostBytes; at += smallAtOnce) {
      const some = late.slice(at, at + smallAtOnce);
      const answers = await Promise.all(some.map((one) => this.#planFirst(one)));
      answers.forEach((one, index) => {
        const again = some[index];
        if (one !== undefined) add(one);
        else if (again !== undefined) waiting.push(again);
      });
    }
    for (let at = 0; at < waiting.length && bytes <= mostBytes; at += lateAtOnce) {
      const answers = await this.#timed(waiting.slice(at, at + lateAtOnce), (some) =>
        Promise.all(some.map((one) => this.#planLate(one, smallContext, largestContext))),
      );
      for (const one of answers) if (one !== undefined) add(one);
    }
    return planned;
  }

  /** Does the work and tells `slow` of the devices where it took long. Leftover reports do not count, since they were not planned. */
  async #timed<T extends Planned | undefined>(
    some: readonly Late[],
    work: (some: readonly Late[]) => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    // The time until histories can be read after a start makes no device slow.
    const asked = this.#clock.monotonic();
    await this.#store.readable();
    this.#loadingMs += this.#clock.monotonic() - asked;
    const began = this.#clock.monotonic() - this.#pace.waitedMs;
    const answers = await work(some);
    const ms = this.#clock.monotonic() - this.#pace.waitedMs - began;
    let reports = 0;
    for (const { drafts } of some) reports += drafts.length;
    for (const one of answers) reports -= one?.leftover.length ?? 0;
    if (ms > reports * slowReportMs)
      this.#listener.slow(
        some.map(({ pending }) => pending.device.key),
        ms,
      );
    return answers;
  }

  /** Drafts none of which is older than what is stored, nor stored already. */
  #append(pending: PendingDevice, state: DeviceState, drafts: readonly Draft[]): Planned {
    if (drafts.length === 0) return { pending, plan: undefined, leftover: [], bytes: 0 };
    const made = planAppend(state, drafts, this.#watch(pending, state));
    return this.#planned(pending, state, made);
  }

  #appendToMoment(some: readonly Late[]): Promise<readonly Planned[]> {
    return Promise.all(
      some.map(async ({ pending, drafts, first, state }) => {
        const known = await this.#moments.load(pending.device.key, state, first.time);
        return this.#append(pending, state, fresh(drafts, known));
      }),
    );
  }

  #planned(
    pending: PendingDevice,
    state: DeviceState,
    { plan, leftover }: Pick<Planned, "plan" | "leftover">,
  ): Planned {
    if (plan === undefined) return { pending, plan, leftover, bytes: 0 };
    return {
      pending,
      plan,
      leftover,
      bytes: weightOf(plan),
      whenStored: this.#moments.whenStored(pending.device.key, state, plan),
    };
  }

  /** Whether some of its reports come late, as far as memory tells. */
  isLate({ device, oldest }: PendingDevice): boolean {
    const state = this.#states.get(device.key);
    return state !== undefined && oldest < state.time;
  }

  /** Asks for the history around a late report as soon as it came. */
  lookAhead(pending: PendingDevice): void {
    const { device, oldest, drafts } = pending;
    const state = this.#states.get(device.key);
    if (state === undefined || oldest >= state.time || pending.ahead !== undefined) return;
    if (oldest < (state.keptFrom ?? oldest)) return;
    // Where nothing was read, each of thousands of packets would look at all that came before it.
    if (drafts.length < 2 * pending.looked) return;
    pending.looked = drafts.length;
    const wanted = wantedFor(this.#store, device.key, ordered(drafts));
    const ahead = this.ahead.read(device.key, state, wanted);
    if (ahead !== undefined) this.ahead.hold(pending, ahead);
  }

  /** Since when it waits for the history around its late reports; undefined: it does not. A part that another commit made useless is not waited for. */
  unreadSince({ device, ahead }: PendingDevice): number | undefined {
    if (ahead === undefined || ahead.arrived || this.#hurries) return undefined;
    const state = this.#states.get(device.key);
    return state === undefined || state.version === ahead.version ? ahead.askedAt : undefined;
  }

  /** Postpones nothing from now on, and has nobody wait for what is being read. */
  hurry(): void {
    this.#hurries = true;
  }

  /** What surrounds the first of a device's late reports. Where that is thousands of its own moment, what lies behind them. */
  async #surroundings(late: Late, limit: number): Promise<Surroundings> {
    const { pending, drafts, first, state } = late;
    const { key } = pending.device;
    const { time } = first;
    let known = this.#moments.get(key, state, time);
    if (known === undefined) {
      const ahead = isAtHand(late, limit) ? (await pending.ahead?.context)?.unpack() : undefined;
      const context = ahead ?? (await this.#store.context(key, placeBefore(time), limit));
      if (!context.more || context.from.at(-1)?.time !== time) return { context, drafts };
      // All these records are of this moment. Mostly the reports are among them, because they were sent again: then the whole moment need not be read.
      const others = withoutRepeats(drafts, context.from);
      if (others[0]?.time !== time) return { context: undefined, drafts: others };
      known = await this.#moments.load(key, state, time);
    }
    const left = fresh(drafts, known);
    // What lies behind a moment surrounds its own reports only: the next report may belong more records later than any context has.
    if (left[0]?.time !== time) return { context: undefined, drafts: left };
    const behind = await this.#store.context(key, placeBehind(time), limit, "without before");
    const { newest } = known;
    return { context: { ...behind, ...(newest && { before: newest }) }, drafts: left };
  }

  /** States of those that are not in memory: held beside the memory's, which may make room for these and lose others of the batch. */
  async #readStates(devices: readonly PendingDevice[]): Promise<ReadonlyMap<DeviceKey, DeviceState> | undefined> {
    const missing: DeviceKey[] = [];
    for (const { device } of devices) if (this.#states.get(device.key) === undefined) missing.push(device.key);
    if (missing.length === 0) return undefined;
    const known = new Map<DeviceKey, DeviceState>();
    for (const { device } of devices) {
      const state = this.#states.get(device.key);
      if (state !== undefined) known.set(device.key, state);
    }
    for (const [key, state] of await this.#states.load(missing)) known.set(key, state);
    return known;
  }

  #watch({ device }: PendingDevice, state: DeviceState): Watch | undefined {
    const failed = (error: unknown) => this.#judgeFailed(device.id, error);
    try {
      const watch = this.#engine.watch(device, state, this.#clock.now());
      return watch && new GuardedWatch(watch, failed);
    } catch (error) {
      failed(error);
      return undefined;
    }
  }

  /**
   * Plans late reports with the history that was asked for before. If they need another or a larger part, they are postponed and that part is read meanwhile, so that the
   * batch does not wait. Reports that may not be postponed, and a rest whose history changed, are planned here, however long the reads take.
   */
  async #planFirst(late: Late): Promise<Planned | undefined> {
    const { pending, drafts, state, first } = late;
    const { device, ahead } = pending;
    const wanted = wantedFor(this.#store, device.key, drafts);
    const read = ahead?.limit ?? 0;
    const limit = isAtHand(late, read) && read >= drafts.length ? read : Math.max(wanted.limit, read);
    const atHand = isAtHand(late, limit);
    const mayBePostponed = pending.mayBePostponed && !this.#hurries && (atHand || !pending.wasPostponed);
    if (limit < smallContext && mayBePostponed) {
      const planned = atHand ? await this.#planLate(late, limit, limit) : undefined;
      if (planned !== undefined) return planned;
      // The part grows each time, so the reports are planned after a few batches.
      const grown = Math.min(Math.max(limit * contextGrowth, leastFurther), smallContext);
      const asked = atHand ? { time: first.time, limit: grown } : { ...wanted, limit };
      const further = this.ahead.readFurther(device.key, state, asked, atHand ? ahead : undefined);
      if (further !== undefined) return { pending, plan: undefined, leftover: drafts, further, bytes: 0 };
    }
    const further = stretchesOf(late) ?? (wanted.further && readStretches(this.#store, device.key, wanted.further));
    return this.#planLate(late, Math.min(limit, smallContext), smallContext, further);
  }

  /** Looks at more and more of the history. Undefined: more than `most` would be needed; there is always a plan with the largest context. `further`: for reports that lie far apart. */
  async #planLate(
    late: Late,
    least: number,
    most: number,
    further: Promise<readonly PackedStretch[]> | undefined = stretchesOf(late),
  ): Promise<Planned | undefined> {
    const { pending, state } = late;
    for (let limit = least; ; limit = Math.min(limit * contextGrowth, most)) {
      const { context, drafts } = await this.#surroundings(late, limit);
      if (context === undefined) return { pending, plan: undefined, leftover: drafts, bytes: 0 };
      const watch = this.#watch(pending, state);
      const stretches = await further;
      while (this.#pace.isOver) await this.#pace.nextTurn();
      const isFinal = limit >= largestContext;
      const made = planLate(state, context, drafts, isFinal, watch, unpackStretches(stretches ?? []));
      // If reports are far apart, a larger context would hold only a few more of them.
      const isDone = made !== "more context" && (!made.mayHaveMore || stretches !== undefined);
      if (made !== "more context" && (isDone || limit >= smallContext)) return this.#planned(pending, state, made);
      if (limit === most) return undefined;
    }
  }
}

/** What was read further on in the history, if the history is still the same. */
function stretchesOf({ pending: { ahead }, state }: Late): Promise<readonly PackedStretch[]> | undefined {
  return ahead?.version === state.version ? ahead.stretches : undefined;
}

/** Whether the history that was asked for is the part that these reports need now. */
function isAtHand({ pending: { ahead }, first, state }: Late, limit: number): boolean {
  return ahead?.version === state.version && ahead.time === first.time && ahead.limit === limit;
}

/** Drafts that are not stored already, as far as one moment tells. */
function fresh(drafts: readonly Draft[], { time, hashes }: Pick<KnownMoment, "time" | "hashes">): readonly Draft[] {
  return drafts.filter((draft) => draft.time !== time || !hashes.has(draft.hash));
}

function accountsOf(devices: readonly PendingDevice[]): ReadonlySet<number> {
  const accounts = new Set<number>();
  for (const { device } of devices) accounts.add(device.accountKey);
  return accounts;
}
