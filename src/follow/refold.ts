import type { SaidRecord } from "../model/said.ts";
import { DayWalk } from "./day-walk.ts";
import { asBeginning, beginOf, type Day, dayOf, type FoldPoint, goOnAlike, nothing, shifted } from "./days.ts";

/** Event times of the late records of a day: the first and the last. */
export interface LateSpan {
  readonly day: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Folds a device's records again from the first late one on, until the fold is where it was kept and nothing late follows in that day. So a late record changes its own day, and mostly
 * nothing of the next one.
 */
export class Refold {
  /** Event time from which on records are to be added, all of them in their order. */
  readonly from: number;
  readonly #walk: DayWalk;
  /** Days that are kept, from the first late one on. */
  readonly #kept: ReadonlyMap<number, Day>;
  readonly #late: ReadonlyMap<number, LateSpan>;
  /** The last day, where it goes on as it was kept. */
  #met: Day | undefined;
  #isDone = false;

  /** `kept`: the device's days. `late`: those with late records, one at least. Both in their order. */
  constructor(kept: readonly Day[], late: readonly LateSpan[], spacing: number) {
    const { day, from } = late[0] ?? { day: 0, from: 0 };
    this.#kept = new Map(kept.filter((one) => one.day >= day).map((one) => [one.day, one]));
    this.#late = new Map(late.map((span) => [span.day, span]));
    const own = this.#kept.get(day);
    const at = own?.points.findLast(({ time }) => time !== undefined && time < from);
    const before = kept.findLast((one) => one.day < day)?.end ?? nothing;
    this.from = at?.time === undefined ? beginOf(day) : at.time + 1;
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

  /** Adds the next record, unless it is done. */
  add(record: SaidRecord): void {
    if (!this.#isDone) this.#isDone = this.#meets(record.time);
    if (!this.#isDone) this.#walk.add(record);
  }

  /** The days that were folded again. Each takes the place of the one that was kept. */
  days(): readonly Day[] {
    const days = this.#walk.days();
    return this.#met === undefined ? days : [...days.slice(0, -1), this.#met];
  }

  /** Whether the fold before a record of this time is where it was kept. */
  #meets(time: number): boolean {
    const { day, point } = this.#walk;
    if (day === undefined) return false;
    if (dayOf(time) !== day) return this.#meetsDay(dayOf(time), point);
    const kept = this.#kept.get(day);
    if (kept === undefined || time === point.time || (this.#late.get(day)?.to ?? 0) >= time) return false;
    const met = kept.points.find((one) => one.time === point.time);
    if (met === undefined || !goOnAlike(met, point)) return false;
    this.#met = this.#joined(kept, met, point);
    return true;
  }

  #meetsDay(day: number, point: FoldPoint): boolean {
    const next = this.#kept.get(day);
    return next !== undefined && goOnAlike(next.before, asBeginning(point));
  }

  /** The day as it was folded up to a point, and as it was kept behind. */
  #joined(kept: Day, met: FoldPoint, point: FoldPoint): Day {
    const { before, points } = this.#walk.days().at(-1) ?? kept;
    const ahead = points.filter(({ time }) => time !== point.time);
    const behind = kept.points.filter(({ records }) => records > met.records);
    return {
      day: kept.day,
      before,
      points: [...ahead, point, ...behind.map((one) => shifted(one, met, point))],
      end: shifted(kept.end, met, point),
    };
  }
}
