import { type Alert, type AlertFacts, type AlertPhase, standingAlerts } from "../model/alert.ts";
import type { Totals } from "../model/location.ts";
import type { Observation } from "../model/observation.ts";
import type { ToldAlert } from "../ports/alert-engine.ts";
import { tellsEnds } from "./alert-writer.ts";
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
  /** Undefined: the episode goes on, or the rule is not in force any longer. */
  over: FoundAt | undefined;
  /** When it ended, if only because the rule was in force no longer; Infinity: it goes on. */
  end: number;
}

/** What makes the record of alerts what the fold found. `told`: people know of it. */
export type Correction =
  | { readonly do: "raise" | "end"; readonly at: FoundAt; readonly told: boolean }
  | { readonly do: "close"; readonly at: Pick<FoundAt, "time"> }
  | { readonly do: "withdraw"; readonly at: ToldAlert };

/** What is known of one rule beside what a fold found. */
export interface ToldRule {
  readonly rule: Pick<CompiledRule, "momentary" | "zoneNames" | "rule">;
  /** Alerts of the rule in the order of time. */
  readonly alerts: readonly ToldAlert[];
  /** Until when the last alert lasts if the alert has no end; Infinity: it goes on. */
  readonly until: number;
  /** Whether the fold knows all that became true and false at an event time. */
  isKnown(time: number): boolean;
}

/**
 * Compares the episodes of one rule, in the order of time, with its alerts: what is missing is added, and what was not
 * found is withdrawn. People are told of an episode unless something was told that overlaps it, of a moment unless that
 * moment was told, and of the end of what was told.
 */
export function compared(episodes: readonly Episode[], told: ToldRule): readonly Correction[] {
  const { rule, alerts } = told;
  const standing = standingAlerts(alerts);
  const lines = new Lines(rule, standing);
  const people = rule.momentary ? toldMoments(told) : toldSpans(told, new Set(standing));
  const open = alerts.filter(({ phase, handling }) => phase === "raised" && isOpen(handling));
  const corrections: Correction[] = [];
  let nextOpen = 0;
  let stands = false;
  episodes.forEach((episode, at) => {
    const { began, over } = episode;
    const isTold = people.knowOf(episode);
    if (!lines.take("raised", began) && told.isKnown(began.time)) {
      corrections.push({ do: "raise", at: began, told: isTold });
      stands = true;
    }
    if (over === undefined) return;
    const isEndKnown = lines.take("over", over) || !tellsEnds(rule);
    if (!told.isKnown(over.time)) return;
    if (!isEndKnown)
      corrections.push({ do: "end", at: over, told: isTold && !people.awaitEnd(episode, episodes[at + 1]) });
    for (; (open[nextOpen]?.time ?? Number.POSITIVE_INFINITY) <= over.time; nextOpen++) stands = true;
    if (stands) corrections.push({ do: "close", at: over });
    stands = false;
  });
  for (const alert of lines.left) if (told.isKnown(alert.time)) corrections.push({ do: "withdraw", at: alert });
  return corrections;
}

/** What tells the moments of a rule apart that lie at one time; all that lasts is one and the same. */
function subjectOf({ momentary }: ToldRule["rule"], { zone, event, limit, alarm }: AlertFacts): string {
  return momentary ? JSON.stringify([zone, event, limit, alarm]) : "";
}

/**
 * Whether an alert is about what was found, whenever that was. A zone that the rule does not know by that name has
 * another name by now.
 */
function isSameSubject(rule: ToldRule["rule"], { facts }: Alert, { facts: found }: FoundAt): boolean {
  const { zone } = facts;
  const isRenamed = typeof zone === "string" && !rule.zoneNames.includes(zone);
  return subjectOf(rule, isRenamed ? { ...facts, zone: found.zone ?? zone } : facts) === subjectOf(rule, found);
}

/** Alerts that stand, to be taken by what was found. */
class Lines {
  readonly #rule: ToldRule["rule"];
  readonly #byTime: ReadonlyMap<number, ToldAlert[]>;

  constructor(rule: ToldRule["rule"], alerts: readonly ToldAlert[]) {
    this.#rule = rule;
    this.#byTime = Map.groupBy(alerts, ({ time }) => time);
  }

  /** Takes the alert that tells of what was found. Returns false where no alert tells of it. */
  take(phase: AlertPhase, found: FoundAt): boolean {
    const all = this.#byTime.get(found.time) ?? [];
    const subject = subjectOf(this.#rule, found.facts);
    const exact = all.findIndex((alert) => alert.phase === phase && subjectOf(this.#rule, alert.facts) === subject);
    const at =
      exact < 0 ? all.findIndex((alert) => alert.phase === phase && isSameSubject(this.#rule, alert, found)) : exact;
    if (at >= 0) all.splice(at, 1);
    return at >= 0;
  }

  /** Those that nobody took. */
  get left(): readonly ToldAlert[] {
    return [...this.#byTime.values()].flat();
  }
}

/** What people know of the episodes of a rule. */
interface People {
  knowOf(episode: Episode): boolean;
  /** They know of an episode and not of its end. `next`: the episode behind. */
  awaitEnd(episode: Episode, next: Episode | undefined): boolean;
}

/** What was withdrawn was told too. A sum reaches a figure once, so its moment is the figure. */
function toldMoments({ rule, alerts }: ToldRule): People {
  const raised = alerts.filter(({ phase }) => phase === "raised");
  const subjects = new Set(raised.map(({ facts }) => subjectOf(rule, facts)));
  const byTime = Map.groupBy(raised, ({ time }) => time);
  return {
    knowOf: ({ began }) =>
      began.facts.limit === undefined
        ? (byTime.get(began.time) ?? []).some((alert) => isSameSubject(rule, alert, began))
        : subjects.has(subjectOf(rule, began.facts)),
    awaitEnd: () => false,
  };
}

/**
 * An alert lasted until its end, or until the next alert if it has none. An episode that lies within what was told as
 * one whole ends with the last one in it.
 */
function toldSpans({ alerts, until }: ToldRule, standing: ReadonlySet<ToldAlert>): People {
  const [spans, endless]: [Span[], Span[]] = [[], []];
  let next = until;
  for (const alert of alerts.toReversed()) {
    if (alert.phase !== "raised") continue;
    const { endedAt } = alert.handling;
    const end = Math.max(alert.time, endedAt ?? (standing.has(alert) ? next : alert.time));
    const span: Span = [beginningOf(alert), end];
    spans.push(span);
    if (endedAt === null) endless.push(span);
    next = alert.time;
  }
  const [known, awaited] = [new Spans(spans), new Spans(endless)];
  return {
    knowOf: ({ began, end }) => known.overlap(beginningOf(began), end),
    awaitEnd: ({ began, end }, following) =>
      awaited.overlap(beginningOf(began), end) &&
      !awaited.holds(end, following?.began.time ?? Number.POSITIVE_INFINITY),
  };
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

function isOpen({ state, endedAt }: ToldAlert["handling"]): boolean {
  return state !== "closed" && endedAt === null;
}
