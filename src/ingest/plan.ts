import { changedState, followedState } from "../fold/state.ts";
import { stepOf } from "../fold/step.ts";
import { advance, differOnlyInSums } from "../fold/totals.ts";
import type { DeviceCommit, TotalsPatch, TotalsShift } from "../model/commit.ts";
import { contentHashOf, mayHaveOldHash } from "../model/content-hash.ts";
import {
  byPlace,
  type DeviceState,
  firstArrival,
  type LocationRecord,
  noTotals,
  shiftedTotals,
  type Totals,
  type TotalsSums,
} from "../model/location.ts";
import type { Watch } from "../ports/alert-engine.ts";
import type { HistoryContext } from "../ports/store.ts";
import { type Draft, recordOf } from "./draft.ts";

/** What a batch does to one device, without the device's key. The records are the plan's own: who commits it may empty them. */
export type Plan = Omit<DeviceCommit, "device" | "records"> & { readonly records: LocationRecord[] };

/**
 * The usual case: no draft (in order, without repeats) is older than what is stored. `watch`: the device's rules, where it has any; drafts after those
 * of which they found as much as one commit may hold are left over.
 */
export function planAppend(
  state: DeviceState,
  drafts: readonly Draft[],
  watch?: Watch,
): { readonly plan: Plan; readonly leftover: readonly Draft[] } {
  const records: LocationRecord[] = [];
  const arrival = firstArrival + state.arrivals;
  let { time, totals } = state;
  let taken = 0;
  for (const draft of drafts) {
    if (watch?.full === true) break;
    taken++;
    const next = advance(totals, time === 0 ? undefined : time, draft);
    const record = recordOf(draft, arrival + records.length, next, watch?.observe(draft, next));
    records.push(record);
    totals = next;
    time = draft.time;
  }
  const unwatched: Plan = { records, patches: [], state: followedState(state, records) };
  const found = watched(unwatched, watch);
  const plan: Plan = found === unwatched ? { ...unwatched, follows: true } : found;
  return { plan, leftover: taken === drafts.length ? [] : drafts.slice(taken) };
}

/** The plan with what the device's rules found. */
function watched(plan: Plan, watch: Watch | undefined): Plan {
  const outcome = watch?.outcome();
  if (outcome === undefined) return plan;
  const { rules, alerts, notices, ended = [] } = outcome;
  const { rules: _before, ...state } = plan.state;
  return {
    ...plan,
    state: { ...state, ...(rules !== undefined && { rules }) },
    alerts,
    notices,
    ...(ended.length > 0 && { ended }),
  };
}

/** A plan of late drafts. */
interface WholeLatePlan {
  /** Undefined: all drafts were repeats. */
  readonly plan: Plan | undefined;
  readonly leftover: readonly Draft[];
  /** Some of the leftover drafts belong after the context, so a plan with a larger context may have them. The others are too many for one commit. */
  readonly mayHaveMore: boolean;
}

/** What `planLate` answers: a plan, or that it must see more of the history. */
export type LatePlan = WholeLatePlan | "more context";

/** What surrounds a moment further on in a device's history. */
export interface Stretch {
  /** Event time of the moment. */
  readonly time: number;
  readonly context: HistoryContext;
}

/**
 * Folds drafts into the history that they came too late for. `context` is what surrounds the first of them: from its moment on, or behind that where repeats of its
 * moment were dropped before. Exact repeats are dropped. Drafts that belong after the last record of the context, while the history goes on behind it, are folded into the
 * stretches `further`, in the order of time. Those that belong into none are left over for a later plan.
 * `final`: the context is as large as it may be; where the fold still has not met the stored totals, the rest is shifted by the sums as they are.
 */
export function planLate(
  state: DeviceState,
  context: HistoryContext,
  drafts: readonly Draft[],
  final: boolean,
  watch?: Watch,
  further: Iterable<Stretch> = [],
): LatePlan {
  const horizon = horizonOf(context);
  const most = watch === undefined ? drafts.length : countLate(state, drafts) + watch.mostBesideLate;
  const some = drafts.length <= most ? drafts : drafts.slice(0, most);
  const within = some.filter(({ time }) => time < horizon);
  if (within.length === 0) return "more context";
  const fold = new Fold(state);
  fold.insert(context, withoutRepeats(within, context.from));
  if (context.more && !fold.met && !final) return "more context";
  const { reached, leftover: far } = foldFurther(fold, context, some.slice(within.length), further);
  const leftover = some === drafts ? far : [...far, ...drafts.slice(some.length)];
  const rest = { leftover, mayHaveMore: far.length > 0 };
  if (fold.records.length === 0) return { plan: undefined, ...rest };
  return { plan: watched(latePlan(state, reached, observed(state, fold, watch)), watch), ...rest };
}

