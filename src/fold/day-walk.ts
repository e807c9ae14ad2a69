import type { Day, FoldPoint } from "../model/follow.ts";
import type { SaidRecord } from "../model/said.ts";
import { asBeginning, dayOf, withRules } from "./days.ts";
import { stepOf } from "./step.ts";
import { advance } from "./totals.ts";

/** Records from one point of a busy day to the next. */
export const usualSpacing = 4096;

/** Tells the states of rules behind the last record, for a point. */
export type Settled = () => string | undefined;

/** Folds records in their order, day by day. */
export class DayWalk {
  readonly #days: Day[] = [];
  #day: number | undefined;
  #before: FoldPoint;
  #points: FoldPoint[];
  #point: FoldPoint;
  readonly #spacing: number;

  private constructor(spacing: number, before: FoldPoint, point: FoldPoint, day?: Day) {
    this.#spacing = spacing;
    this.#before = before;
    this.#point = point;
    this.#day = day?.day;
    this.#points = day?.points.filter(({ records }) => records <= point.records) ?? [];
  }

  /** Begins a new day behind a point. `spacing`: records from one point of a day to the next. */
  static after(point: FoldPoint, spacing: number): DayWalk {
    return new DayWalk(spacing, asBeginning(point), asBeginning(point));
  }

  /** Goes on within a day: behind its end, or one of its points. */
  static within(day: Day, point: FoldPoint, spacing: number): DayWalk {
    return new DayWalk(spacing, day.before, point, day);
  }

  /** Behind the last record. Rules' states are those of the last beginning or point. */
  get point(): FoldPoint {
    return this.#point;
  }

  /** The day of the last record. Undefined: no record was added. */
  get day(): number | undefined {
    return this.#day;
  }

  /** The records of one moment must come one after the other. */
  add(record: SaidRecord, settled: Settled): void {
    const day = dayOf(record.time);
    if (day !== this.#day) this.#begin(day, settled);
    else if (record.time !== this.#point.time && this.#isFarFromPoint())
      this.#points.push(withRules(this.#point, settled()));
    const { time, totals, records } = this.#point;
    this.#point = { time: record.time, totals: advance(totals, time, stepOf(record)), records: records + 1 };
  }

  #begin(day: number, settled: Settled): void {
    const open = this.#open();
    if (open !== undefined) this.#days.push(open);
    this.#day = day;
    this.#before = this.#point = asBeginning(withRules(this.#point, settled()));
    this.#points = [];
  }

  #isFarFromPoint(): boolean {
    return this.#point.records - (this.#points.at(-1)?.records ?? 0) >= this.#spacing;
  }

  #open(): Day | undefined {
    if (this.#day === undefined) return undefined;
    return { day: this.#day, before: this.#before, points: this.#points, end: this.#point };
  }

  /** The days that it came through. The last one ends at the last record. */
  days(): readonly Day[] {
    const open = this.#open();
    return open === undefined ? this.#days : [...this.#days, open];
  }
}
