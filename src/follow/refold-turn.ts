import { setImmediate as nextTurn } from "node:timers/promises";
import { usualSpacing } from "../fold/day-walk.ts";
import { added, asBeginning, dayOf, noSums, plus, withRules } from "../fold/days.ts";
import { Newest } from "../fold/newest.ts";
import { Refold, type RulesBeside } from "../fold/refold.ts";
import { foundByTime, type LocationAlerts } from "../model/alert.ts";
import type { Day, DeviceHead, LateSpan } from "../model/follow.ts";
import type { TotalsSums } from "../model/location.ts";
import { StoredObservation } from "../model/observation.ts";
import type { Standing } from "../model/standing.ts";
import type { AlertOutcome, Review, ReviewOutcome, ReviewStart, ToldAlert } from "../ports/alert-engine.ts";
import type { FollowStore } from "../ports/follow.ts";
import type { PositionPage, PositionPlace } from "../ports/positions.ts";
import type { DeviceFold } from "./device-fold.ts";

/** Kept days that one turn looks at: a turn goes no further, so that others have theirs. */
const mostDays = 32;

/**
 * Folding and rules have the thread for so long at a time, ms: many rules over a page of records take half a second.
 */
const sliceMs = 20;

/** A part of a device's time is damaged, so that nobody knows what follows from it. */
export class HistoryUnreadable extends Error {
  override readonly name = "HistoryUnreadable";
}

/** What one turn reads of a device. */
export interface RefoldReads {
  readonly days: (ask: Parameters<FollowStore["days"]>[1]) => Promise<readonly Day[]>;
  readonly sumsBefore: (day: number) => Promise<TotalsSums>;
  readonly records: (from: number, to: number, after: PositionPlace | undefined) => Promise<PositionPage>;
  /** Alerts of the device from an event time on, in the order of time. */
  readonly told: (from: number) => Promise<readonly ToldAlert[]>;
  /** Undefined: no rule watches the device. */
  readonly review: (standing: Standing, start: ReviewStart) => Review | undefined;
  /** Commits a part of what was found. False: that is not possible now; a review finds the rest. */
  readonly commit: (part: AlertOutcome) => Promise<boolean>;
  readonly now: () => number;
  /** ms of a clock that never goes back. */
  readonly monotonic: () => number;
}

/**
 * Folds late records of a device in their places: those of the first late span, and of the days that it reaches. All
 * ended days of the device are committed. What rules found is to be committed with the device's head and days. Rejects
 * with `HistoryUnreadable`, and where reading fails: then nothing has changed. The device takes what waited meanwhile
 * by `endRefold`.
 */
export async function refoldTurn(
  fold: DeviceFold,
  reads: RefoldReads,
  spacing = usualSpacing,
): Promise<ReviewOutcome | undefined> {
  const { head, standing } = fold;
  fold.beginRefold();
  const turn = new Turn(head, standing, reads, spacing);
  await turn.begin();
  await turn.read(fold);
  return turn.end(fold);
}

const none: RulesBeside = { settled: () => undefined, meets: () => true };

class Turn {
  readonly #head: DeviceHead;
  readonly #standing: Standing;
  readonly #reads: RefoldReads;
  readonly #spacing: number;
  readonly #found = new Newest();
  #kept: readonly Day[] = [];
  /** The last day that was looked for. */
  #horizon = Number.POSITIVE_INFINITY;
  #refold: Refold | undefined;
  #review: Review | undefined;
  #sums: TotalsSums = noSums;
  #nextTime: number | undefined;
  #isToEnd = false;
  /** Leaves out what waits and was read. */
  #wereRead: () => void = () => undefined;
  /** Newer records are not known yet, or wait: they are taken as they come. */
  readonly #to: number;
  /** What rules found at the newest record, where the turn went on to it. */
  #foundLast: LocationAlerts | undefined;

  constructor(head: DeviceHead, standing: Standing, reads: RefoldReads, spacing: number) {
    this.#head = head;
    this.#standing = standing;
    this.#reads = reads;
    this.#spacing = spacing;
    const { newest, late } = head;
    this.#to = late.reduce((last, { to }) => Math.max(last, to), newest?.time ?? Number.NEGATIVE_INFINITY);
  }

  async begin(): Promise<void> {
    const { late, today, sumsBefore, keptFrom } = this.#head;
    const day = late[0]?.day ?? 0;
    const isToday = day === today?.day;
    if (!isToday) await this.#readKept(day);
    if (today !== undefined && today.day <= this.#horizon) this.#kept = [...this.#kept, today];
    this.#sums = isToday ? sumsBefore : await this.#reads.sumsBefore(day);
    // Today is not among the days that the store has.
    if (today !== undefined && day > today.day) this.#sums = added(sumsBefore, today.end.totals);
    this.#refold = new Refold({ kept: this.#kept, late, spacing: this.#spacing });
    const { begin } = this.#refold;
    this.#review = this.#reads.review(this.#standing, {
      time: begin.time,
      totals: plus(begin.totals, this.#sums),
      rules: begin.rules,
      late: { from: late[0]?.from ?? 0, to: late.reduce((last, { to }) => Math.max(last, to), 0) },
      keptFrom,
    });
  }

