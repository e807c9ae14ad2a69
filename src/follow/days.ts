import { differOnlyInSums, sameTotals } from "../fold/totals.ts";
import { noTotals, type Totals } from "../model/location.ts";

const dayMs = 86_400_000;

/** Where the fold of a device stands. */
export interface FoldPoint {
  /** Event time of the last record. Undefined: there is none yet. */
  readonly time: number | undefined;
  /** What the fold holds. Its sums are those within the day. */
  readonly totals: Totals;
  /** Records of the day. */
  readonly records: number;
}

/** What the fold made of a device's UTC day. */
export interface Day {
  /** Days since 1970. */
  readonly day: number;
  /** Before its first record. */
  readonly before: FoldPoint;
  /** Points within a busy day, each behind all records of its moment. */
  readonly points: readonly FoldPoint[];
  /** Behind its last record. */
  readonly end: FoldPoint;
}

/** The fold of a device that never reported. */
export const nothing: FoldPoint = Object.freeze({ time: undefined, totals: noTotals, records: 0 });

/** The UTC day of an event time. */
export function dayOf(time: number): number {
  return Math.floor(time / dayMs);
}

/** Event time of a day's beginning. */
export function beginOf(day: number): number {
  return day * dayMs;
}

/** The same point at the beginning of another day: sums begin anew. */
export function asBeginning({ time, totals }: FoldPoint): FoldPoint {
  return { time, totals: { ...totals, odometerMm: 0, sensorMs: noTotals.sensorMs }, records: 0 };
}

/** Whether everything after two points differs by nothing but their sums. */
export function goOnAlike(one: FoldPoint, other: FoldPoint): boolean {
  return one.time === other.time && differOnlyInSums(one.totals, other.totals);
}

/** Whether two points are the same. */
export function samePoint(one: FoldPoint, other: FoldPoint): boolean {
  return one.time === other.time && one.records === other.records && sameTotals(one.totals, other.totals);
}

/** A point with the sums and records that `to` has more than `from`. */
export function shifted(point: FoldPoint, from: FoldPoint, to: FoldPoint): FoldPoint {
  const { totals } = point;
  const more = (input: 0 | 1 | 2 | 3) =>
    totals.sensorMs[input] + to.totals.sensorMs[input] - from.totals.sensorMs[input];
  return {
    time: point.time,
    totals: {
      ...totals,
      odometerMm: totals.odometerMm + to.totals.odometerMm - from.totals.odometerMm,
      sensorMs: [more(0), more(1), more(2), more(3)],
    },
    records: point.records + to.records - from.records,
  };
}

/** The totals as of the last record: the sums of all days. */
export function totalsOf(days: readonly Day[]): Totals {
  const sum = (of: (totals: Totals) => number) => days.reduce((all, { end }) => all + of(end.totals), 0);
  const ms = (input: 0 | 1 | 2 | 3) => sum(({ sensorMs }) => sensorMs[input]);
  const last = days.at(-1)?.end.totals ?? noTotals;
  return { ...last, odometerMm: sum(({ odometerMm }) => odometerMm), sensorMs: [ms(0), ms(1), ms(2), ms(3)] };
}
