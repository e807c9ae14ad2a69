import type { AccountWording, AlertFacts } from "../model/alert.ts";
import { noTotals, type Totals } from "../model/location.ts";
import type { Observation } from "../model/observation.ts";
import type { Standing } from "../model/standing.ts";
import type { Review, ReviewOutcome, ReviewStart, ToldAlert, WatchedDevice } from "../ports/alert-engine.ts";
import type { Ids } from "../ports/ids.ts";
import { AlertWriter, mostAlerts, type NoticeRoom } from "./alert-writer.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { deviceTime } from "./device-time.ts";
import type { Finder } from "./evaluate.ts";
import { Seen } from "./judge.ts";
import { raised } from "./machine.ts";
import { isCredible, RuleFold } from "./rule-fold.ts";
import { initialState, type RuleState } from "./rule-state.ts";
import { settledIn, settledText } from "./settled.ts";
import { type StateTexts, watchesSince } from "./state-texts.ts";
import { type Correction, compared, type Episode, type FoundAt } from "./told.ts";
import type { AccountSight } from "./zone-sight.ts";

/** Alerts are deleted after a year, so what is older may have been told. */
const oldestToldMs = 365 * 86_400_000;

/** What a review needs of the account and the engine. */
export interface ReviewSetup {
  readonly device: WatchedDevice;
  readonly standing: Standing;
  readonly start: ReviewStart;
  readonly now: number;
  readonly rules: readonly CompiledRule[];
  readonly sight: AccountSight;
  readonly wording: AccountWording;
  readonly ids: Ids;
  readonly texts: StateTexts;
  readonly room: (device: WatchedDevice) => NoticeRoom;
  /** Whether these rules still watch the device, as far as the engine knows. */
  readonly isCurrent: () => boolean;
  /** False shortly after the start: trackers need time to come back, so time alone makes nothing true yet. */
  readonly timePasses: () => boolean;
}

/** Takes episodes as a fold finds them. */
class Episodes implements Finder {
  readonly list: Episode[];
  /** The last of each rule. */
  readonly #last: Map<number, Episode>;
  readonly #places: ReadonlyMap<CompiledRule, number>;

  constructor(places: ReadonlyMap<CompiledRule, number>, list: Episode[]) {
    this.#places = places;
    this.list = list;
    this.#last = new Map(list.map((episode) => [episode.rule, episode]));
  }

  /** The same, to be added to without changing these. */
  copy(): Episodes {
    return new Episodes(
      this.#places,
      this.list.map((one) => ({ ...one })),
    );
  }

