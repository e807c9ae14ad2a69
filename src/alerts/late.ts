import type { LocationAlerts } from "../model/alert.ts";
import { type LocationRecord, noTotals, type Totals } from "../model/location.ts";
import type { Observation } from "../ports/alert-engine.ts";
import type { AlertWriter } from "./alert-writer.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { type Finder, judgeRule } from "./evaluate.ts";
import type { Seen } from "./judge.ts";
import { raised } from "./machine.ts";
import { observationOf } from "./observation.ts";
import { initialState, type RuleState } from "./rule-state.ts";
import type { AccountSight } from "./zone-sight.ts";

/** Stored records after the last late report that are looked at: the next ones may not speak of what a rule asks. */
const recordsAfter = 8;

/** A report of the stretch of history that late ones fell into. */
interface Item {
  readonly observation: Observation;
  readonly totals: Totals;
  /** Its place among the late ones; -1: it was stored before. */
  readonly late: number;
}

/** What late reports are judged with. */
export interface LateSetup {
  readonly rules: readonly CompiledRule[];
  stateAt(at: number): RuleState;
  readonly seen: Seen;
  readonly sight: AccountSight;
  readonly writer: AlertWriter;
  /** Event time of the newest stored report. */
  readonly newestTime: number;
  put(at: number, state: RuleState): void;
}

/** Something that was raised in the stretch. */
interface Raised {
  readonly item: Item;
  /** What it says: of what lasts nothing, of what happens its evidence. */
  readonly key: string;
  readonly time: number;
  /** `after`: what becomes of the rule's present state. */
  write(after: (own: RuleState) => RuleState): void;
}

/** What a rule finds in a stretch, and at which of its reports an alert stood. */
interface Course {
  readonly raised: readonly Raised[];
  readonly standing: ReadonlySet<Item>;
  /** The state at its end. */
  readonly end: RuleState;
}

/** A stretch of history with late reports and without them. */
interface Stretch {
  readonly merged: readonly Item[];
  readonly without: readonly Item[];
  /** Places of reports in `merged`. */
  readonly places: ReadonlyMap<Item, number>;
  /** It has the newest stored report. */
  readonly untilNow: boolean;
}

/** Something new, to be written. */
interface Fresh {
  readonly one: Raised;
  readonly after: (own: RuleState) => RuleState;
}

/**
 * Judges late reports where they belong: the stretch of history around them is run through each rule twice, with them and without. What is raised at one of them
 * is an episode that nobody saw, unless the run without them has it too: there a stored neighbour of it held, or the same happened at one.
 * The rules' present states stay as they are, but for the throttle of e-mail, and where what is raised goes on until now.
 */
export function judgeLate(
  late: readonly { readonly observation: Observation; readonly totals: Totals }[],
  stored: { readonly before: LocationRecord | undefined; readonly after: readonly LocationRecord[] },
  setup: LateSetup,
): readonly (LocationAlerts | undefined)[] {
  const found: (LocationAlerts | undefined)[] = late.map(() => undefined);
  if (!setup.rules.some((rule) => rule.late)) return found;
  const stretch = stretchOf(late, stored, setup.newestTime);
  const writes: Fresh[] = [];
  setup.rules.forEach((rule, at) => {
    if (rule.late) writes.push(...newIn(rule, at, stretch, setup));
  });
  writes.sort((left, right) => left.one.item.late - right.one.item.late);
  for (const [index, { one, after }] of writes.entries()) {
    one.write(after);
    const place = one.item.late;
    if (writes[index + 1]?.one.item.late !== place) found[place] = setup.writer.end();
  }
  return found;
}

function stretchOf(
  late: readonly { readonly observation: Observation; readonly totals: Totals }[],
  { before, after }: { readonly before: LocationRecord | undefined; readonly after: readonly LocationRecord[] },
  newestTime: number,
): Stretch {
  const end = late.at(-1)?.observation.time ?? 0;
  const within = after.findIndex((record) => record.time > end);
  const near = within < 0 ? after : after.slice(0, within + recordsAfter);
  const without = [...(before === undefined ? [] : [before]), ...near].map(
    (record): Item => ({ observation: observationOf(record), totals: record.totals, late: -1 }),
  );
  const mine = late.map(({ observation, totals }, place): Item => ({ observation, totals, late: place }));
  // Stable: of the same time, what was stored came first.
  const merged = [...without, ...mine].sort((left, right) => left.observation.time - right.observation.time);
  const places = new Map(merged.map((item, place) => [item, place]));
  return { merged, without, places, untilNow: without.at(-1)?.observation.time === newestTime };
}

