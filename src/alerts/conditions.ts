import type { AlertCondition } from "../model/alert-rule.ts";
import { isIn, type Judgement, no, nothing, type Seen, yes } from "./judge.ts";
import { equals, numberReaderOf, readerOf } from "./values.ts";

/** Asks an observation of one condition; `nothing`: it does not speak of it, and what was known last counts. */
export type ConditionJudge = (seen: Seen) => Judgement;

/** Makes a condition ready. `zoneAt`: index of a zone in the account's, by id. */
export function conditionJudge(condition: AlertCondition, zoneAt: (id: string) => number | undefined): ConditionJudge {
  if ("zone" in condition) {
    const zone = zoneAt(condition.zone) ?? -1;
    const inside = condition.operator === "inside";
    return (seen) => {
      if (!seen.placed) return nothing;
      return ((seen.zones.bits(zone) & isIn) !== 0) === inside ? yes : no;
    };
  }
  const { attribute, operator, value: wanted } = condition;
  if (operator === "equal") {
    const read = readerOf(attribute);
    return (seen) => {
      const value = seen.observation === undefined ? undefined : read(seen);
      if (value === undefined) return nothing;
      return equals(value, wanted) ? yes : no;
    };
  }
  const read = numberReaderOf(attribute);
  const limit = Number(wanted);
  return (seen) => {
    const value = seen.observation === undefined ? undefined : read(seen);
    if (value === undefined) return nothing;
    return (operator === "greater" ? value > limit : value < limit) ? yes : no;
  };
}

/** Bits of the conditions that are known to be true after an observation. */
export function conditionBits(judges: readonly ConditionJudge[], before: number, seen: Seen): number {
  let bits = before;
  for (let at = 0; at < judges.length; at++) {
    const judgement = judges[at]?.(seen) ?? nothing;
    if (judgement === yes) bits |= 1 << at;
    else if (judgement === no) bits &= ~(1 << at);
  }
  return bits;
}
