import type { Alert, AlertFacts } from "../model/alert.ts";
import type { Totals } from "../model/location.ts";
import type { Observation } from "../model/observation.ts";
import type { ToldAlert } from "../ports/alert-engine.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { minuteMs } from "./families/check.ts";

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
}

/** What becomes of what was found, and of what was told and not found. */
export interface Verdict {
  /** Nobody knows of these. */
  readonly untold: readonly Episode[];
  /** Something was told that overlaps these: they stand in the record, and nobody is told again. */
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
  readonly rule: Pick<CompiledRule, "momentary" | "zoneNames" | "rule">;
  /** Alerts of the rule in the order of time. */
  readonly alerts: readonly ToldAlert[];
  /** Until when the last alert lasts if the alert has no end; Infinity: it goes on. */
  readonly until: number;
  /** What was told then or before, and then or after, lies outside of the fold. */
  readonly from: number;
  readonly to: number;
}

/**
 * Compares the episodes of one rule, in the order of time, with what was told of it. A moment is told unless that moment was told, and an episode unless something was told that
 * overlaps it: see decision 0031.
 */
export function compared(episodes: readonly Episode[], told: ToldRule): Verdict {
  const { rule, alerts } = told;
  const { open, left } = withoutSame(rule, episodes, standingIn(rule, alerts));
  const spans = new Spans(spansOf(told));
  const moments = rule.momentary ? momentsOf(told) : undefined;
  const wasTold = ({ began, end }: Episode) =>
    moments === undefined ? spans.overlap(beginningOf(began), end) : moments(began);
  const { known = [], untold = [] } = Object.groupBy(open, (episode) => (wasTold(episode) ? "known" : "untold"));
  const { notifyWhenOver, notifyOnlyWhenOver } = rule.rule;
  const over = notifyWhenOver || notifyOnlyWhenOver ? endsUntold(episodes, spans, alerts) : [];
  return {
    untold,
    known,
    over,
    closed: closedBy(episodes, new Set(open), over, alerts),
    withdrawn: left.filter(({ time }) => time > told.from && time < told.to),
  };
}

/** What tells the moments of a rule apart that lie at one time; all that lasts is one and the same. */
function subjectOf({ momentary }: ToldRule["rule"], { zone, event, limit, alarm }: AlertFacts): string {
  return momentary ? JSON.stringify([zone, event, limit, alarm]) : "";
}

/** Whether an alert is about what was found, whenever that was. A zone that the rule does not know by that name has another name by now. */
function isSameSubject(rule: ToldRule["rule"], { facts }: Alert, { facts: found }: FoundAt): boolean {
  const { zone } = facts;
  const isRenamed = typeof zone === "string" && !rule.zoneNames.includes(zone);
  return subjectOf(rule, isRenamed ? { ...facts, zone: found.zone ?? zone } : facts) === subjectOf(rule, found);
}

/** Whether alerts told of a moment. A sum reaches a figure once, whenever that is. */
function momentsOf({ rule, alerts }: ToldRule): (found: FoundAt) => boolean {
  const raised = alerts.filter(({ phase }) => phase === "raised");
  const subjects = new Set(raised.map(({ facts }) => subjectOf(rule, facts)));
  const byTime = Map.groupBy(raised, ({ time }) => time);
  return (found) =>
    found.facts.limit === undefined
      ? (byTime.get(found.time) ?? []).some((alert) => isSameSubject(rule, alert, found))
      : subjects.has(subjectOf(rule, found.facts));
}

/** What was raised and not withdrawn. */
function standingIn(rule: ToldRule["rule"], alerts: readonly ToldAlert[]): readonly ToldAlert[] {
  const name = ({ time, facts }: Alert) => `${time} ${subjectOf(rule, facts)}`;
  const gone = new Map<string, number>();
  for (const alert of alerts) if (alert.phase === "withdrawn") gone.set(name(alert), (gone.get(name(alert)) ?? 0) + 1);
  return alerts.filter((alert) => {
    if (alert.phase !== "raised") return false;
    const count = gone.get(name(alert)) ?? 0;
    if (count > 0) gone.set(name(alert), count - 1);
    return count === 0;
  });
}