/** How many of the drafts are older than what is stored. */
function countLate(state: DeviceState, drafts: readonly Draft[]): number {
  const first = drafts.findIndex(({ time }) => time >= state.time);
  return first < 0 ? drafts.length : first;
}

/** Event time of a context's last record, before which drafts surely belong into the context. */
function horizonOf({ more, from }: HistoryContext): number {
  return more ? (from.at(-1)?.time ?? Number.NEGATIVE_INFINITY) : Number.POSITIVE_INFINITY;
}

/** Folds drafts into stretches behind the first context. Returns the last context that was folded again, and the drafts that belong into no stretch. */
function foldFurther(fold: Fold, first: HistoryContext, drafts: readonly Draft[], further: Iterable<Stretch>) {
  const leftover: Draft[] = [];
  let reached = first;
  let at = 0;
  const takeUntil = (bound: number): readonly Draft[] => {
    const begin = at;
    while ((drafts[at]?.time ?? Number.POSITIVE_INFINITY) < bound) at++;
    return drafts.slice(begin, at);
  };
  for (const { time, context } of further) {
    leftover.push(...takeUntil(time));
    // The totals before a stretch are the stored ones and the sums so far, if all that was folded again lies before the stretch.
    if (!fold.met || (fold.newest?.time ?? Number.NEGATIVE_INFINITY) >= time) continue;
    const own = takeUntil(horizonOf(context));
    if (fold.tryInsert(context, withoutRepeats(own, context.from))) reached = context;
    else leftover.push(...own);
  }
  leftover.push(...drafts.slice(at));
  return { reached, leftover };
}

/**
 * The fold with what rules found in its new records. Those older than the newest stored one wait for a review, the others are as ever. One of the same moment is not late:
 * trackers send an alarm with the time of the fix that they have just sent.
 */
function observed(state: DeviceState, fold: Fold, watch: Watch | undefined): Folded {
  if (watch === undefined) return fold;
  const late = fold.records.filter(({ time }) => time < state.time);
  const [first, last] = [late[0], late.at(-1)];
  if (first !== undefined && last !== undefined) watch.late(first.time, last.time);
  if (late.length === fold.records.length) return fold;
  const records = fold.records.map((record, index) => {
    const one = fold.inserted[index];
    if (one === undefined || index < late.length) return record;
    const found = watch.observe(one.observation, one.totals);
    return found === undefined ? record : recordOf(one.observation, record.arrival, one.totals, found);
  });
  const newest = fold.newest === fold.records.at(-1) ? records.at(-1) : fold.newest;
  const { patches, shifts, totals, sums } = fold;
  return { records, patches, shifts, totals, sums, newest };
}

/**
 * Drafts that are not stored already. Both are in the order of time. What an earlier version of the program stored under another hash is known by what it says.
 */
export function withoutRepeats(drafts: readonly Draft[], stored: readonly LocationRecord[]): readonly Draft[] {
  let next = 0;
  let moment = Number.NEGATIVE_INFINITY;
  const hashes = new Set<number>();
  return drafts.filter(({ time, hash }) => {
    if (time !== moment) {
      moment = time;
      hashes.clear();
      while ((stored[next]?.time ?? time) < time) next++;
      for (let record = stored[next]; record?.time === time; record = stored[++next]) {
        hashes.add(record.hash);
        if (mayHaveOldHash(record)) hashes.add(contentHashOf(record));
      }
    }
    return !hashes.has(hash);
  });
}

/** A draft that is a new record, with the totals after it. */
interface Inserted {
  readonly observation: Draft;
  readonly totals: Totals;
}

/** What a fold came to. */
type Folded = Pick<Fold, "records" | "patches" | "shifts" | "totals" | "sums" | "newest">;

/** A fold over stretches of a device's history, in the order of time, with drafts inserted. */
class Fold {
  readonly #arrivals: number;
  /** The new records, and what each was made of. */
  readonly records: LocationRecord[] = [];
  readonly inserted: Inserted[] = [];
  readonly patches: TotalsPatch[] = [];
  readonly shifts: TotalsShift[] = [];
  /** Totals after the last step. */
  totals: Totals = noTotals;
  /** What the totals of all that is stored after the last step change by. */
  sums: TotalsSums = noTotals;
  newest: LocationRecord | undefined;
  /** The new totals and the stored ones differ only by constant sums from here on. */
  met = true;

  constructor({ arrivals }: DeviceState) {
    this.#arrivals = arrivals;
  }

