import { DayWalk, usualSpacing } from "../fold/day-walk.ts";
import { added, dayOf, difference, noSums, nothing, plus, withRules } from "../fold/days.ts";
import { Newest } from "../fold/newest.ts";
import type { LocationAlerts } from "../model/alert.ts";
import type { Day, DeviceHead, LateSpan } from "../model/follow.ts";
import type { TotalsSums } from "../model/location.ts";
import type { Standing } from "../model/standing.ts";
import type { AlertOutcome, Watch } from "../ports/alert-engine.ts";
import type { FreshRecord } from "../ports/follow.ts";
import { standingOf } from "./standing.ts";

/** Makes the watch of a device's rules; undefined: none watches it. */
export type WatchFor = (standing: Standing) => Watch | undefined;

const noRules = () => undefined;
const noSpans: readonly LateSpan[] = Object.freeze([]);

/** The head of a device that never reported. */
const noHead: DeviceHead = Object.freeze({ sumsBefore: noSums, late: [] });

/** What was folded again takes the place of what was kept. */
export interface Refolded {
  readonly days: readonly Day[];
  /** Ended days of these that were kept before. */
  readonly before: readonly Day[];
  /** Spans that are in their places now, the last of them up to `nextTime`. */
  readonly settled: readonly LateSpan[];
  /** The event time of the next record, where the fold had not met what is kept but gave others their turn. */
  readonly nextTime: number | undefined;
  /** Newest records of what was read. */
  readonly found: Newest;
  /** It went on to the newest record. */
  readonly isToEnd: boolean;
}

/**
 * Follows one device, in memory. Newer records are folded as they come; late ones are noted, for a `Refold`. Nothing
 * here reads.
 */
export class DeviceFold {
  readonly #spacing: number;
  readonly #late: Map<number, LateSpan>;
  readonly #newest: Newest;
  #today: Day | undefined;
  #sumsBefore: TotalsSums;
  #found: LocationAlerts | undefined;
  #rules: string | undefined;
  #keptFrom: number | undefined;
  /** Days up to this one stand in the store, where the newest one is not known. */
  #endedTo: number;
  /** Days that ended or were folded again, and are not committed. */
  #days = new Map<number, Day>();
  /** How many late records came so far. */
  lateRecords = 0;
  /** What comes while late records are folded in their places. Undefined: none are. */
  #meanwhile: FreshRecord[] | undefined;
  /** Spans of these: the head is asked for more often than they change. */
  #meanwhileSpans = new Map<number, LateSpan>();

  constructor(head: DeviceHead = noHead, spacing = usualSpacing, endedTo = Number.NEGATIVE_INFINITY) {
    this.#endedTo = endedTo;
    this.#spacing = spacing;
    this.#late = new Map(head.late.map((span) => [span.day, span]));
    this.#newest = new Newest(head);
    this.#today = head.today;
    this.#sumsBefore = head.sumsBefore;
    this.#found = head.found;
    this.#rules = head.rules;
    this.#keptFrom = head.keptFrom;
  }

