import type { WatchedInput } from "../../model/alert-rule.ts";
import type { Readings } from "../../model/readings.ts";
import { type Judgement, no, nothing, type Seen, yes } from "../judge.ts";

/**
 * State of an input; undefined: not reported. One below the highest reported counts as reported and off, as the API's
 * `inputs` shows it.
 */
export function inputOf(readings: Readings, input: WatchedInput): boolean | undefined {
  const own = readings[`input${input}`];
  if (own !== undefined) return own;
  const { input2, input3, input4, input5, input6, input7, input8 } = readings;
  const beyond = input5 ?? input6 ?? input7 ?? input8;
  if (beyond !== undefined || (input < 4 && input4 !== undefined)) return false;
  return (input < 3 && input3 !== undefined) || (input < 2 && input2 !== undefined) ? false : undefined;
}

/** Whether it is on in these totals; undefined: it was never reported. */
export function inputBefore(totals: Seen["previous"], input: WatchedInput): boolean | undefined {
  const bit = 1 << (input - 1);
  return (totals.inputsKnown & bit) === 0 ? undefined : (totals.inputsActive & bit) !== 0;
}

/**
 * Judges whether an input has turned `wanted`. Only a change counts: an input that was so before the rule came, or the
 * first time it is ever reported, is nothing to be told of.
 */
export function judgeTurned(seen: Seen, input: WatchedInput, wanted: boolean): Judgement {
  const state = seen.observation === undefined ? undefined : inputOf(seen.observation.readings, input);
  if (state === undefined) return nothing;
  if (state !== wanted) return no;
  if (seen.held) return yes;
  return inputBefore(seen.previous, input) === !wanted ? yes : nothing;
}