  /** Inserts drafts into a stretch, and goes on until the totals meet or the stretch ends. */
  insert({ before, from }: HistoryContext, drafts: readonly Draft[]): void {
    const stored = before?.totals ?? noTotals;
    this.totals = isNothing(this.sums) ? stored : shiftedTotals(stored, this.sums);
    this.newest = before;
    let nextStored = 0;
    let nextDraft = 0;
    for (;;) {
      const record = from[nextStored];
      const draft = drafts[nextDraft];
      if (draft === undefined && (record === undefined || this.met)) break;
      if (draft !== undefined && (record === undefined || draft.time < record.time)) {
        nextDraft++;
        this.#add(draft);
      } else if (record !== undefined) {
        nextStored++;
        this.#pass(record);
      }
    }
  }

  /** Inserts drafts into a stretch if the totals meet within the stretch. Returns false when they do not: then nothing was done. */
  tryInsert(context: HistoryContext, drafts: readonly Draft[]): boolean {
    const { totals, sums, newest } = this;
    const [records, patches, shifts] = [this.records.length, this.patches.length, this.shifts.length];
    this.insert(context, drafts);
    if (this.met || !context.more) return true;
    this.records.length = records;
    this.inserted.length = records;
    this.patches.length = patches;
    this.shifts.length = shifts;
    this.totals = totals;
    this.sums = sums;
    this.newest = newest;
    this.met = true;
    return false;
  }

  /** Folds a draft, which becomes a record. */
  #add(draft: Draft): void {
    const totals = advance(this.totals, this.newest?.time, draft);
    const record = recordOf(draft, firstArrival + this.#arrivals + this.records.length, totals);
    this.records.push(record);
    this.inserted.push({ observation: draft, totals });
    this.totals = totals;
    this.newest = record;
    this.met = false;
  }

  /** Folds a stored record again. */
  #pass(record: LocationRecord): void {
    const { newest } = this;
    const totals = advance(this.totals, newest?.time, stepOf(record));
    const change = sumsBetween(record.totals, totals);
    const more = sumsBetween(this.sums, change);
    if (!isNothing(more))
      this.shifts.push({ afterTime: newest?.time ?? 0, afterArrival: newest?.arrival ?? 0, ...more });
    this.sums = change;
    this.met = differOnlyInSums(totals, record.totals);
    if (!this.met) this.patches.push({ time: record.time, hash: record.hash, totals });
    this.totals = totals;
    this.newest = record;
  }
}

function latePlan(state: DeviceState, context: HistoryContext, fold: Folded): Plan {
  const { records, patches, shifts } = fold;
  const changes = { records, patches, ...(shifts.length > 0 && { shifts }) };
  const totals = totalsAfter(state, context, fold);
  const located = records.findLast((record) => !record.unlocated);
  const toEnd = reachesEnd(context, fold);
  const time = toEnd ? (fold.newest?.time ?? state.time) : state.time;
  const isFirstPosition = state.totals.anchor === undefined && totals.anchor !== undefined;
  const newest = toEnd || isFirstPosition ? fold.newest : undefined;
  const change = { records: records.length, time, totals, newest, located };
  return { ...changes, state: changedState(state, change) };
}

/** Whether nothing is stored behind the fold. */
function reachesEnd(context: HistoryContext, { newest }: Folded): boolean {
  const last = context.from.at(-1);
  return !context.more && (last === undefined || newest === undefined || byPlace(newest, last) >= 0);
}

/** The device's totals after a fold. */
function totalsAfter(state: DeviceState, context: HistoryContext, fold: Folded): Totals {
  if (reachesEnd(context, fold)) return fold.totals;
  const { anchor } = fold.totals;
  // The stretch was too long to be folded again up to its end: the first position of all is the last one nevertheless.
  const before = state.totals.anchor ?? anchor;
  const totals = before === undefined || before !== anchor ? state.totals : { ...state.totals, anchor: before };
  return isNothing(fold.sums) ? totals : shiftedTotals(totals, fold.sums);
}

/** What is to be added to the sums of one for those of the other. */
function sumsBetween(one: TotalsSums, other: TotalsSums): TotalsSums {
  const [first, second, third, fourth] = one.sensorMs;
  const [other1, other2, other3, other4] = other.sensorMs;
  return {
    odometerMm: other.odometerMm - one.odometerMm,
    sensorMs: [other1 - first, other2 - second, other3 - third, other4 - fourth],
  };
}

function isNothing({ odometerMm, sensorMs }: TotalsSums): boolean {
  return odometerMm === 0 && sensorMs.every((ms) => ms === 0);
}
