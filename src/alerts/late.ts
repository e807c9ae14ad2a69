import type { LocationAlerts } from "../model/alert.ts";
import { type LocationRecord, noTotals, type Totals } from "../model/location.ts";
import type { Observation } from "../ports/alert-engine.ts";
import type { AlertWriter } from "./alert-writer.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { type Finder, judgeRule } from "./evaluate.ts";
import type { Seen } from "./judge.ts";
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
  readonly states: readonly RuleState[];
  readonly seen: Seen;
  readonly sight: AccountSight;
  readonly writer: AlertWriter;
  put(at: number, state: RuleState): void;
}

/** Something that was raised in the stretch: what it says, in order to tell whether it was known. */
interface Raised {
  readonly key: string;
  readonly late: number;
  write(): void;
}

/**
 * Judges late reports where they belong: the stretch of history around them is run through each rule twice, with them and without. What is raised at one of them
 * beyond what was raised without them is an episode that nobody saw; where a neighbour held too, it is raised in both runs and so known already. The rules' present states stay as they are, but for the throttle of e-mail.
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
  writes.sort((left, right) => left.late - right.late);
  for (const one of writes) {
    const from = setup.writer.alerts.length;
    one.write();
    const added = setup.writer.locationAlerts(from)?.alerts ?? [];
    found[one.late] = { alerts: [...(found[one.late]?.alerts ?? []), ...added] };
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

/** What a rule raises at late reports beyond what it raises without them, and beyond its cooldown from the last alert. */
function newIn(
  rule: CompiledRule,
  at: number,
  merged: readonly Item[],
  without: readonly Item[],
  setup: LateSetup,
): readonly Raised[] {
  const all = run(rule, at, merged, setup);
  const mine = all.filter(({ late }) => late >= 0);
  if (mine.length === 0) return mine;
  const counts = new Map<string, number>();
  for (const { key } of run(rule, at, without, setup)) counts.set(key, (counts.get(key) ?? 0) - 1);
  for (const { key } of all) counts.set(key, (counts.get(key) ?? 0) + 1);
  return mine.filter(({ key }) => {
    const left = counts.get(key) ?? 0;
    counts.set(key, left - 1);
    return left > 0;
  });
}

function run(rule: CompiledRule, at: number, items: readonly Item[], setup: LateSetup): readonly Raised[] {
  const { seen, sight } = setup;
  const raised: Raised[] = [];
  let late = -1;
  const finder: Finder = {
    raised(_, state, { observation, totals }, time, facts) {
      const place = late;
      const last = setup.states[at]?.firedAt ?? 0;
      if (last !== 0 && Math.abs(time - last) < rule.calm.cooldownMs) return state;
      // Of what lasts one episode is as good as another; of what happens, each is its own by what it says.
      const key = rule.momentary ? JSON.stringify(facts) : "";
      raised.push({
        key,
        late: place,
        write: () => {
          seen.observation = observation;
          seen.totals = totals;
          const present = setup.states[at] ?? initialState;
          const { mail } = setup.writer.raised(rule, { ...initialState, mail: present.mail }, seen, time, facts);
          if (mail !== present.mail) setup.put(at, { ...present, mail });
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
    late = item.late;
    if (item.observation.positioned) sight.look(item.observation, seen.previous, item.totals);
    state = judgeRule(rule, state, seen, finder);
    seen.previous = item.totals;
    seen.previousTime = item.observation.time;
  }
  return raised;
}
