import { within } from "../families/check.ts";
import { thresholdJudge } from "../families/threshold.ts";
import type { RuleType } from "../judge.ts";
import { speedOf } from "../values.ts";

/** It is slower than it should be; a parked one is, unless a condition excludes it. */
export const speedLess: RuleType<"speedLess"> = {
  clock: "none",
  momentary: false,
  threshold: ({ kmh }) => ({ limit: kmh, side: "under" }),
  check: ({ kmh }) => within("kmh", kmh, 0, 500, "km/h"),
  judge: ({ kmh }, setup) => thresholdJudge("under", kmh, setup, speedOf, (measured) => measured),
};
