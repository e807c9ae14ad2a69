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
  put(at: number, state: RuleState): void;
}

/** Something that was raised in the stretch. */
interface Raised {
  readonly item: Item;
  /** What it says: of what lasts nothing, of what happens its evidence. */
  readonly key: string;
  write(): void;
}

/** What a rule finds in a stretch, and at which of its reports an alert stood. */
interface Course {
  readonly raised: readonly Raised[];
  readonly standing: ReadonlySet<Item>;
}

/**
 * Judges late reports where they belong: the stretch of history around them is run through each rule twice, with them and without. What is raised at one of them
 * is an episode that nobody saw, unless the run without them has it too: there a stored neighbour of it held, or the same happened at one.
 * The rules' present states stay as they are, but for the throttle of e-mail.
 */
export function judgeLate(
  late: readonly { readonly observation: Observation; readonly totals: Totals }[],
  stored: { readonly before: LocationRecord | undefined; readonly after: readonly LocationRecord[] },
  setup: LateSetup,
): readonly (LocationAlerts | undefined)[] {
  const found: (LocationAlerts | undefined)[] = late.map(() => undefined);
  if (!setup.rules.some((rule) => rule.late)) return found;
  const { merged, without } = stretchOf(late, stored);
  const writes: Raised[] = [];
  setup.rules.forEach((rule, at) => {
    if (rule.late) writes.push(...newIn(rule, at, merged, without, setup));
  });
  writes.sort((left, right) => left.item.late - right.item.late);
  for (const one of writes) {
    const from = setup.writer.alerts.length;
    one.write();
    const added = setup.writer.locationAlerts(from)?.alerts ?? [];
    found[one.item.late] = { alerts: [...(found[one.item.late]?.alerts ?? []), ...added] };
  }
  return found;
}

function stretchOf(
  late: readonly { readonly observation: Observation; readonly totals: Totals }[],
  { before, after }: { readonly before: LocationRecord | undefined; readonly after: readonly LocationRecord[] },
): { readonly merged: readonly Item[]; readonly without: readonly Item[] } {
  const end = late.at(-1)?.observation.time ?? 0;
  const within = after.findIndex((record) => record.time > end);
  const near = within < 0 ? after : after.slice(0, within + recordsAfter);
  const without = [...(before === undefined ? [] : [before]), ...near].map(
    (record): Item => ({ observation: observationOf(record), totals: record.totals, late: -1 }),
  );
  const mine = late.map(({ observation, totals }, place): Item => ({ observation, totals, late: place }));
  // Stable: of the same time, what was stored came first.
  const merged = [...without, ...mine].sort((left, right) => left.observation.time - right.observation.time);
  return { merged, without };
}

/** What a rule raises at late reports that is not known from the stored ones. */
function newIn(
  rule: CompiledRule,
  at: number,
  merged: readonly Item[],
  without: readonly Item[],
  setup: LateSetup,
): readonly Raised[] {
  const all = run(rule, at, merged, setup);
  const mine = all.raised.filter(({ item }) => item.late >= 0);
  if (mine.length === 0) return mine;
  const known = run(rule, at, without, setup);
  const left = notTakenOver(mine, all, known, merged);
  return rule.momentary ? left : newEpisodes(left, all, known, merged);
}

/** Episodes in which no alert stood at a stored report before. */
function newEpisodes(mine: readonly Raised[], all: Course, known: Course, merged: readonly Item[]): readonly Raised[] {
  return mine.filter(({ item }) => {
    for (let at = merged.indexOf(item); at < merged.length; at++) {
      const next = merged[at];
      if (next === undefined || !all.standing.has(next)) break;
      if (known.standing.has(next)) return false;
    }
    return true;
  });
}

/** All but those that a late report has only taken over from the stored one after it. */
function notTakenOver(mine: readonly Raised[], all: Course, known: Course, merged: readonly Item[]): readonly Raised[] {
  const left = [...mine];
  for (const { item, key } of known.raised) {
    if (all.raised.some((one) => one.item === item && one.key === key)) continue;
    const place = merged.indexOf(item);
    const taken = left.findLastIndex((one) => one.key === key && merged.indexOf(one.item) < place);
    if (taken >= 0) left.splice(taken, 1);
  }
  return left;
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
        write: () => {
          seen.observation = observation;
          seen.totals = totals;
          const own = setup.stateAt(at);
          const { mail } = setup.writer.raised(rule, { ...initialState, mail: own.mail }, seen, time, facts);
          if (mail !== own.mail) setup.put(at, { ...own, mail });
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
  return { raised: found, standing };
}
