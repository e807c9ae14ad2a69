import { within } from "../families/check.ts";
import { thresholdJudge } from "../families/threshold.ts";
import type { RuleType } from "../judge.ts";

/** The engine turns faster than it should. */
export const rpmOver: RuleType<"rpmOver"> = {
  clock: "none",
  momentary: false,
  threshold: ({ rpm }) => ({ limit: rpm, side: "over" }),
  check: ({ rpm }) => within("rpm", rpm, 0, 20_000, "1/min"),
  judge: ({ rpm }, setup) =>
    thresholdJudge(
      "over",
      rpm,
      setup,
      ({ observation }) => observation?.readings.rpm,
      (measured) => measured,
    ),
};
