import type { AlertFactsOf } from "../../model/alert-facts.ts";
import type { AlertParameters } from "../../model/alert-rule.ts";
import { type LevelJudge, no, nothing, type RuleType, type Seen, yes } from "../judge.ts";
import { minuteMs, minutesOf, rounded, within } from "./check.ts";
import { amountOf, checkAmount, type FuelAmount, fuelNeeds, fuelOf } from "./fuel-level.ts";
import { apart, goesOn, median, noiseOf, type Series, slopeOf, spanOf, valuesIn } from "./fuel-series.ts";

/**
 * The most readings that are kept. If a rule's minutes have more, they are thinned evenly: more tell no more of a tank,
 * and each is stored with the device.
 */
const readingsKept = 24;
/** Readings at a standstill that tell the level; and while driving, when the fuel sloshes. */
const stillReadings = 3;
const movingReadings = 7;
/** Readings before the change that tell the level then. */
const movingBase = 5;
/** A change must be this many times as great as the noise of the readings that tell it. */
const noiseTimes = 8;
/**
 * A change must exceed the rule's amount by this many times the noise, so that a slope and the noise together do not
 * pass for a change.
 */
const noiseMargin = 2;
/** The same if use was subtracted, which noise makes uncertain. */
const usedMargin = 6;
/** The most readings that tell a level, if they are noisy. */
const noisyReadings = 10;
/**
 * How many readings, before those that tell the level, are searched for the end of a change over a gap or one older
 * than the rule's minutes.
 */
const lookedBack = 3;
/** A level that goes on by more than this has not settled; less is the noise of a sensor at a standstill. */
const settledWithin = 1;
/** The level settles over this part of the rule's minutes, and over no fewer readings than tell a level. */
const settlingParts = 10;
/**
 * Slower than this a vehicle stands, km/h; one whose mileage grew by less between two readings has stood between them,
 * km.
 */
const stillKmh = 3;
const stillKm = 0.5;

/**
 * What is remembered: a mark of this form, the moment before which all changes have been told, the readings (`Series`),
 * and the moment at which time alone makes an alert of them (0: it does not), since that is asked with each report and
 * changes with a reading alone.
 */
const form = -1;
const headLength = 2;
const size = 4;

/** A change that the readings show. */
interface Change {
  readonly from: number;
  readonly to: number;
  /**
   * Times of the last and of the first reading that tell the level before it, and of the first that tells the level
   * after it.
   */
  readonly since: number;
  readonly first: number;
  readonly after: number;
  /** Noise of the readings before it. */
  readonly noise: number;
  /** All of it lies within the rule's minutes. */
  readonly within: boolean;
}

/**
 * A type that asks whether a tank's level fell (-1) or rose (1) by the rule's amount within the rule's minutes, or
 * between two readings that are farther apart. The level is a median: of the last 3 readings where the vehicle stood,
 * of 7 where it drove. It is compared with the medians before it, and all readings on one side must be apart from all
 * on the other, and the change several times their noise, so that neither single readings that are off nor waves in the
 * tank make an alert. It is told when the level has settled, so that it tells the whole amount; a level that does not
 * settle, or of which nothing more is heard, is told when the first reading of before is as old as the rule's minutes,
 * by time alone if need be.
 */
export function fuelChange(sign: -1 | 1): RuleType<"fuelDecrease"> & RuleType<"fuelIncrease"> {
  return {
    clock: "event",
    momentary: false,
    check: ({ points, litres, minutes }: AlertParameters["fuelDecrease"]) => [
      ...checkAmount("points", points, litres, 1),
      ...within("minutes", minutes, 1, 1440),
    ],
    needs: ({ tank, points, litres }: AlertParameters["fuelDecrease"]) =>
      `${fuelNeeds(tank, amountOf(points, litres))}, in ${stillReadings} reports before the change and ${stillReadings} after it while the vehicle stands, or in ${movingBase} and ${movingReadings} while it drives`,
    judge: ({ tank, points, litres, minutes }: AlertParameters["fuelDecrease"]) =>
      changeJudge({ sign, tank, limit: amountOf(points, litres), windowMs: minutes * minuteMs }),
  };
}

