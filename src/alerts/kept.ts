import { deflateSync, inflateSync } from "node:zlib";
import type { RecordPlace } from "../model/location.ts";
import { firstArrival } from "../model/location.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { isNumber } from "./rule-state.ts";

/** Records from one point to the next. */
const recordsOfPoint = 64;
/** How many times farther apart the points of a level are than those of the level below. */
const levelStep = 32;
const levels = 4;
/** The longest text of states that is unpacked, bytes. The states of 2,000 rules for one device take far less. */
const mostRowsLength = 16 * 1024 * 1024;
/** Points of a level that are kept. */
const keptOfLevel = 2;

/** States of a device's rules as they were at a place of its history. */
export interface Point {
  /** Event time of the newest record then, and how many records there were. */
  readonly time: number;
  readonly count: number;
  /** How many powers of the step lie in its number: points of a higher level are kept for longer. */
  readonly level: number;
  /** The text of the states (`encodeStates`), packed: see `packedRows`. */
  readonly packed: string;
  /** Sums of the history as of then, where a rule looks at them. */
  readonly sums: readonly number[];
}

/** Records came that no rule has seen in their place. */
export interface LateMark {
  /** Event times of the first and the last of them. */
  readonly from: number;
  readonly to: number;
  /** Of how many commits they are. */
  readonly commits: number;
  /** How many records there were before them. */
  readonly count: number;
}

/** Rules that watch since the same moment, by their prints. */
interface Watching {
  /** Event time of the newest record when the first of them watched; 0: there was none. */
  readonly since: number;
  readonly prints: readonly number[];
}

/** What is kept of a device's rules beside their present states. Immutable. */
export interface Kept {
  readonly watching: readonly Watching[];
  /** In the order of history. */
  readonly points: readonly Point[];
  readonly late: LateMark | undefined;
}

/** Nothing is known of the device. */
export const nothingKept: Kept = Object.freeze({ watching: [], points: [], late: undefined });

const listPrints = new WeakMap<readonly CompiledRule[], readonly number[]>();

/** What tells rules and what they judge by apart, 32 bits each. Made once for each list. */
export function printsOf(rules: readonly CompiledRule[]): readonly number[] {
  const known = listPrints.get(rules);
  if (known !== undefined) return known;
  const prints = rules.map(({ rule, judged }) => (judged ^ Math.imul(rule.key, 0x9e3779b1)) >>> 0);
  listPrints.set(rules, prints);
  return prints;
}

/** Whether these rules, and no others, are known to watch. */
export function isWatchedBy({ watching }: Kept, rules: readonly CompiledRule[]): boolean {
  const prints = printsOf(rules);
  const [first] = watching;
  // The usual case, and each commit of a device asks.
  if (watching.length === 1 && first !== undefined && areSame(first.prints, prints)) return true;
  const known = new Set(watching.flatMap((group) => group.prints));
  return known.size === prints.length && prints.every((print) => known.has(print));
}

