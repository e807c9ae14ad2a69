import type { AccountWording, AlertFacts } from "../model/alert.ts";
import {
  type DeviceState,
  firstArrival,
  type LocationRecord,
  noTotals,
  placeBefore,
  type RecordPlace,
} from "../model/location.ts";
import type { Review, ReviewOutcome, ReviewStanding, ToldAlert, WatchedDevice } from "../ports/alert-engine.ts";
import type { Ids } from "../ports/ids.ts";
import { AlertWriter, mostAlerts, type NoticeRoom } from "./alert-writer.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { deviceTime } from "./device-time.ts";
import type { Finder } from "./evaluate.ts";
import { Seen } from "./judge.ts";
import {
  type Kept,
  type LateMark,
  levelAt,
  markIn,
  type Point,
  packedRows,
  placeOf,
  rowsOf,
  sinceOf,
  withPoint,
} from "./kept.ts";
import { raised } from "./machine.ts";
import { observationOf } from "../model/observation.ts";
import { isCredible, RuleFold } from "./rule-fold.ts";
import { decodeStates, initialState, type RuleState } from "./rule-state.ts";
import { settledOf } from "./settled.ts";
import type { StateTexts } from "./state-texts.ts";
import { compared, type Episode, type FoundAt, type Verdict } from "./told.ts";
import type { AccountSight } from "./zone-sight.ts";

/** Alerts are deleted after a year, so what is older may have been told. */
const oldestToldMs = 365 * 86_400_000;

/** What a review needs of the account and the engine. */
export interface ReviewSetup {
  readonly device: WatchedDevice;
  readonly rules: readonly CompiledRule[];
  readonly sight: AccountSight;
  readonly wording: AccountWording;
  readonly ids: Ids;
  readonly texts: StateTexts;
  readonly room: (device: WatchedDevice) => NoticeRoom;
  /** Event time before which the device's positions were deleted; undefined: none were. */
  readonly keptFrom: number | undefined;
  /** See `markIn`. */
  readonly mark: string | undefined;
  /** Whether these rules still watch the device, as far as the engine knows. */
  readonly isCurrent: () => boolean;
  /** False shortly after the start: trackers need time to come back, so time alone makes nothing true yet. */
  readonly timePasses: boolean;
}

/** Takes episodes as a fold finds them. */
class Episodes implements Finder {
  readonly list: Episode[];
  /** The last of each rule. */
  readonly #last: Map<number, Episode>;
  readonly #places: ReadonlyMap<CompiledRule, number>;
  readonly #knownBefore: number;

  /** `knownBefore`: what began before that event time is known. */
  constructor(places: ReadonlyMap<CompiledRule, number>, knownBefore: number, list: Episode[] = []) {
    this.#places = places;
    this.#knownBefore = knownBefore;
    this.list = list;
    this.#last = new Map(list.map((episode) => [episode.rule, episode]));
  }

  /** The same, to be added to without changing these. */
  copy(): Episodes {
    return new Episodes(
      this.#places,
      this.#knownBefore,
      this.list.map((one) => ({ ...one })),
    );
  }

  raised(rule: CompiledRule, seen: Seen, time: number, facts: AlertFacts): void {
    const end = rule.momentary ? time : Number.POSITIVE_INFINITY;
    const began = foundAt(seen, time, facts);
    const place = this.#places.get(rule) ?? -1;
    const episode = { rule: place, began, before: time < this.#knownBefore, over: undefined, end };
    this.list.push(episode);
    this.#last.set(place, episode);
  }

  over(rule: CompiledRule, seen: Seen, time: number, facts: AlertFacts): void {
    const episode = this.#last.get(this.#places.get(rule) ?? -1);
    if (episode === undefined) return;
    episode.end = time;
    episode.over = foundAt(seen, time, facts);
  }
}

function foundAt({ observation, totals }: Seen, time: number, facts: AlertFacts): FoundAt {
  return { time, observation, totals, facts };
}

/** The fold of a device's rules again, over the part of its history that late records came into. */
export class DeviceReview implements Review {
  readonly after: RecordPlace;
  readonly #setup: ReviewSetup;
  readonly #mark: LateMark;
  readonly #start: Point | undefined;
  readonly #startStates: readonly RuleState[];
  readonly #since: readonly number[];
  /** What began before that event time is known. */
  readonly #knownBefore: number;
  readonly #found: Episodes;
  #fold: RuleFold | undefined;
  /** Points behind the first late record, which are to be made again. */
  readonly #stale: readonly Point[];
  readonly #made: Point[] = [];
  /** Where the fold met what is kept. */
  #met: Point | undefined;
  /** Behind the last late record: what comes of a backlog next is mostly what follows it. */
  #behind: Point | undefined;
  /** How many records there were at the least when those taken so far had come. */
  #count = 0;