/** The episodes without an alert, and the alerts that are of no episode. An alert is of the episode that began at its time, or else of one that lasted then. */
function withoutSame(rule: ToldRule["rule"], episodes: readonly Episode[], alerts: readonly ToldAlert[]) {
  const byTime = Map.groupBy(alerts, ({ time }) => time);
  const taken = new Set<Alert>();
  const take = (alert: Alert | undefined): boolean => {
    if (alert !== undefined) taken.add(alert);
    return alert !== undefined;
  };
  const others = episodes.filter(({ began }) => {
    const same = byTime.get(began.time)?.filter((alert) => !taken.has(alert)) ?? [];
    const exact = same.find(({ facts }) => subjectOf(rule, facts) === subjectOf(rule, began.facts));
    return !take(exact ?? same.find((alert) => isSameSubject(rule, alert, began)));
  });
  let at = 0;
  const within = ({ began, end }: Episode): Alert | undefined => {
    while ((alerts[at]?.time ?? Number.POSITIVE_INFINITY) <= began.time) at++;
    for (let next = at; ; next++) {
      const alert = alerts[next];
      if (alert === undefined || alert.time >= end) return undefined;
      if (!taken.has(alert)) return alert;
    }
  };
  const open = others.filter((episode) => (rule.momentary || !take(within(episode))) && !episode.before);
  return { open, left: alerts.filter((alert) => !taken.has(alert)) };
}

/** A time from which until which something lasted. */
type Span = readonly [from: number, to: number];

/** When what was found began: evidence may name the minutes before it for which it had lasted. */
function beginningOf({ time, facts: { minutes } }: Pick<FoundAt, "time" | "facts">): number {
  return typeof minutes === "number" ? time - minutes * minuteMs : time;
}

/** Spans to be asked often: there may be thousands, of what was found and of what was told. */
class Spans {
  readonly #beginnings: ReadonlySet<number>;
  /** In the order of their beginnings, each with the latest end so far. */
  readonly #sorted: readonly Span[];

  constructor(spans: readonly Span[]) {
    this.#beginnings = new Set(spans.map(([from]) => from));
    let latest = Number.NEGATIVE_INFINITY;
    this.#sorted = spans
      .toSorted(([one], [other]) => one - other)
      .map(([from, to]): Span => {
        latest = Math.max(latest, to);
        return [from, latest];
      });
  }

  /** Whether one of them overlaps what lasted from then until then. */
  overlap(from: number, to: number): boolean {
    return this.#beginnings.has(from) || this.holds(to, from);
  }

  /** Whether one of them began before `before` and lasted until after `after`. */
  holds(before: number, after: number): boolean {
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle]?.[0] ?? 0) < before) low = middle + 1;
      else high = middle;
    }
    return (this.#sorted[low - 1]?.[1] ?? Number.NEGATIVE_INFINITY) > after;
  }
}

/** From when until when what was told lasted. An alert without an end lasted until the next one. */
function spansOf({ rule, alerts, until }: ToldRule): readonly Span[] {
  const standing = new Set(standingIn(rule, alerts));
  const spans: Span[] = [];
  let next = until;
  for (const alert of alerts.toReversed()) {
    if (alert.phase !== "raised") continue;
    const { endedAt } = alert.handling;
    spans.push([beginningOf(alert), Math.max(alert.time, endedAt ?? (standing.has(alert) ? next : alert.time))]);
    next = alert.time;
  }
  return spans;
}

/** Episodes whose end was found and not told. An end within what was told as one whole is none. */
function endsUntold(episodes: readonly Episode[], spans: Spans, alerts: readonly ToldAlert[]): readonly Episode[] {
  const ends = alerts.flatMap(({ phase, time }) => (phase === "over" ? [time] : []));
  let at = 0;
  return episodes.filter(({ began, over }, place) => {
    if (over === undefined) return false;
    const next = episodes[place + 1]?.began.time ?? Number.POSITIVE_INFINITY;
    while ((ends[at] ?? Number.POSITIVE_INFINITY) < began.time) at++;
    const isKnown = (ends[at] ?? Number.POSITIVE_INFINITY) <= Math.min(next, Number.MAX_VALUE);
    return !isKnown && !spans.holds(over.time, next);
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
