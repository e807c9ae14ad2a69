import { stepOf } from "../fold/step.ts";
import { advance } from "../fold/totals.ts";
import type { DeviceKey } from "../model/device.ts";
import type { Day, FoldPoint } from "../model/follow.ts";
import { noTotals, shiftedTotals, type Totals, type TotalsSums } from "../model/location.ts";
import type { SaidRecord } from "../model/said.ts";
import type { FollowStore, Heads } from "../ports/follow.ts";

const dayMs = 86_400_000;

/** Where a history is folded from. */
export interface FoldStart {
  /** Event time of the last record before; undefined: there is none. */
  readonly time: number | undefined;
  /** Sums over all of the history. */
  readonly totals: Totals;
  /** Event time from which on records are to be folded. */
  readonly from: number;
}

const beginning: FoldStart = { time: undefined, totals: noTotals, from: Number.NEGATIVE_INFINITY };

/** What a fold begins with. */
export interface FoldSources {
  readonly heads: Heads;
  readonly follow: Pick<FollowStore, "days" | "sumsBefore">;
}

/**
 * The last point of a device's fold before an event time: within its day, or of the first day with late records if that
 * is earlier. So a history is exact even before the follower has folded late records in their places.
 */
export async function foldStart(device: DeviceKey, from: number, { heads, follow }: FoldSources): Promise<FoldStart> {
  const head = await heads.head(device);
  const { today, sumsBefore = noTotals, late = [], keptFrom } = head ?? {};
  const before = late.reduce((first, span) => Math.min(first, span.from), Math.max(from, keptFrom ?? from));
  if (before === Number.NEGATIVE_INFINITY) return beginning;
  const day = Math.floor(before / dayMs);
  if (today !== undefined && day >= today.day) return startAt(pointIn(today, before), sumsBefore, today.day);
  const [own] = await follow.days(device, { to: day, order: "last", limit: 1 });
  if (own !== undefined) return startAt(pointIn(own, before), await follow.sumsBefore(device, own.day), own.day);
  if (keptFrom === undefined) return beginning;
  // What was before the first day that is kept stands at its beginning.
  const [next] = await follow.days(device, { from: day, order: "first", limit: 1 });
  const kept = next ?? today;
  if (kept === undefined) return beginning;
  const sums = next === undefined ? sumsBefore : await follow.sumsBefore(device, next.day);
  return { ...startAt(kept.before, sums, kept.day), from: Number.NEGATIVE_INFINITY };
}

/**
 * The first point of a device's fold behind an event time at which something is damaged: what was folded before it was
 * damaged is known there. Late records that are not folded in their places yet are not in it. Undefined: there is none.
 */
export async function startBehind(
  device: DeviceKey,
  time: number,
  { heads, follow }: FoldSources,
): Promise<FoldStart | undefined> {
  const { today, sumsBefore = noTotals } = (await heads.head(device)) ?? {};
  const day = Math.floor(time / dayMs);
  const ended = await follow.days(device, { from: day, order: "first", limit: 2 });
  for (const one of today === undefined ? ended : [...ended, today]) {
    const before = one.day > day ? one.before : undefined;
    const point = before ?? [...one.points, one.end].find((other) => (other.time ?? time) > time);
    if (point === undefined) continue;
    return startAt(point, one === today ? sumsBefore : await follow.sumsBefore(device, one.day), one.day);
  }
  return undefined;
}

/** The last point of a day that lies before an event time. */
function pointIn(day: Day, time: number): FoldPoint {
  const isBefore = (point: FoldPoint) => point.time !== undefined && point.time < time;
  return isBefore(day.end) ? day.end : (day.points.findLast(isBefore) ?? day.before);
}

function startAt({ time, totals, records }: FoldPoint, sums: TotalsSums, day: number): FoldStart {
  return {
    time,
    totals: shiftedTotals(totals, sums),
    from: records === 0 || time === undefined ? day * dayMs : time + 1,
  };
}

/** Folds a device's records in their order. */
export class RunningFold {
  #time: number | undefined;
  #totals: Totals;

  constructor({ time, totals }: FoldStart) {
    this.#time = time;
    this.#totals = totals;
  }

  /** The totals after the next record. */
  add(record: SaidRecord): Totals {
    this.#totals = advance(this.#totals, this.#time, stepOf(record));
    this.#time = record.time;
    return this.#totals;
  }
}
