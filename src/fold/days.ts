import type { FoldPoint } from "../model/follow.ts";
import { noTotals, type Totals, type TotalsSums } from "../model/location.ts";
import { differOnlyInSums } from "./totals.ts";

const dayMs = 86_400_000;

/** The fold of a device that never reported. */
export const nothing: FoldPoint = Object.freeze({ time: undefined, totals: noTotals, records: 0 });

/** No way, and no time with an input on. */
export const noSums: TotalsSums = Object.freeze({ odometerMm: 0, sensorMs: noTotals.sensorMs });

/** The UTC day of an event time. */
export function dayOf(time: number): number {
  return Math.floor(time / dayMs);
}

/** Event time of a day's beginning. */
export function beginOf(day: number): number {
  return day * dayMs;
}

/** The same point at the beginning of another day: sums begin anew. */
export function asBeginning({ time, totals, rules }: FoldPoint): FoldPoint {
  return withRules({ time, totals: { ...totals, ...noSums }, records: 0 }, rules);
}

/** A point with these states of rules. */
export function withRules({ time, totals, records }: FoldPoint, rules: string | undefined): FoldPoint {
  return { time, totals, records, ...(rules !== undefined && { rules }) };
}

/** Whether all totals after two points differ by nothing but their sums. */
export function goOnAlike(one: FoldPoint, other: FoldPoint): boolean {
  return one.time === other.time && differOnlyInSums(one.totals, other.totals);
}

/** A point with the sums and records that `to` has more than `from`. */
export function shifted(point: FoldPoint, from: FoldPoint, to: FoldPoint): FoldPoint {
  const totals = plus(point.totals, difference(to.totals, from.totals));
  return withRules({ time: point.time, totals, records: point.records + to.records - from.records }, point.rules);
}

/** Totals with more sums. */
export function plus(totals: Totals, sums: TotalsSums): Totals {
  return { ...totals, ...added(totals, sums) };
}

/** Two sums together. */
export function added(one: TotalsSums, other: TotalsSums): TotalsSums {
  const ms = (input: 0 | 1 | 2 | 3) => one.sensorMs[input] + other.sensorMs[input];
  return { odometerMm: one.odometerMm + other.odometerMm, sensorMs: [ms(0), ms(1), ms(2), ms(3)] };
}

/** What one has more than the other. */
export function difference(one: TotalsSums, other: TotalsSums): TotalsSums {
  const ms = (input: 0 | 1 | 2 | 3) => one.sensorMs[input] - other.sensorMs[input];
  return { odometerMm: one.odometerMm - other.odometerMm, sensorMs: [ms(0), ms(1), ms(2), ms(3)] };
}