  raised(rule: CompiledRule, seen: Seen, time: number, facts: AlertFacts): void {
    const end = rule.momentary ? time : Number.POSITIVE_INFINITY;
    const place = this.#places.get(rule) ?? -1;
    const episode = { rule: place, began: foundAt(seen, time, facts), over: undefined, end };
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
  readonly toldFrom: number;
  readonly #setup: ReviewSetup;
  /** Event time behind which each rule watches. What goes by our clock is not reviewed. */
  readonly #since: readonly number[];
  readonly #found: Episodes;
  readonly #fold: RuleFold;
  /** Event time of the last record before the first late one: nothing changed up to there. */
  #before: number;

  constructor(setup: ReviewSetup) {
    const { device, standing, start, rules, sight, texts } = setup;
    this.#setup = setup;
    const since = watchesSince(texts.read(device.key, standing.rules, rules).since, standing.time);
    this.#since = since.map((moment, at) => (rules[at]?.clock === "arrival" ? Number.POSITIVE_INFINITY : moment));
    const time = start.time ?? 0;
    this.#before = time;
    const states = this.#watching(settledIn(start.rules, rules).states, time);
    this.#found = new Episodes(new Map(rules.map((rule, at) => [rule, at])), standingIn(states));
    this.#fold = new RuleFold({
      device,
      rules,
      states,
      totals: start.totals,
      time,
      sight,
      finder: this.#found,
      since: this.#since,
    });
    this.toldFrom = this.#found.list.reduce((first, { began }) => Math.min(first, began.time), time);
  }

  get isCurrent(): boolean {
    return this.#setup.isCurrent();
  }

  observe(observation: Observation, totals: Totals): void {
    const { now, start } = this.#setup;
    if (observation.time < start.late.from) this.#before = observation.time;
    this.#fold.observe(observation, totals, { now, heardAt: now });
  }

  settled(): string | undefined {
    return settledText(this.#setup.rules, this.#fold);
  }

  meets(kept: string | undefined): boolean {
    const { rules } = this.#setup;
    const own = this.settled();
    if (kept === own) return true;
    const { time } = this.#fold;
    const { states, totals } = settledIn(kept, rules);
    return settledText(rules, { time, states: this.#watching(states, time), totals }) === own;
  }

  /**
   * States as of a time, of the rules that watched by then. What a rule knew when it watched before is of another time.
   */
  #watching(states: readonly RuleState[], time: number): readonly RuleState[] {
    return states.map((state, at) => ((this.#since[at] ?? 0) < time ? state : initialState));
  }

  outcome(standing: Standing, told: readonly ToldAlert[], now: number, until: number | undefined): ReviewOutcome {
    const { device, rules, texts } = this.#setup;
    const live = texts.read(device.key, standing.rules, rules);
    const end = this.#end(standing, live.states, told, now, until);
    const corrections = this.#corrections(end.episodes, live.states, told, now, until);
    const sorted = corrections.toSorted((one, other) => one.correction.at.time - other.correction.at.time);
    const states = () => {
      if (end.present === undefined) return standing.rules;
      const present = { ...end.present, since: watchesSince(live.since, standing.time) };
      return texts.write(device.key, rules, present, standing.time, now);
    };
    return this.#written(sorted, 0, standing.rules, states, now);
  }

  /** Writes corrections from a place on. The new states count behind the last one. */
  #written(
    corrections: readonly RuleCorrection[],
    from: number,
    before: string | undefined,
    states: () => string | undefined,
    now: number,
  ): ReviewOutcome {
    const { device, wording, ids, room } = this.#setup;
    const writer = new AlertWriter(device, wording, ids, now, room(device));
    // What is newer than all that was followed is not late: it came shortly before a crash, or is made true by time
    // alone.
    writer.lateUntil = this.#setup.standing.time;
    const to = write(corrections, from, writer);
    const found = { alerts: writer.alerts, notices: writer.notices, ended: writer.ended };
    if (to === corrections.length) return { ...found, rules: states(), more: undefined };
    return { ...found, rules: before, more: (later) => this.#written(corrections, to, before, states, later) };
  }

  /**
   * All episodes, and the present if the fold went on to it. Time passes for a copy of the fold: up to the present,
   * because more reports may follow, or else to the end of the moment of the last record.
   */
  #end(
    standing: Standing,
    live: readonly RuleState[],
    told: readonly ToldAlert[],
    now: number,
    until: number | undefined,
  ) {
    const episodes = this.#found.copy();
    const settled = this.settled();
    const last = this.#fold.fork(episodes);
    const time = until === undefined ? this.#presentOf(standing, told, now) : last.time;
    const changedAt = last.tick(time, { now, heardAt: now });
    close(episodes.list, last.states);
    if (until !== undefined) return { episodes: episodes.list, present: undefined };
    const states = this.#setup.rules.map((rule, at) => {
      const states = rule.clock === "arrival" ? live : last.states;
      return states[at] ?? initialState;
    });
    const ahead = changedAt === undefined ? undefined : { until: changedAt, settled };
    return { episodes: episodes.list, present: { states, ahead } };
  }

  /**
   * Up to when time has passed on the clock of the reports: up to the last alert too, though a backlog set the device's
   * own time back.
   */
  #presentOf(standing: Standing, told: readonly ToldAlert[], now: number): number {
    const byReports = new Set(this.#setup.rules.flatMap(({ clock, rule }) => (clock === "arrival" ? [] : rule.key)));
    const lastTold = told.findLast(({ ruleKey, phase }) => phase === "raised" && byReports.has(ruleKey))?.time ?? 0;
    return Math.max(this.#setup.timePasses() ? deviceTime(standing, now) : standing.time, lastTold);
  }

  #corrections(
    episodes: readonly Episode[],
    live: readonly RuleState[],
    told: readonly ToldAlert[],
    now: number,
    until: number | undefined,
  ): readonly RuleCorrection[] {
    const {
      rules,
      start: { keptFrom },
    } = this.#setup;
    // Where a report had as many alerts as are kept, those that were left out count as told.
    const crowded = crowdedIn(told);
    const byRule = Map.groupBy(episodes, ({ rule }) => rule);
    const byKey = Map.groupBy(told, ({ ruleKey }) => ruleKey);
    const after = Math.max(this.#before, (keptFrom ?? 0) - 1, now - oldestToldMs);
    const to = until === undefined ? Number.POSITIVE_INFINITY : this.#fold.time;
    return rules.flatMap((rule, at) => {
      if (rule.clock === "arrival") return [];
      const since = this.#since[at] ?? 0;
      const own = byRule.get(at) ?? [];
      // Earlier alerts are those of the rule before it was changed.
      const alerts = byKey.get(rule.rule.key)?.filter(({ time }) => time > since) ?? [];
      if (own.length === 0 && alerts.length === 0) return [];
      const state = live[at] ?? initialState;
      const lasts = state.phase === raised ? Number.POSITIVE_INFINITY : state.since;
      const isKnown = (time: number) => time > Math.max(after, since) && time <= to && !crowded.has(time);
      return compared(own, { rule, alerts, until: lasts, isKnown }).map((correction) => ({ rule, correction }));
    });
  }
}

/** What stands when a fold begins. */
function standingIn(states: readonly RuleState[]): Episode[] {
  return states.flatMap(({ facts, firedAt }, rule) => {
    if (facts === undefined) return [];
    const began = { time: firedAt, observation: undefined, totals: noTotals, facts };
    return [{ rule, began, over: undefined, end: Number.POSITIVE_INFINITY }];
  });
}

/** Times of reports that have as many alerts as are kept of one, without those that were withdrawn. */
function crowdedIn(told: readonly ToldAlert[]): ReadonlySet<number> {
  const counts = new Map<number, number>();
  for (const { time, phase } of told) counts.set(time, (counts.get(time) ?? 0) + (phase === "withdrawn" ? -1 : 1));
  return new Set([...counts].filter(([, count]) => count >= mostAlerts).map(([time]) => time));
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

interface RuleCorrection {
  readonly rule: CompiledRule;
  readonly correction: Correction;
}

/** Writes corrections from a place on, as many as one commit holds: moments are whole. The place of the next one. */
function write(corrections: readonly RuleCorrection[], from: number, writer: AlertWriter): number {
  let present = Number.NEGATIVE_INFINITY;
  for (const [at, { rule, correction }] of corrections.slice(from).entries()) {
    const { time } = correction.at;
    if (time !== present) {
      writer.end();
      if (writer.full) return from + at;
    }
    present = time;
    if (correction.do === "close") writer.closed(rule, time);
    else if (correction.do === "withdraw") writer.withdraw(correction.at);
    else {
      const { at, told } = correction;
      if (correction.do === "raise") writer.raised(rule, seenAt(at), time, at.facts, told);
      else writer.over(rule, seenAt(at), time, at.facts, told);
    }
  }
  writer.end();
  return corrections.length;
}

function seenAt({ time, observation, totals }: FoundAt): Seen {
  const seen = new Seen();
  seen.time = time;
  seen.observation = observation;
  seen.placed = observation !== undefined && isCredible(observation, totals);
  seen.totals = totals;
  return seen;
}