  async #readKept(day: number): Promise<void> {
    const [before, from] = await Promise.all([
      this.#reads.days({ to: day - 1, order: "last", limit: 1 }),
      // One more: where a turn goes no further, it tells the next day how it begins.
      this.#reads.days({ from: day, order: "first", limit: mostDays + 1 }),
    ]);
    if (from.length > mostDays) this.#horizon = from[mostDays - 1]?.day ?? day;
    this.#kept = [...before, ...from];
  }

  async read(fold: DeviceFold): Promise<void> {
    const refold = this.#refold;
    if (refold === undefined) return;
    const review = this.#review;
    const rules: RulesBeside =
      review === undefined ? none : { settled: () => review.settled(), meets: (kept) => review.meets(kept) };
    for (let after: PositionPlace | undefined; ; ) {
      const asked = fold.waiting;
      const page = await this.#reads.records(refold.from, this.#to, after);
      const [damage] = page.unreadable;
      if (damage !== undefined) throw new HistoryUnreadable(damage.what);
      let began = this.#reads.monotonic();
      for (const record of page.records) {
        if (this.#reads.monotonic() - began >= sliceMs) {
          await nextTurn();
          began = this.#reads.monotonic();
        }
        if (dayOf(record.time) > this.#horizon) {
          this.#nextTime = record.time;
          return;
        }
        const { day, point } = refold;
        refold.add(record, rules);
        if (refold.isDone) return;
        if (day !== undefined && day !== refold.day) this.#sums = added(this.#sums, point.totals);
        review?.observe(new StoredObservation(record), plus(refold.point.totals, this.#sums));
        this.#found.add(record);
      }
      if (page.next === undefined) {
        this.#isToEnd = true;
        // What had come before this page was asked for is in it, where it does not belong to a page before.
        const last = after?.time ?? refold.from - 1;
        this.#wereRead = () => fold.wereRead(asked, last, this.#to);
        return;
      }
      after = page.next;
    }
  }

  async end(fold: DeviceFold): Promise<ReviewOutcome | undefined> {
    const refold = this.#refold;
    if (refold === undefined) return undefined;
    const outcome = await this.#reviewed(refold, fold);
    if (outcome === "anew") return undefined;
    const days = [...this.#withEnd(refold.days()), ...this.#goneOn(refold)];
    const folded = new Set(days.map(({ day }) => day));
    const before = this.#kept.filter(({ day }) => folded.has(day));
    const nextTime = this.#nextTime;
    const isSettled = ({ day, from }: LateSpan) =>
      nextTime === undefined ? this.#isToEnd || day <= (refold.day ?? 0) : from < nextTime;
    const settled = this.#head.late.filter(isSettled);
    // Of a turn that comes to nothing, it has its turn again.
    this.#wereRead();
    const rules = outcome && { text: outcome.rules, found: this.#foundLast };
    fold.refolded({ days, before, settled, nextTime, found: this.#found, isToEnd: this.#isToEnd }, rules);
    return outcome;
  }

  /** The first kept day behind a turn that others interrupt, with what is before it now: the next turn begins there. */
  #goneOn({ day, point }: Refold): readonly Day[] {
    if (this.#nextTime === undefined || day === undefined) return [];
    const next = this.#kept.find((one) => one.day > day);
    const review = this.#review;
    const behind = review === undefined ? point : withRules(point, review.settled());
    return next === undefined ? [] : [{ ...next, before: asBeginning(behind) }];
  }

  /** "anew": the rules were changed meanwhile, or not all of it is to be committed now. */
  async #reviewed(refold: Refold, fold: DeviceFold): Promise<ReviewOutcome | undefined | "anew"> {
    const review = this.#review;
    if (review === undefined) return undefined;
    const told = await this.#reads.told(review.toldFrom);
    if (!review.isCurrent) return "anew";
    const until = this.#nextTime ?? (this.#isToEnd ? undefined : (refold.point.time ?? 0) + 1);
    let outcome = review.outcome(this.#standing, told, this.#reads.now(), until);
    const found = [...told, ...outcome.alerts];
    for (; outcome.more !== undefined; found.push(...outcome.alerts)) {
      // Many rules would be folded again and again, for each commit that their alerts take. But what late records come
      // to change would be told and withdrawn.
      if (!(await this.#reads.commit(outcome)) || !review.isCurrent || fold.isLateWaiting) return "anew";
      outcome = outcome.more(this.#reads.now());
    }
    this.#foundLast = foundByTime(found).get(this.#found.time);
    return outcome;
  }

  /** The states of rules behind the newest record stand at the end of its day. */
  #withEnd(days: readonly Day[]): readonly Day[] {
    const last = days.at(-1);
    const rules = this.#isToEnd ? this.#review?.settled() : undefined;
    if (last === undefined || rules === undefined) return days;
    return [...days.slice(0, -1), { ...last, end: { ...last.end, rules } }];
  }
}
