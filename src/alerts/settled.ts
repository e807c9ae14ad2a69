import type { Totals } from "../model/location.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { isForgettable } from "./evaluate.ts";
import { idle, raised } from "./machine.ts";
import { encodeState, encodeStates, type RuleState } from "./rule-state.ts";

/** What a point keeps of a fold at its present place. */
export function settledOf(
  rules: readonly CompiledRule[],
  { time, states, totals }: { readonly time: number; readonly states: readonly RuleState[]; readonly totals: Totals },
): { readonly rows: string; readonly sums: readonly number[] } {
  return { rows: pointRows(rules, states, time), sums: pointSums(rules, totals) };
}

/**
 * The text of the states at a place of a history, as the history alone makes them: without moments that make no difference any more.
 * So two folds that came to the same have the same text. `time`: of the last record.
 */
function pointRows(rules: readonly CompiledRule[], states: readonly RuleState[], time: number): string {
  const rows: string[] = [];
  states.forEach((state, at) => {
    const compiled = rules[at];
    if (compiled === undefined || compiled.clock === "arrival") return;
    const settled = settledState(compiled, state, time);
    if (isForgettable(compiled, settled, time)) return;
    rows.push(encodeState({ ruleKey: compiled.rule.key, judged: compiled.judged, state: settled }));
  });
  return encodeStates(rows) ?? "[]";
}

/** The sums of a history, where one of the rules looks at them: with others, the same states come to something else later on. */
function pointSums(rules: readonly CompiledRule[], { odometerMm, sensorMs }: Totals): readonly number[] {
  return rules.some(({ sums }) => sums) ? [odometerMm, ...sensorMs] : [];
}

function settledState({ calm }: CompiledRule, state: RuleState, time: number): RuleState {
  const calmed = state.phase !== raised && time - state.firedAt >= calm.cooldownMs;
  return {
    ...state,
    since: state.phase === idle && state.since <= time ? 0 : state.since,
    firedAt: calmed ? 0 : state.firedAt,
  };
}