function areSame(one: readonly number[], other: readonly number[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}

/** The same with these rules: those that are new watch since then. */
export function watchedBy(kept: Kept, rules: readonly CompiledRule[], since: number): Kept {
  const before = sinceOf(kept, rules);
  const prints = printsOf(rules);
  const groups = new Map<number, number[]>();
  prints.forEach((print, at) => {
    const moment = before[at] ?? since;
    const group = groups.get(moment);
    if (group === undefined) groups.set(moment, [print]);
    else group.push(print);
  });
  return { ...kept, watching: [...groups].map(([moment, own]) => ({ since: moment, prints: own })) };
}

/** Since which event time each of the rules watches; undefined: it is new. */
export function sinceOf({ watching }: Kept, rules: readonly CompiledRule[]): readonly (number | undefined)[] {
  const since = new Map<number, number>();
  for (const group of watching) for (const print of group.prints) since.set(print, group.since);
  return printsOf(rules).map((print) => since.get(print));
}

/** The level of a new point after `count` records; undefined: the newest point is near enough. */
export function levelAt({ points }: Kept, count: number): number | undefined {
  const before = points.at(-1)?.count ?? 0;
  let level: number | undefined;
  for (let step = recordsOfPoint, at = 0; at < levels; step *= levelStep, at++) {
    // Each step is a multiple of the one below.
    if (Math.floor(count / step) <= Math.floor(before / step)) break;
    level = at;
  }
  return level;
}

/** The points with another one: of each level, the last two of it or a higher one stay. */
export function withPoint(points: readonly Point[], point: Point): readonly Point[] {
  const all = [...points, point].sort((one, other) => one.time - other.time || one.count - other.count);
  return all.filter(({ level }, at) => {
    let newer = 0;
    for (let next = at + 1; next < all.length; next++) if ((all[next]?.level ?? 0) >= level) newer++;
    return newer < keptOfLevel;
  });
}

/** Behind which place of the history a point's states go on. */
export function placeOf({ time, count }: Pick<Point, "time" | "count">): RecordPlace {
  return { time, arrival: firstArrival + count - 1 };
}

/** The mark with more late records, which one commit brings. `count`: how many records there were before. */
export function markedLate(before: LateMark | undefined, from: number, to: number, count: number): LateMark {
  if (before === undefined) return { from, to, commits: 1, count };
  return {
    from: Math.min(before.from, from),
    to: Math.max(before.to, to),
    commits: before.commits + 1,
    count: before.count,
  };
}

const lateBegins = '{"l":';

/** Whether a device's text has a late mark. */
export function isMarked(text: string | undefined): boolean {
  return text?.startsWith(lateBegins) === true;
}

/** Identifies the late mark in a device's text; undefined: the text has none. */
export function markIn(text: string | undefined): string | undefined {
  return text !== undefined && isMarked(text) ? text.slice(lateBegins.length, text.indexOf("]")) : undefined;
}

/** The members that a device's text begins with. */
export function encodeKept({ watching, points, late }: Kept): string {
  const mark = late && `"l":[${late.from},${late.to},${late.commits},${late.count}],`;
  const groups = watching.map(({ since, prints }) => `[${since},"${packedPrints(prints)}"]`);
  const kept = points.map(
    ({ time, count, level, packed, sums }) => `[${[time, count, level, `"${packed}"`, ...sums].join()}]`,
  );
  return `{${mark ?? ""}"w":[${groups.join()}],"p":[${kept.join()}]`;
}

/** What is kept, of a text that was read as JSON; what is not as it should be gives nothing. */
export function keptOf(text: unknown): Kept {
  if (typeof text !== "object" || text === null) return nothingKept;
  const { l, w, p }: { l?: unknown; w?: unknown; p?: unknown } = text;
  return { watching: listOf(w, watchingOf), points: listOf(p, pointOf), late: lateOf(l) };
}

function listOf<T>(values: unknown, read: (value: readonly unknown[]) => T | undefined): readonly T[] {
  if (!Array.isArray(values)) return [];
  return values.flatMap((value) => (Array.isArray(value) ? (read(value) ?? []) : []));
}

function watchingOf([since, prints]: readonly unknown[]): Watching | undefined {
  return isNumber(since) && typeof prints === "string" ? { since, prints: unpackedPrints(prints) } : undefined;
}

function pointOf([time, count, level, packed, ...sums]: readonly unknown[]): Point | undefined {
  if (!isNumber(time) || !isNumber(count) || !isNumber(level) || typeof packed !== "string") return undefined;
  return rowsOf({ packed }) === undefined ? undefined : { time, count, level, packed, sums: sums.filter(isNumber) };
}

/**
 * Packs the text of a point's states: zlib (RFC 1950) in base64, less than half as long as the text. The checksum of zlib shows damage: with damaged states, a review would
 * withdraw alerts that are right. Packing pays because each commit of the device writes all its points again, and only reviews read them.
 */
export function packedRows(rows: string): string {
  return deflateSync(rows).toString("base64");
}

/** The text of a point's states; undefined: the states are damaged. */
export function rowsOf({ packed }: Pick<Point, "packed">): string | undefined {
  try {
    return inflateSync(Buffer.from(packed, "base64"), { maxOutputLength: mostRowsLength }).toString();
  } catch {
    return undefined;
  }
}

function lateOf(mark: unknown): LateMark | undefined {
  if (!Array.isArray(mark)) return undefined;
  const [from, to, commits, count]: readonly unknown[] = mark;
  return isNumber(from) && isNumber(to) && isNumber(commits) && isNumber(count)
    ? { from, to, commits, count }
    : undefined;
}

function packedPrints(prints: readonly number[]): string {
  const bytes = Buffer.alloc(prints.length * 4);
  prints.forEach((print, at) => {
    bytes.writeUInt32LE(print, at * 4);
  });
  return bytes.toString("base64");
}

function unpackedPrints(text: string): readonly number[] {
  const bytes = Buffer.from(text, "base64");
  const prints: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) prints.push(bytes.readUInt32LE(at));
  return prints;
}
