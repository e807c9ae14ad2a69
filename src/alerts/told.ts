import type { Alert, AlertFacts } from "../model/alert.ts";
import type { Totals } from "../model/location.ts";
import type { Observation, ToldAlert } from "../ports/alert-engine.ts";
import type { CompiledRule } from "./compiled-rule.ts";

/** Where something was found: the record (none where time alone did it), and the totals then. */
export interface FoundAt {
  readonly time: number;
  readonly observation: Observation | undefined;
  readonly totals: Totals;
  readonly facts: AlertFacts;
}

/** An episode that a fold found: something that lasts, or a moment. */
export interface Episode {
  /** The rule's place. */
  readonly rule: number;
  readonly began: FoundAt;
  /** The episode began at a time of which everything is known, so nobody is told of it. */
  readonly before: boolean;
  /** Undefined: the episode goes on, or the rule is not in force any longer. */
  over: FoundAt | undefined;
  /** When it ended, if only because the rule was in force no longer; Infinity: it goes on. */
  end: number;
  /** Event time of the next record that had not come late; Infinity: none follows. */
  next: number;
}

/** What becomes of what was found, and of what was told and not found. */
export interface Verdict {
  /** Nobody knows of these. */
  readonly untold: readonly Episode[];
  /** People were told of these as of something else: they stand in the record, and nobody is told again. */
  readonly known: readonly Episode[];
  /** Episodes whose end people are told of. */
  readonly over: readonly Episode[];
  /** Other episodes whose end closes an alert. */
  readonly closed: readonly Episode[];
  /** Alerts of what was never so. */
  readonly withdrawn: readonly Alert[];
}

/** What is known of one rule beside what a fold found. */
export interface ToldRule {
  readonly rule: CompiledRule;
  /** Alerts of the rule in the order of time. */
  readonly alerts: readonly ToldAlert[];
  /** While what the rule told lasted, as far as its states tell. */
  readonly lasted: readonly (readonly [from: number, to: number])[];
  /** When what the rule raised last began, where the fold met what is kept: it was judged before. */
  readonly judged: number | undefined;
  /** What was told then or before, and then or after, lies outside of the fold. */
  readonly from: number;
  readonly to: number;
}

/** Compares the episodes of one rule, in the order of time, with what was told of it: see decision 0031. */
export function compared(episodes: readonly Episode[], told: ToldRule): Verdict {
  const { rule } = told;
  const untold: Episode[] = [];
  const known: Episode[] = [];
  const split: Episode[] = [];
  const withdrawn: Alert[] = [];
  const { standing, gone } = raisedIn({ ...told, alerts: underPresentNames(episodes, told) });
  const byKey = Map.groupBy(episodes, ({ began }) => keyOf(rule, began.facts));
  for (const key of new Set([...byKey.keys(), ...standing.keys()])) {
    const own = byKey.get(key) ?? [];
    const following = new Map(own.map((one, at) => [one, own[at + 1]?.began.time ?? Number.POSITIVE_INFINITY]));
    const same = withSame(own, standing.get(key) ?? []);
    const untilNext = (one: Episode, most: number) => Math.min(most, following.get(one) ?? most);
    // What lasted until an alert is what it told of.
    const lasting = rule.momentary ? same : paired(same, (one) => untilNext(one, one.end));
    const open = lasting.open.filter(({ began, before }) => !before && began.time !== told.judged);
    const inside = (alert: Alert) => alert.time > told.from && alert.time < told.to;
    const unpaired = { open, left: lasting.left.filter(inside) };
    const moved = isSum(own)
      ? inTurn(unpaired)
      : paired(unpaired, (one, alert) => untilNext(one, reachOf(one, alert, told)));
    for (const [episode, alert] of moved.pairs) {
      withdrawn.push(alert);
      known.push(episode);
    }
    for (const episode of moved.open) {
      const { time } = episode.began;
      if (gone.get(key)?.has(time)) known.push(episode);
      else (told.lasted.some(([from, to]) => from < time && time < to) ? split : untold).push(episode);
    }
    withdrawn.push(...moved.left);
  }
  known.push(...split);
  const { notifyWhenOver, notifyOnlyWhenOver } = rule.rule;
  const over = notifyWhenOver || notifyOnlyWhenOver ? endsUntold(episodes, new Set(split), told.alerts) : [];
  return {
    untold,
    known,
    over,
    closed: closedBy(episodes, new Set([...untold, ...known]), over, told.alerts),
    withdrawn,
  };

  function isSum([first]: readonly Episode[]): boolean {
    return rule.momentary && first?.began.facts.limit !== undefined;
  }
}

/** What tells the moments of a rule apart; all that lasts is one and the same. */
function keyOf({ momentary }: CompiledRule, { zone, event, limit, alarm }: AlertFacts): string {
  return momentary ? JSON.stringify([zone, event, limit, alarm]) : "";
}

/** The alerts under the present names of their zones. A zone has a new name if the same happened at the same time under another one. */
function underPresentNames(episodes: readonly Episode[], { rule, alerts }: ToldRule): readonly ToldAlert[] {
  const { momentary, zoneNames } = rule;
  const oldNameOf = ({ facts: { zone } }: Alert) =>
    typeof zone === "string" && !zoneNames.includes(zone) ? zone : undefined;
  if (!momentary || alerts.every((alert) => oldNameOf(alert) === undefined)) return alerts;
  const known = new Set(alerts.map(({ time, facts }) => JSON.stringify([time, facts.event, facts.zone])));
  const byMoment = Map.groupBy(episodes, ({ began: { time, facts } }) => JSON.stringify([time, facts.event]));
  const present = new Map<string | undefined, string>();
  for (const alert of alerts) {
    const { time, facts } = alert;
    const old = oldNameOf(alert);
    if (old === undefined || present.has(old)) continue;
    const same = byMoment.get(JSON.stringify([time, facts.event])) ?? [];
    const other = same.find(({ began }) => !known.has(JSON.stringify([time, facts.event, began.facts.zone])));
    const name = other?.began.facts.zone;
    if (typeof name === "string") present.set(old, name);
  }
  return alerts.map((alert) => {
    const zone = present.get(oldNameOf(alert));
    return zone === undefined ? alert : { ...alert, facts: { ...alert.facts, zone } };
  });
}