  constructor(setup: ReviewSetup, kept: Kept, mark: LateMark) {
    const { rules } = setup;
    this.#setup = setup;
    this.#mark = mark;
    this.#start = kept.points.findLast(({ time }) => time < mark.from);
    this.#stale = kept.points.filter((point) => point.time >= mark.from);
    this.after = this.#start === undefined ? placeBefore(0) : placeOf(this.#start);
    this.#startStates = statesIn(this.#start, rules);
    // A rule watches what came behind the moment at which it began to; what goes by our clock is not reviewed.
    this.#since = sinceOf(kept, rules).map((since, at) =>
      rules[at]?.clock === "arrival" ? Number.POSITIVE_INFINITY : (since ?? Number.POSITIVE_INFINITY),
    );
    // Late records change nothing before the first of them. But if positions after the start were deleted, the fold finds something else there.
    this.#knownBefore = (setup.keptFrom ?? 0) > (this.#start?.time ?? 0) ? mark.from : 0;
    this.#found = new Episodes(new Map(rules.map((rule, at) => [rule, at])), this.#knownBefore, this.#before());
  }

  /** Event time from which on what was told is asked for. */
  get toldFrom(): number {
    return this.#found.list.reduce((first, { began }) => Math.min(first, began.time), this.#start?.time ?? 0);
  }

  standing({ rules, keptFrom }: DeviceState): ReviewStanding {
    const setup = this.#setup;
    if (markIn(rules) !== setup.mark) return "late";
    return setup.isCurrent() && keptFrom === setup.keptFrom ? "stands" : "anew";
  }

