import { within } from "../families/check.ts";
import { thresholdJudge } from "../families/threshold.ts";
import type { RuleType } from "../judge.ts";
import { speedOf } from "../values.ts";

/** It is faster than it should be. */
export const speedOver: RuleType<"speedOver"> = {
  clock: "none",
  momentary: false,
  threshold: ({ kmh }) => ({ limit: kmh, side: "over" }),
  check: ({ kmh }) => within("kmh", kmh, 0, 500, "km/h"),
  judge: ({ kmh }, setup) => thresholdJudge("over", kmh, setup, speedOf, (measured) => measured),
};