/** What was raised and not withdrawn, by its key; and of what was withdrawn, the times. */
function raisedIn({ rule, alerts }: ToldRule) {
  const standing = new Map<string, Alert[]>();
  const gone = new Map<string, Set<number>>();
  for (const alert of alerts) {
    const key = keyOf(rule, alert.facts);
    const same = standing.get(key) ?? [];
    standing.set(key, same);
    if (alert.phase === "raised") same.push(alert);
    if (alert.phase !== "withdrawn") continue;
    gone.set(key, (gone.get(key) ?? new Set()).add(alert.time));
    const at = same.findIndex(({ time }) => time === alert.time);
    if (at >= 0) same.splice(at, 1);
  }
  return { standing, gone };
}

/** Episodes that no alert is known to be of, and alerts that are of none so far. Both are in the order of time. */
interface Unpaired {
  readonly open: readonly Episode[];
  readonly left: readonly Alert[];
}

interface Paired extends Unpaired {
  readonly pairs: readonly (readonly [Episode, Alert])[];
}

/** All but those that have an alert of their very time. */
function withSame(own: readonly Episode[], alerts: readonly Alert[]): Unpaired {
  const byTime = Map.groupBy(alerts, ({ time }) => time);
  const taken = new Set<Alert>();
  const open = own.filter(({ began }) => {
    const same = byTime.get(began.time)?.shift();
    if (same !== undefined) taken.add(same);
    return same === undefined;
  });
  return { open, left: alerts.filter((alert) => !taken.has(alert)) };
}

/** Gives each episode the first alert after its beginning and before that moment. */
function paired({ open, left }: Unpaired, untilOf: (episode: Episode, alert: Alert) => number): Paired {
  const pairs: [Episode, Alert][] = [];
  const taken = new Set<Alert>();
  let next = 0;
  const still = open.filter((episode) => {
    while ((left[next]?.time ?? Number.POSITIVE_INFINITY) <= episode.began.time) next++;
    const alert = left[next];
    if (alert === undefined || alert.time >= untilOf(episode, alert)) return true;
    next++;
    taken.add(alert);
    pairs.push([episode, alert]);
    return false;
  });
  return { open: still, left: left.filter((alert) => !taken.has(alert)), pairs };
}

/** A sum reaches a figure once, whenever that is: the first alert is of the first episode. */
function inTurn({ open, left }: Unpaired): Paired {
  const count = Math.min(open.length, left.length);
  const pairs = open.slice(0, count).flatMap((episode, at) => {
    const alert = left[at];
    return alert === undefined ? [] : [[episode, alert] as const];
  });
  return { open: open.slice(count), left: left.slice(count), pairs };
}

/**
 * Until when an alert may have stood in place of the episode's own: as long as only late records lie between, as long as the cooldown would have kept the alert quiet, or as
 * long as the event may have begun before the alert.
 */
function reachOf({ began, next }: Episode, { facts }: Alert, { rule: { calm, tellsOfMs } }: ToldRule): number {
  return Math.max(began.time + Math.max(calm.cooldownMs, tellsOfMs(facts)), next + 1);
}

/** Episodes whose end was found and not told. An end that the next part of what was told as one follows is none. */
function endsUntold(
  episodes: readonly Episode[],
  split: ReadonlySet<Episode>,
  alerts: readonly Alert[],
): readonly Episode[] {
  const ends = alerts.flatMap(({ phase, time }) => (phase === "over" ? [time] : []));
  let at = 0;
  return episodes.filter((episode, place) => {
    if (episode.over === undefined) return false;
    const next = episodes[place + 1];
    while ((ends[at] ?? Number.POSITIVE_INFINITY) < episode.began.time) at++;
    const isKnown = (ends[at] ?? Number.POSITIVE_INFINITY) <= (next?.began.time ?? Number.MAX_VALUE);
    return !isKnown && (next === undefined || !split.has(next));
  });
}

/**
 * Episodes that are over although one of their alerts is open: the alert is new, or nobody knew its end. An episode without an end of its own closes with the end of the next
 * one. Episodes whose end people are told of are not among them: telling the end closes the alert.
 */
function closedBy(
  episodes: readonly Episode[],
  written: ReadonlySet<Episode>,
  over: readonly Episode[],
  alerts: readonly ToldAlert[],
): readonly Episode[] {
  const told = new Set(over);
  const open = alerts.filter(({ phase, handling }) => phase === "raised" && isOpen(handling));
  let at = 0;
  let stands = false;
  return episodes.filter((episode) => {
    const { began, over: end } = episode;
    while ((open[at]?.time ?? Number.POSITIVE_INFINITY) < began.time) at++;
    stands ||= written.has(episode) || (open[at]?.time ?? Number.POSITIVE_INFINITY) <= (end?.time ?? episode.end);
    if (end === undefined) return false;
    const closes = stands && !told.has(episode);
    stands = false;
    return closes;
  });
}

function isOpen({ state, endedAt }: ToldAlert["handling"]): boolean {
  return state !== "closed" && endedAt === null;
}