  begin(before: LocationRecord | undefined): void {
    const { device, rules, sight } = this.#setup;
    this.#fold = new RuleFold({
      device,
      rules,
      states: this.#startStates,
      totals: before?.totals ?? noTotals,
      time: before?.time ?? 0,
      sight,
      finder: this.#found,
      since: this.#since,
    });
  }

  take(records: readonly LocationRecord[], now: number): boolean {
    const fold = this.#fold;
    if (fold === undefined) throw new Error("a review takes records after it began");
    for (const record of records) {
      if (this.#behind === undefined && record.time > this.#mark.to) this.#behind = this.#pointAt(fold);
      if (this.#pass(record, fold)) return false;
      this.#count = Math.max(this.#count, record.arrival - firstArrival + 1);
      fold.observe(observationOf(record), record.totals, { now, heardAt: now });
    }
    return true;
  }

  /** A point after all records. If all records of a device come late, there would be no other point, and each review would go over more of them. */
  #newest(fold: RuleFold, kept: Kept, count: number): Point | undefined {
    const level = this.#met === undefined ? levelAt(kept, count) : undefined;
    return level === undefined ? undefined : { ...this.#pointAt(fold), count, level };
  }

  #pointAt(fold: RuleFold): Point {
    const { rows, sums } = settledOf(this.#setup.rules, fold);
    return { time: fold.time, count: this.#count, level: 1, packed: packedRows(rows), sums };
  }

  /** Makes the points before a record again. True: what is kept at one of them is what the fold came to, and no late record follows. */
  #pass(record: LocationRecord, fold: RuleFold): boolean {
    for (;;) {
      const stale = this.#stale[this.#made.length];
      if (stale === undefined || !isBehind(record, stale)) return false;
      const { rows, sums } = settledOf(this.#setup.rules, fold);
      if (rows === rowsOf(stale) && stale.time > this.#mark.to && sums.join() === stale.sums.join()) {
        this.#met = stale;
        return true;
      }
      this.#made.push({ ...stale, packed: packedRows(rows), sums });
    }
  }

  outcome(state: DeviceState, told: readonly ToldAlert[], now: number): ReviewOutcome | undefined {
    const { device, rules, texts, wording, ids, room } = this.#setup;
    const kept = texts.keptOf(device.key, state.rules, rules);
    if (this.#fold === undefined || this.standing(state) !== "stands") return undefined;
    const live = texts.statesOf(device.key, state.rules, rules);
    const present = this.#setup.timePasses ? deviceTime(state, now) : state.time;
    const end = this.#end(this.#fold, live, Math.max(present, this.#lastTold(told)), now);
    const writer = new AlertWriter(device, wording, ids, now, room(device));
    const isWhole = write(this.#verdicts(end.episodes, told, live, now), rules, writer);
    const outcome = { alerts: writer.alerts, notices: writer.notices, ended: writer.ended };
    // If one commit does not hold everything, the next review finds the rest.
    if (!isWhole) return { ...outcome, rules: state.rules, isWhole };
    const before = kept.points.filter((point) => point.time < this.#mark.from);
    const rest = this.#met === undefined ? [] : this.#stale.slice(this.#made.length);
    const points = [...before, ...this.#made, ...rest];
    const behind = this.#behind ?? this.#newest(this.#fold, { ...kept, points }, state.arrivals);
    const after = { ...kept, points: behind === undefined ? points : withPoint(points, behind), late: undefined };
    return { ...outcome, rules: texts.keep(device.key, rules, end.states, after, state.time, now), isWhole };
  }

  /** The states and all episodes at the end of the fold. Time passes for a copy of the fold, because more reports may follow. */
  #end(fold: RuleFold, live: readonly RuleState[], present: number, now: number) {
    const episodes = this.#found.copy();
    if (this.#met !== undefined) {
      close(episodes.list, fold.states);
      return { states: live, episodes: episodes.list };
    }
    const last = fold.fork(episodes);
    last.tick(present, { now, heardAt: now });
    const states = this.#setup.rules.map((rule, at) => {
      const states = rule.clock === "arrival" ? live : last.states;
      return states[at] ?? initialState;
    });
    close(episodes.list, last.states);
    return { states, episodes: episodes.list };
  }

  /** The time of the last alert on the clock of the reports. Time had passed up to it, though a backlog set the device's own time back. */
  #lastTold(told: readonly ToldAlert[]): number {
    const byReports = new Set(this.#setup.rules.flatMap(({ clock, rule }) => (clock === "arrival" ? [] : rule.key)));
    return told.findLast(({ ruleKey, phase }) => phase === "raised" && byReports.has(ruleKey))?.time ?? 0;
  }

  #verdicts(
    episodes: readonly Episode[],
    told: readonly ToldAlert[],
    live: readonly RuleState[],
    now: number,
  ): Verdict[] {
    const { rules } = this.#setup;
    // Where a report had as many alerts as are kept, those that were left out count as told.
    const crowded = crowdedIn(told);
    const young = episodes.filter(({ began: { time } }) => time > now - oldestToldMs && !crowded.has(time));
    const byRule = Map.groupBy(young, ({ rule }) => rule);
    const byKey = Map.groupBy(
      told.filter(({ phase, time }) => phase === "over" || !crowded.has(time)),
      ({ ruleKey }) => ruleKey,
    );
    const to = this.#met?.time ?? Number.POSITIVE_INFINITY;
    return rules.flatMap((rule, at) => {
      const since = this.#since[at] ?? 0;
      const own = byRule.get(at) ?? [];
      // Earlier alerts are those of the rule before it was changed.
      const alerts = byKey.get(rule.rule.key)?.filter(({ time }) => time > since) ?? [];
      if (rule.clock === "arrival" || (own.length === 0 && alerts.length === 0)) return [];
      const present = live[at] ?? initialState;
      const until = present.phase === raised ? Number.POSITIVE_INFINITY : present.since;
      const from = Math.max(this.#start?.time ?? 0, since, this.#knownBefore - 1);
      return [compared(own, { rule, alerts, until, from, to })];
    });
  }

  /** What stood when the fold begins. */
  #before(): Episode[] {
    const episodes: Episode[] = [];
    this.#startStates.forEach((state, rule) => {
      if (state.phase !== raised) return;
      const facts = state.facts ?? {};
      const began = { time: state.firedAt, observation: undefined, totals: noTotals, facts };
      episodes.push({ rule, began, before: false, over: undefined, end: Number.POSITIVE_INFINITY });
    });
    return episodes;
  }
}

