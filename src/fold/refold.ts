import type { Day, FoldPoint, LateSpan } from "../model/follow.ts";
import type { SaidRecord } from "../model/said.ts";
import { DayWalk, type Settled } from "./day-walk.ts";
import { asBeginning, beginOf, dayOf, goOnAlike, nothing, shifted } from "./days.ts";

/** The rules beside a fold. */
export interface RulesBeside {
  readonly settled: Settled;
  /** Whether the rules stand as they are kept: see `Review.meets`. */
  meets(kept: string | undefined): boolean;
}

/** Where records are folded again. */
export interface RefoldStart {
  /** Days that are kept, in their order: the last one before the first late day, and those from there on. */
  readonly kept: readonly Day[];
  /** Days with late records, one at least, in their order. */
  readonly late: readonly LateSpan[];
  readonly spacing: number;
}

/**
 * Folds a device's records again from the first late one on, until the fold is where it was kept and nothing late
 * follows in that day. So a late record changes its own day, and mostly nothing of the next one.
 */
export class Refold {
  /** Event time from which on records are to be added, all of them in their order. */
  readonly from: number;
  /** Behind which point the fold begins. Its sums are those within the first late day. */
  readonly begin: FoldPoint;
  readonly #walk: DayWalk;
  readonly #kept: ReadonlyMap<number, Day>;
  readonly #late: readonly LateSpan[];
  /** The last day, where it goes on as it was kept. */
  #met: Day | undefined;
  #isDone = false;

  constructor({ kept, late, spacing }: RefoldStart) {
    const { day, from } = late[0] ?? { day: 0, from: 0 };
    this.#kept = new Map(kept.filter((one) => one.day >= day).map((one) => [one.day, one]));
    this.#late = late;
    const own = this.#kept.get(day);
    const at = own?.points.findLast(({ time }) => time !== undefined && time < from);
    const before = (own ?? kept.find((one) => one.day > day))?.before ?? kept.at(-1)?.end ?? nothing;
    this.from = at?.time === undefined ? beginOf(day) : at.time + 1;
    this.begin = at ?? asBeginning(before);
    this.#walk =
      own === undefined || at === undefined ? DayWalk.after(before, spacing) : DayWalk.within(own, at, spacing);
  }

  /** Whether all that follows is as it is kept. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** The last day that was folded again. Late records up to it are in their places. */
  get day(): number | undefined {
    return this.#walk.day;
  }

  /** Behind the last record. */
  get point(): FoldPoint {
    return this.#walk.point;
  }

  /** Adds the next record, unless it is done. */
  add(record: SaidRecord, rules: RulesBeside): void {
    if (!this.#isDone) this.#isDone = this.#meets(record.time, rules);
    if (!this.#isDone) this.#walk.add(record, rules.settled);
  }

  /** The days that were folded again. Each takes the place of the one that was kept. */
  days(): readonly Day[] {
    const days = this.#walk.days();
    return this.#met === undefined ? days : [...days.slice(0, -1), this.#met];
  }

  /** Whether the fold before a record of this time is where it was kept. */
  #meets(time: number, rules: RulesBeside): boolean {
    const { day, point } = this.#walk;
    if (day === undefined) return false;
    const next = dayOf(time);
    if (next !== day) {
      const kept = this.#kept.get(next);
      if (kept === undefined || this.#late.some((span) => span.day < next && span.to >= beginOf(next))) return false;
      return goOnAlike(kept.before, asBeginning(point)) && rules.meets(kept.before.rules);
    }
    const kept = this.#kept.get(day);
    if (kept === undefined || time === point.time) return false;
    if (this.#late.some((span) => span.day <= day && span.to >= time)) return false;
    const met = kept.points.find((one) => one.time === point.time);
    if (met === undefined || !goOnAlike(met, point) || !rules.meets(met.rules)) return false;
    this.#met = this.#joined(kept, met, point);
    return true;
  }

  /** The day as it was folded up to a point, and as it was kept behind. */
  #joined(kept: Day, met: FoldPoint, point: FoldPoint): Day {
    const { before, points } = this.#walk.days().at(-1) ?? kept;
    const ahead = points.filter(({ time }) => time !== point.time);
    const behind = kept.points.filter(({ records }) => records > met.records);
    return {
      day: kept.day,
      before,
      points: [...ahead, shifted(met, met, point), ...behind.map((one) => shifted(one, met, point))],
      end: shifted(kept.end, met, point),
    };
  }
}