/** What is looked for. */
interface Wanted {
  readonly sign: -1 | 1;
  readonly tank: 1 | 2;
  readonly limit: FuelAmount;
  readonly windowMs: number;
}

function changeJudge(wanted: Wanted): LevelJudge<AlertFactsOf["fuelDecrease"]> {
  const { sign, tank, limit, windowMs } = wanted;
  const due = ({ memory }: Seen) =>
    memory[0] === form ? memory.at(-1) || Number.POSITIVE_INFINITY : Number.POSITIVE_INFINITY;
  return {
    kind: "level",
    due,
    judge(seen) {
      const series = seriesOf(seen.memory);
      if (seen.observation === undefined) {
        if (seen.held || seen.time < due(seen)) return nothing;
        remember(seen, series, changeIn(series, wanted, seen.memory[1] ?? 0, false)?.after, 0);
        return yes;
      }
      const value = fuelOf(seen, tank, limit.unit);
      if (value === undefined) return nothing;
      const { time } = seen;
      const last = series.at(-size);
      if (last !== undefined && time - last < windowMs / readingsKept) return nothing;
      const km = Math.round(seen.totals.odometerMm / 100_000) / 10;
      const readings = [...series.slice(-(readingsKept - 1) * size), time, rounded(value), km, stands(seen) ? 1 : 0];
      const told = seen.memory[0] === form ? (seen.memory[1] ?? 0) : 0;
      if (seen.held) {
        remember(seen, readings, told, 0);
        return changeIn(readings, wanted, 0, true) === undefined ? no : yes;
      }
      // Whatever the levels are, they lie within the readings.
      const change = spanOf(readings) < limit.amount ? undefined : changeIn(readings, wanted, told, false);
      const settling = {
        since: time - windowMs / settlingParts,
        least: recentReadings(readings, readings.length / size),
      };
      // While it is still being filled or drawn off, the next readings tell how much it was.
      const isSettled =
        change !== undefined && !goesOn(readings, sign, settling, Math.max(settledWithin, 2 * change.noise));
      const end = change === undefined ? 0 : Math.max(change.first, change.within ? 0 : time) + windowMs;
      remember(seen, readings, isSettled ? change.after : told, isSettled ? 0 : end);
      return isSettled || (end > 0 && end <= time) ? yes : no;
    },
    facts({ memory, held, time }) {
      const series = seriesOf(memory);
      const { from, to, since } = changeIn(series, wanted, 0, held) ?? { from: 0, to: 0, since: time };
      const amount = rounded(Math.abs(to - from));
      // By time alone, it is what the last reading tells.
      const until = series.at(-size) ?? time;
      return {
        tank,
        from: rounded(from),
        to: rounded(to),
        ...(limit.unit === "percent" ? { points: amount } : { litres: amount }),
        limit: limit.amount,
        minutes: minutesOf(until - since),
      };
    },
  };
}

/** The readings that are remembered; those of an older form are none. */
function seriesOf(memory: readonly number[]): Series {
  return memory[0] === form ? memory.slice(headLength, -1) : [];
}

function remember(seen: Seen, series: Series, told: number | undefined, due: number): void {
  seen.memory = [form, told ?? 0, ...series, due];
}

function stands({ observation }: Seen): boolean {
  if (observation?.readings.ignition === false) return true;
  return observation?.speed !== undefined && observation.speed < stillKmh;
}

/** So many readings on either side of a change are needed for it to be told from their noise. */
function neededFor(noise: number, { limit }: Wanted): number {
  return Math.min(noisyReadings, Math.ceil(2 * ((noiseTimes * noise) / limit.amount) ** 2));
}

