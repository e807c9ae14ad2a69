import { noTotals, type Totals } from "../model/location.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { isForgettable } from "./evaluate.ts";
import { idle } from "./machine.ts";
import { encodeState, entriesOf, initialState, isNumber, parsed, type RuleState } from "./rule-state.ts";

/** Where a fold of rules stands. */
export interface FoldPlace {
  /** Of the last record. */
  readonly time: number;
  readonly states: readonly RuleState[];
  readonly totals: Totals;
}

/**
 * The text of what a history alone makes of rules: their states without moments that make no difference any more, in
 * the order of the rules' keys, and the sums of the history where one of the rules looks at them, since with others the
 * same states come to something else later on. So two folds that came to the same have the same text. Undefined: all
 * rules rest.
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

/**
 * What such a text says of these rules: states, at first where the text has none or the rule judges something else now,
 * and sums, not a number where it has none.
 */
export function settledIn(
  text: string | undefined,
  rules: readonly CompiledRule[],
): Pick<FoldPlace, "states" | "totals"> {
  const read = parsed(text);
  const [rows, ...sums]: readonly unknown[] = Array.isArray(read) ? read : [];
  const entries = new Map(entriesOf(rows).map((entry) => [entry.ruleKey, entry]));
  const states = rules.map(({ rule, judged }) => {
    const entry = entries.get(rule.key);
    return entry?.judged === judged ? entry.state : initialState;
  });
  const [odometerMm = Number.NaN, first = 0, second = 0, third = 0, fourth = 0] = sums.filter(isNumber);
  return { states, totals: { ...noTotals, odometerMm, sensorMs: [first, second, third, fourth] } };
}

function settledState({ calm }: CompiledRule, state: RuleState, time: number): RuleState {
  const since = state.phase === idle && state.since <= time ? 0 : state.since;
  // What stands raised ends with how long it lasted.
  const calmed = state.facts === undefined && time - state.firedAt >= calm.cooldownMs;
  const firedAt = calmed ? 0 : state.firedAt;
  return since === state.since && firedAt === state.firedAt ? state : { ...state, since, firedAt };
}
