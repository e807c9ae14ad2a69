import type { Totals } from "../model/location.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { isForgettable } from "./evaluate.ts";
import { idle } from "./machine.ts";
import { encodeState, entriesOf, initialState, parsed, type RuleState } from "./rule-state.ts";

/** Where a fold of rules stands. */
export interface FoldPlace {
  /** Of the last record. */
  readonly time: number;
  readonly states: readonly RuleState[];
  readonly totals: Totals;
}

/**
 * The text of what a history alone makes of rules: their states without moments that make no difference any more, in the order of the rules' keys, and the sums of the history where one of the rules
 * looks at them, since with others the same states come to something else later on. So two folds that came to the same have the same text. Undefined: all rules rest.
 */
export function settledText(rules: readonly CompiledRule[], { time, states, totals }: FoldPlace): string | undefined {
  const rows: { readonly key: number; readonly row: string }[] = [];
  let sums = false;
  for (let at = 0; at < rules.length; at++) {
    const compiled = rules[at];
    const state = states[at];
    // What goes by our own clock does not follow from the history.
    if (compiled === undefined || state === undefined || compiled.clock === "arrival") continue;
    sums ||= compiled.sums;
    const settled = settledState(compiled, state, time);
    if (isForgettable(compiled, settled, time)) continue;
    const { key } = compiled.rule;
    rows.push({ key, row: encodeState({ ruleKey: key, judged: compiled.judged, state: settled }) });
  }
  if (rows.length === 0 && !sums) return undefined;
  rows.sort((one, other) => one.key - other.key);
  return `[[${rows.map(({ row }) => row).join()}]${sums ? `,${[totals.odometerMm, ...totals.sensorMs].join()}` : ""}]`;
}

/** The states of such a text, in the order of the rules; at first where the text has none. A rule that judges something else now has none. */
export function settledStates(text: string | undefined, rules: readonly CompiledRule[]): readonly RuleState[] {
  const read = parsed(text);
  const rows: unknown = Array.isArray(read) ? read[0] : undefined;
  const entries = new Map(entriesOf(rows).map((entry) => [entry.ruleKey, entry]));
  return rules.map(({ rule, judged }) => {
    const entry = entries.get(rule.key);
    return entry?.judged === judged ? entry.state : initialState;
  });
}

function settledState({ calm }: CompiledRule, state: RuleState, time: number): RuleState {
  const since = state.phase === idle && state.since <= time ? 0 : state.since;
  // What stands raised ends with how long it lasted.
  const calmed = state.facts === undefined && time - state.firedAt >= calm.cooldownMs;
  const firedAt = calmed ? 0 : state.firedAt;
  return since === state.since && firedAt === state.firedAt ? state : { ...state, since, firedAt };
}