/** Times of reports that had as many alerts as are kept of one. */
function crowdedIn(told: readonly ToldAlert[]): ReadonlySet<number> {
  const counts = new Map<number, number>();
  for (const { time } of told) counts.set(time, (counts.get(time) ?? 0) + 1);
  return new Set([...counts].filter(([, count]) => count >= mostAlerts).map(([time]) => time));
}

/** States of a point; at first where there is none. */
function statesIn(point: Point | undefined, rules: readonly CompiledRule[]): readonly RuleState[] {
  const entries = new Map(decodeStates(point && rowsOf(point)).map((entry) => [entry.ruleKey, entry]));
  return rules.map(({ rule, judged }) => {
    const entry = entries.get(rule.key);
    return entry?.judged === judged ? entry.state : initialState;
  });
}

function isBehind(record: RecordPlace, point: Point): boolean {
  const place = placeOf(point);
  return record.time > place.time || (record.time === place.time && record.arrival > place.arrival);
}

/** What ended without being over, because its rule was not in force any longer, ended before the next began. */
function close(episodes: readonly Episode[], states: readonly RuleState[]): void {
  const following = new Map<number, number>();
  for (const episode of episodes.toReversed()) {
    const state = states[episode.rule];
    const next = following.get(episode.rule) ?? (state?.phase === raised ? Number.POSITIVE_INFINITY : state?.since);
    if (episode.end === Number.POSITIVE_INFINITY) episode.end = next ?? Number.POSITIVE_INFINITY;
    following.set(episode.rule, episode.began.time);
  }
}

/** Writes verdicts in the order of time. False: it is more than one commit holds. */
function write(verdicts: readonly Verdict[], rules: readonly CompiledRule[], writer: AlertWriter): boolean {
  writer.late = true;
  const steps: { readonly time: number; write(): void }[] = [];
  const add = ({ rule }: Episode, at: FoundAt, work: (rule: CompiledRule, seen: Seen) => void) =>
    steps.push({
      time: at.time,
      write: () => {
        const compiled = rules[rule];
        if (compiled === undefined) return;
        const seen = new Seen();
        seen.time = at.time;
        seen.observation = at.observation;
        seen.placed = at.observation !== undefined && isCredible(at.observation, at.totals);
        seen.totals = at.totals;
        work(compiled, seen);
      },
    });
  for (const { untold, known, over, closed, withdrawn } of verdicts) {
    for (const one of untold)
      add(one, one.began, (rule, seen) => writer.raised(rule, seen, one.began.time, one.began.facts));
    for (const one of known)
      add(one, one.began, (rule, seen) => writer.known(rule, seen, one.began.time, one.began.facts));
    for (const one of over) {
      const { over: ended } = one;
      if (ended) add(one, ended, (rule, seen) => writer.over(rule, seen, ended.time, ended.facts));
    }
    for (const one of closed) if (one.over) add(one, one.over, (rule, { time }) => writer.closed(rule, time));
    for (const alert of withdrawn) steps.push({ time: alert.time, write: () => writer.withdraw(alert) });
  }
  // Stable: what began at a moment stands before its end.
  steps.sort((one, other) => one.time - other.time);
  let present = Number.NEGATIVE_INFINITY;
  for (const step of steps) {
    if (step.time !== present) {
      writer.end();
      if (writer.full) return false;
    }
    present = step.time;
    step.write();
  }
  writer.end();
  return true;
}