/** What a rule raises at late reports that is not known from the stored ones. */
function newIn(rule: CompiledRule, at: number, stretch: Stretch, setup: LateSetup): readonly Fresh[] {
  const all = run(rule, at, stretch.merged, setup);
  const own = setup.stateAt(at);
  const mine = all.raised.filter(({ item, time }) => item.late >= 0 && !stoodAt(rule, own, time));
  if (mine.length === 0) return [];
  const known = run(rule, at, stretch.without, setup);
  const left = notTakenOver(mine, all, known, stretch);
  const fresh = rule.momentary ? left : newEpisodes(left, all, known, stretch);
  const after = stretch.untilNow ? continued(rule, own, all.end) : asItWas;
  return fresh.map((one) => ({ one, after: rule.momentary || one.time === all.end.since ? after : asItWas }));
}

function asItWas(own: RuleState): RuleState {
  return own;
}

/** Whether an alert of what lasts stood then, as far as the present state tells: the reports near may not speak of it. */
function stoodAt({ momentary, calm }: CompiledRule, own: RuleState, time: number): boolean {
  if (momentary || own.firedAt === 0 || own.firedAt > time) return false;
  // Where something is held back, `since` may tell of that.
  return own.phase === raised || (calm.holdMs === 0 && calm.cooldownMs === 0 && time < own.since);
}

/** What becomes of the present state where the stretch ends at the present: the next report must not tell again what goes on. */
function continued(rule: CompiledRule, own: RuleState, end: RuleState): (own: RuleState) => RuleState {
  if (rule.momentary)
    // What waits for time remembers more than the stretch shows.
    return rule.clock === "none" ? (present) => ({ ...present, memory: end.memory }) : asItWas;
  return end.phase === raised && own.phase !== raised ? ({ mail }) => ({ ...end, mail }) : asItWas;
}

/** Episodes in which no alert stood at a stored report before. */
function newEpisodes(
  mine: readonly Raised[],
  all: Course,
  known: Course,
  { merged, places }: Stretch,
): readonly Raised[] {
  return mine.filter(({ item }) => {
    for (let at = places.get(item) ?? merged.length; at < merged.length; at++) {
      const next = merged[at];
      if (next === undefined || !all.standing.has(next)) break;
      if (known.standing.has(next)) return false;
    }
    return true;
  });
}

/** All but those that a late report has only taken over from the stored one after it. */
function notTakenOver(mine: readonly Raised[], all: Course, known: Course, { places }: Stretch): readonly Raised[] {
  const still = new Map<Item, Set<string>>();
  for (const { item, key } of all.raised) still.set(item, (still.get(item) ?? new Set()).add(key));
  const taken = new Set<Raised>();
  /** Late ones before the stored one that is looked at, by what they say: the last of them is the one that took it over. */
  const before = new Map<string, Raised[]>();
  let next = 0;
  for (const { item, key } of known.raised) {
    if (still.get(item)?.has(key)) continue;
    const place = places.get(item) ?? 0;
    for (let one = mine[next]; one !== undefined && (places.get(one.item) ?? 0) < place; one = mine[++next]) {
      const same = before.get(one.key);
      if (same === undefined) before.set(one.key, [one]);
      else same.push(one);
    }
    const one = before.get(key)?.pop();
    if (one !== undefined) taken.add(one);
  }
  return mine.filter((one) => !taken.has(one));
}

function run(rule: CompiledRule, at: number, items: readonly Item[], setup: LateSetup): Course {
  const { seen, sight } = setup;
  const found: Raised[] = [];
  const standing = new Set<Item>();
  let [present] = items;
  const finder: Finder = {
    raised(_, state, { observation, totals }, time, facts) {
      const last = setup.stateAt(at).firedAt;
      if (last !== 0 && Math.abs(time - last) < rule.calm.cooldownMs) return state;
      if (present === undefined) return state;
      found.push({
        item: present,
        key: rule.momentary ? JSON.stringify(facts) : "",
        time,
        write: (after) => {
          seen.observation = observation;
          seen.totals = totals;
          const own = setup.stateAt(at);
          const { mail, mailed } = setup.writer.raised(rule, { ...initialState, mail: own.mail }, seen, time, facts);
          const next = after(own);
          if (next !== own) setup.put(at, { ...next, mail, mailed });
          else if (mail !== own.mail) setup.put(at, { ...own, mail });
        },
      });
      return state;
    },
    over: (_, state) => state,
  };
  let state = initialState;
  seen.previous = noTotals;
  seen.previousTime = 0;
  seen.zones = sight;
  for (const item of items) {
    seen.observation = item.observation;
    seen.totals = item.totals;
    seen.time = item.observation.time;
    present = item;
    if (item.observation.positioned) sight.look(item.observation, seen.previous, item.totals);
    state = judgeRule(rule, state, seen, finder);
    if (state.phase === raised) standing.add(item);
    seen.previous = item.totals;
    seen.previousTime = item.observation.time;
  }
  return { raised: found, standing, end: state };
}
