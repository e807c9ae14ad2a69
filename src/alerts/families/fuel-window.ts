import type { AlertParameters } from "../../model/alert-rule.ts";
import { type LevelJudge, no, nothing, type RuleType, type Seen, yes } from "../judge.ts";
import { minuteMs, minutesOf, rounded, within } from "./check.ts";

/** So many readings are kept of a rule's minutes, evenly; more tell no more of a tank, and each is stored with the device. */
const readingsKept = 24;
/** Readings at a standstill that tell the level; and while driving, when the fuel sloshes. */
const stillReadings = 3;
const movingReadings = 7;
/** Readings before the change that tell the level then. */
const movingBase = 5;
/** A level that goes on by more than this, in points, has not settled; less is the noise of a sensor at a standstill. */
const settledWithin = 1;
/** The level settles over this part of the rule's minutes, and over no fewer readings than tell a level. */
const settlingParts = 10;
/** Slower than this a vehicle stands, km/h. */
const stillKmh = 3;

/** Level of a tank as observed, %. */
export function fuelOf({ observation }: Seen, tank: 1 | 2): number | undefined {
  return tank === 1 ? observation?.readings.fuel : observation?.readings.fuel2;
}

/**
 * A reading of the window: when, %, and 1 where the vehicle stood. Three numbers of what the judge remembers; the last of all is the moment at which
 * time alone makes an alert of them (0: it does not), since it is asked with each report and changes with a reading alone.
 */
const size = 3;

/** A change that the window shows. */
interface Change {
  readonly from: number;
  readonly to: number;
  /** Times of the last and of the first reading that tell the level before it. */
  readonly since: number;
  readonly first: number;
}

/**
 * A type that asks whether a tank's level fell (-1) or rose (1) by so many points within so many minutes.
 * The level is a median: of the last 3 readings where the vehicle stood, of 7 where it drove. It is compared with the medians before it in the window, and all
 * readings on one side must be apart from all on the other, so that neither single readings that are off nor waves in the tank make an alert. It is told when the level has settled, so that it tells the whole amount; a level that does not settle, or of
 * which nothing more is heard, is told when the first reading of before leaves the window, by time alone if need be.
 */
export function fuelChange(sign: -1 | 1): RuleType<"fuelDecrease"> & RuleType<"fuelIncrease"> {
  return {
    clock: "event",
    momentary: false,
    check: ({ points, minutes }: AlertParameters["fuelDecrease"]) => [
      ...within("points", points, 1, 100),
      ...within("minutes", minutes, 1, 1440),
    ],
    judge: ({ tank, points, minutes }: AlertParameters["fuelDecrease"]) => changeJudge(sign, tank, points, minutes),
  };
}

function changeJudge(sign: -1 | 1, tank: 1 | 2, points: number, minutes: number): LevelJudge<FuelFacts> {
  const windowMs = minutes * minuteMs;
  const due = ({ memory }: Seen) => memory[memory.length - 1] || Number.POSITIVE_INFINITY;
  const changeOf = (readings: readonly number[], standing: boolean) => {
    const change = changeIn(readings, sign, standing);
    return change === undefined || amountOf(change) < points ? undefined : change;
  };
  return {
    kind: "level",
    due,
    judge(seen) {
      if (seen.observation === undefined) return !seen.held && seen.time >= due(seen) ? yes : nothing;
      const value = fuelOf(seen, tank);
      if (value === undefined) return nothing;
      const { memory, time } = seen;
      const last = lastOf(memory);
      if (last !== undefined && time - last < windowMs / readingsKept) return nothing;
      const readings = recentOf(memory, time - windowMs);
      readings.push(time, rounded(value), stands(seen) ? 1 : 0);
      seen.memory = readings;
      // Whatever the levels are, they lie within the readings.
      const change = spanOf(readings) < points ? undefined : changeOf(readings, false);
      readings.push(change === undefined ? 0 : change.first + windowMs);
      if (seen.held) return changeOf(readings, true) === undefined ? no : yes;
      // While it is still being filled or drawn off, the next readings tell how much it was.
      return change === undefined || goesOn(readings, sign, time - windowMs / settlingParts) ? no : yes;
    },
    facts({ memory, held, time }) {
      const { from, to, since } = changeIn(memory, sign, held) ?? { from: 0, to: 0, since: time };
      // By time alone, it is what the last reading tells.
      const until = lastOf(memory) ?? time;
      return {
        tank,
        from: rounded(from),
        to: rounded(to),
        points: rounded(Math.abs(to - from)),
        limit: points,
        minutes: minutesOf(until - since),
      };
    },
  };
}