  get head(): DeviceHead {
    return {
      ...this.#newest.records,
      ...(this.#found && { found: this.#found }),
      ...(this.#today && { today: this.#today }),
      sumsBefore: this.#sumsBefore,
      late: this.#spans(),
      ...(this.#rules !== undefined && { rules: this.#rules }),
      ...(this.#keptFrom !== undefined && { keptFrom: this.#keptFrom }),
    };
  }

  /** Event time of the newest record. */
  get time(): number | undefined {
    return this.#newest.newest?.time;
  }

  get standing(): Standing {
    return standingOf({
      newest: this.#newest.newest,
      today: this.#today,
      sumsBefore: this.#sumsBefore,
      rules: this.#rules,
    });
  }

  /** Characters of the texts in the head: what it takes in memory, mostly. */
  get textLength(): { readonly extras: number; readonly rules: number } {
    return { extras: this.#newest.newest?.extras.length ?? 0, rules: this.#rules?.length ?? 0 };
  }

  get isLate(): boolean {
    return this.#late.size > 0;
  }

  get isRefolding(): boolean {
    return this.#meanwhile !== undefined;
  }

  /** Late spans, those of what waits for the end of a refold included. */
  #spans(): readonly LateSpan[] {
    if (this.#late.size === 0 && this.#meanwhileSpans.size === 0) return noSpans;
    const spans = new Map(this.#late);
    for (const { from, to } of this.#meanwhileSpans.values()) addSpan(spans, from, to);
    return [...spans.values()].sort((one, other) => one.day - other.day);
  }

  /** Days that are to be committed with the head. */
  get days(): readonly Day[] {
    return [...this.#days.values()];
  }

  /** These days are committed. */
  committed(days: readonly Day[]): void {
    for (const day of days) if (this.#days.get(day.day) === day) this.#days.delete(day.day);
  }

  /** Notes that records of this time may not be folded in their places. */
  mark(from: number, to: number): void {
    const first = Math.max(from, this.#keptFrom ?? from);
    if (first <= to) addSpan(this.#late, first, to);
  }

  /** Takes records that were appended, in the order in which they came. What rules found in them. */
  take(records: readonly FreshRecord[], watchFor: WatchFor): readonly AlertOutcome[] {
    if (this.#meanwhile !== undefined) {
      for (const record of records) {
        this.#meanwhile.push(record);
        addSpan(this.#meanwhileSpans, record.time, record.time);
      }
      return [];
    }
    const outcomes: AlertOutcome[] = [];
    let walk: DayWalk | undefined;
    let watch: Watch | undefined;
    const end = () => {
      if (walk !== undefined) this.#end(walk, watch);
      const outcome = watch === undefined ? undefined : this.#ruled(watch);
      if (outcome !== undefined) outcomes.push(outcome);
      walk = watch = undefined;
    };
    for (const record of records) {
      if (record.time < (this.#keptFrom ?? record.time)) continue;
      const stands = this.#newest.standingOf(record);
      if (stands === "repeat") continue;
      if (stands === "late" || this.#isEnded(record.time)) {
        this.mark(record.time, record.time);
        this.lateRecords++;
        continue;
      }
      if (watch?.full === true) end();
      if (walk === undefined) {
        walk = this.#walkOn();
        watch = watchFor(this.standing);
      }
      walk.add(record, watch === undefined ? noRules : () => watch?.settled());
      const found = watch?.observe(record, plus(walk.point.totals, this.#sumsAt(walk)));
      this.#found = record.time === this.#newest.time ? together(this.#found, found) : found;
      this.#newest.add(record);
    }
    end();
    return outcomes;
  }

  /** Whether the store has this day, or a later one, though no newest day is known. */
  #isEnded(time: number): boolean {
    return this.#today === undefined && dayOf(time) <= this.#endedTo;
  }

  #walkOn(): DayWalk {
    const today = this.#today;
    return today === undefined
      ? DayWalk.after(nothing, this.#spacing)
      : DayWalk.within(today, today.end, this.#spacing);
  }

  /** Sums of all days before the one that a walk is in. */
  #sumsAt(walk: DayWalk): TotalsSums {
    if (walk.day === this.#today?.day || walk.day === undefined) return this.#sumsBefore;
    return walk
      .days()
      .slice(0, -1)
      .reduce(
        (sums, { end }) => added(sums, end.totals),
        this.#hasToday(walk) ? this.#sumsBefore : added(this.#sumsBefore, this.#today?.end.totals ?? noSums),
      );
  }

  /** Whether a walk began within today, so that today is among its days. */
  #hasToday(walk: DayWalk): boolean {
    return walk.days()[0]?.day === this.#today?.day;
  }

  #end(walk: DayWalk, watch: Watch | undefined): void {
    const days = walk.days();
    const last = days.at(-1);
    if (last === undefined) return;
    this.#sumsBefore = this.#sumsAt(walk);
    if (!this.#hasToday(walk) && this.#today !== undefined) this.#days.set(this.#today.day, this.#today);
    for (const day of days.slice(0, -1)) this.#days.set(day.day, day);
    this.#today = watch === undefined ? last : { ...last, end: withRules(last.end, watch.settled()) };
  }

  /** Takes over what rules made of records or time. */
  #ruled(watch: Watch): AlertOutcome | undefined {
    const { late } = watch;
    if (late !== undefined) this.mark(late.from, late.to);
    const outcome = watch.outcome();
    if (outcome !== undefined) this.#rules = outcome.rules;
    return outcome;
  }

  /** Time passed without a record. */
  tick(watchFor: WatchFor): AlertOutcome | undefined {
    const watch = watchFor(this.standing);
    watch?.tick();
    return watch && this.#ruled(watch);
  }

  /** Late records are being folded in their places from now on: what comes meanwhile waits. */
  beginRefold(): void {
    this.#meanwhile = [];
  }

  /** How many records wait. */
  get waiting(): number {
    return this.#meanwhile?.length ?? 0;
  }

  /** Whether late records are among what waits. */
  get isLateWaiting(): boolean {
    return this.#meanwhile?.some((record) => this.#newest.standingOf(record) === "late") === true;
  }

  /**
   * Leaves out what waits and has been read already: of the first `count`, what is later than `after` and no later than
   * `to`.
   */
  wereRead(count: number, after: number, to: number): void {
    this.#meanwhile = this.#meanwhile?.filter(({ time }, index) => index >= count || time <= after || time > to);
    this.#meanwhileSpans.clear();
    for (const { time } of this.#meanwhile ?? []) addSpan(this.#meanwhileSpans, time, time);
  }

  /** Takes the days that were folded again. What waited is to be taken afterwards: see `endRefold`. */
  refolded(
    { days, before, settled, nextTime, found, isToEnd }: Refolded,
    rules?: { readonly text: string | undefined; readonly found: LocationAlerts | undefined },
  ) {
    const today = this.#today;
    const keptSums = before.reduce(
      (sums, { day, end }) => (day === today?.day ? sums : added(sums, end.totals)),
      noSums,
    );
    const last = isToEnd ? days.at(-1) : days.find(({ day }) => day === today?.day);
    const ended = days.filter((day) => day !== last);
    // What was the newest day is not any more, where records behind it were unknown.
    const behindToday =
      today !== undefined && last !== undefined && last.day > today.day && !days.some(({ day }) => day === today.day);
    const endedSums = ended.reduce((sums, { end }) => added(sums, end.totals), behindToday ? today.end.totals : noSums);
    this.#sumsBefore = added(this.#sumsBefore, difference(endedSums, keptSums));
    if (behindToday) this.#days.set(today.day, today);
    for (const day of ended) this.#days.set(day.day, day);
    this.#endedTo = Math.max(this.#endedTo, ended.at(-1)?.day ?? this.#endedTo);
    if (last !== undefined) this.#today = last;
    // What was noted meanwhile stays.
    for (const span of settled) if (this.#late.get(span.day) === span) this.#late.delete(span.day);
    // What was found live may be withdrawn by now, or may have been found at another record.
    if (isToEnd && (rules !== undefined || found.time !== this.#newest.time)) this.#found = rules?.found;
    this.#newest.take(found, isToEnd);
    if (nextTime !== undefined)
      this.mark(
        nextTime,
        settled.reduce((last, { to }) => Math.max(last, to), nextTime),
      );
    if (rules !== undefined) this.#rules = rules.text;
  }

  /** Nothing is being folded in its place any more. What waited meanwhile, to be taken now. */
  endRefold(): readonly FreshRecord[] {
    const meanwhile = this.#meanwhile ?? [];
    this.#meanwhile = undefined;
    this.#meanwhileSpans.clear();
    return meanwhile;
  }

  /** Records from before a day's beginning are gone. */
  keepFrom(moment: number): void {
    this.#keptFrom = Math.max(moment, this.#keptFrom ?? moment);
    const spans = [...this.#late.values()];
    this.#late.clear();
    for (const { from, to } of spans) this.mark(from, to);
  }
}

/** What rules found at records of one moment. */
function together(one: LocationAlerts | undefined, other: LocationAlerts | undefined): LocationAlerts | undefined {
  return one && other ? { alerts: [...one.alerts, ...other.alerts] } : (one ?? other);
}

/** Spans of one day become one. */
function addSpan(spans: Map<number, LateSpan>, from: number, to: number): void {
  const day = dayOf(from);
  const before = spans.get(day);
  spans.set(day, { day, from: Math.min(from, before?.from ?? from), to: Math.max(to, before?.to ?? to) });
}

/** A head of which these event times are late, too. */
export function withLate(
  head: DeviceHead | undefined,
  spans: readonly (Pick<LateSpan, "from" | "to"> | undefined)[],
): DeviceHead {
  const fold = new DeviceFold(head);
  for (const span of spans) if (span !== undefined) fold.mark(span.from, span.to);
  return fold.head;
}