/** So many of the last readings tell the present level. */
function recentReadings(series: Series, count: number): number {
  return stood(series, count - stillReadings, count) ? stillReadings : movingReadings;
}

function stood(series: Series, from: number, until: number): boolean {
  if (from < 0) return false;
  for (let at = from; at < until; at++) if (series[at * size + 3] !== 1) return false;
  return true;
}

/**
 * The greatest change of the asked sign, and amount, between a level of before and the present one. None of its
 * readings is from before `told`. `standing`: it is an alert already, and need not be as clear.
 */
function changeIn(series: Series, wanted: Wanted, told: number, standing: boolean): Change | undefined {
  const noise = noiseOf(series);
  const usual = changeOf(series, wanted, { told, standing, noise, least: 0 });
  const needed = neededFor(noise, wanted);
  return (
    usual ?? (needed > stillReadings ? changeOf(series, wanted, { told, standing, noise, least: needed }) : undefined)
  );
}

/** How to look for a change. `least`: the fewest readings on either side. */
interface Looking {
  readonly told: number;
  readonly standing: boolean;
  readonly noise: number;
  readonly least: number;
}

function changeOf(series: Series, wanted: Wanted, { told, standing, noise, least }: Looking): Change | undefined {
  const { sign, limit, windowMs } = wanted;
  const count = series.length / size;
  const start = count - Math.max(least, recentReadings(series, count));
  if (start < stillReadings) return undefined;
  const now = valuesIn(series, start, count);
  const to = median(now);
  const windowFrom = (series.at(-size) ?? 0) - windowMs;
  let best: Change | undefined;
  for (let end = start; end >= stillReadings; end--) {
    const base = Math.max(least, stood(series, end - stillReadings, end) ? stillReadings : movingBase);
    if (end < base) continue;
    const first = series[(end - base) * size] ?? 0;
    const isWithin = first >= windowFrom;
    const isBeyond = !isWithin && end < start - lookedBack && (series[end * size] ?? 0) < windowFrom;
    if (first < told || isBeyond) break;
    const before = valuesIn(series, end - base, end);
    const from = median(before);
    const used = isWithin ? 0 : usedBetween(series, { from: end - base, end, start }, wanted);
    const amount = sign * (to - from) - (used ?? 0);
    if (amount < limit.amount || (best !== undefined && amount <= sign * (best.to - best.from))) continue;
    if (!standing && !apart(before, now, sign)) continue;
    const spread = noise * Math.sqrt(1 / base + 1 / now.length);
    const margin = used === undefined || isWithin ? noiseMargin : usedMargin;
    if (!standing && (amount < noiseTimes * spread || amount < limit.amount + margin * spread)) continue;
    const since = series[(end - 1) * size] ?? 0;
    const calm = noiseOf(series.slice(0, end * size));
    best = { from, to, since, first, after: series[start * size] ?? 0, noise: calm, within: isWithin };
  }
  return best;
}

/** Where the readings that tell the level before begin and end, and where those of the present level begin. */
interface Places {
  readonly from: number;
  readonly end: number;
  readonly start: number;
}

/**
 * What use may have changed over a gap or between readings that are far apart, beyond the rule's minutes; more than all
 * where nobody can say it; undefined: nothing, it stood.
 */
function usedBetween(series: Series, { from, end, start }: Places, { sign, windowMs }: Wanted): number | undefined {
  const count = series.length / size;
  const at = (place: number, field: number) => series[place * size + field] ?? 0;
  if (at(count - 1, 2) - at(from, 2) < stillKm) return undefined;
  const gap = at(start, 0) - at(end - 1, 0);
  const hasMoved = at(start, 2) - at(end - 1, 2) >= stillKm;
  if (sign < 0 && hasMoved && gap > windowMs) return Number.POSITIVE_INFINITY;
  const slope = slopeOf(series, from, end, count);
  const between = (at(end, 0) + at(count - 1, 0) - at(from, 0) - at(end - 1, 0)) / 2;
  return Math.max(0, sign * slope * between);
}