interface FuelFacts {
  readonly tank: 1 | 2;
  readonly from: number;
  readonly to: number;
  readonly points: number;
  readonly limit: number;
  readonly minutes: number;
}

function countOf(memory: readonly number[]): number {
  return Math.floor(memory.length / size);
}

/** When the last reading was. */
function lastOf(memory: readonly number[]): number | undefined {
  return memory[(countOf(memory) - 1) * size];
}

/** The readings since a moment, to be added to. */
function recentOf(memory: readonly number[], since: number): number[] {
  const end = countOf(memory) * size;
  let at = 0;
  while (at < end && (memory[at] ?? 0) < since) at += size;
  return memory.slice(at, end);
}

function amountOf({ from, to }: Change): number {
  return Math.abs(to - from);
}

/** Whether the level still moves within the readings since a moment, or within those that tell it: medians, so that waves are nothing. */
function goesOn(memory: readonly number[], sign: -1 | 1, since: number): boolean {
  const count = countOf(memory);
  let start = count - recentReadings(memory, count);
  while (start > 0 && (memory[start * size] ?? 0) > since) start--;
  const half = (count - start - 1) >> 1;
  const before = median(valuesIn(memory, start, start + half));
  return sign * (median(valuesIn(memory, count - half, count)) - before) > settledWithin;
}

/** So many of the last readings tell the present level. */
function recentReadings(memory: readonly number[], count: number): number {
  return stood(memory, count - stillReadings, count) ? stillReadings : movingReadings;
}

/** From the lowest to the highest reading. */
function spanOf(memory: readonly number[]): number {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let at = 1; at < memory.length; at += size) {
    const value = memory[at] ?? 0;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return most - least;
}

function stands({ observation }: Seen): boolean {
  if (observation?.readings.ignition === false) return true;
  return observation?.speed !== undefined && observation.speed < stillKmh;
}

/** The greatest change of the asked sign between a level of before and the present one. `standing`: it is an alert already, and need not be as clear. */
function changeIn(memory: readonly number[], sign: -1 | 1, standing: boolean): Change | undefined {
  const count = countOf(memory);
  const start = count - recentReadings(memory, count);
  if (start < stillReadings) return undefined;
  const now = valuesIn(memory, start, count);
  const to = median(now);
  let best: Change | undefined;
  for (let end = start; end >= stillReadings; end--) {
    const base = stood(memory, end - stillReadings, end) ? stillReadings : movingBase;
    if (end < base) continue;
    const before = valuesIn(memory, end - base, end);
    const from = median(before);
    if (best !== undefined && sign * (to - from) <= sign * (best.to - best.from)) continue;
    if (!standing && !apart(before, now, sign)) continue;
    best = { from, to, since: memory[(end - 1) * size] ?? 0, first: memory[(end - base) * size] ?? 0 };
  }
  return best;
}

function stood(memory: readonly number[], from: number, until: number): boolean {
  if (from < 0) return false;
  for (let at = from; at < until; at++) if (memory[at * size + 2] !== 1) return false;
  return true;
}

function valuesIn(memory: readonly number[], from: number, until: number): readonly number[] {
  const values: number[] = [];
  for (let at = from; at < until; at++) values.push(memory[at * size + 1] ?? 0);
  return values.sort((left, right) => left - right);
}

/** Of sorted values. */
function median(values: readonly number[]): number {
  return values[values.length >> 1] ?? 0;
}

/** Sorted values that lie all on one side of the others. */
function apart(before: readonly number[], now: readonly number[], sign: -1 | 1): boolean {
  return sign < 0 ? (now.at(-1) ?? 0) < (before[0] ?? 0) : (now[0] ?? 0) > (before.at(-1) ?? 0);
}
