import { within } from "../families/check.ts";
import { thresholdJudge } from "../families/threshold.ts";
import type { RuleType } from "../judge.ts";

/** The vehicle's battery has less voltage than it should. */
export const vehicleBatteryLess: RuleType<"vehicleBatteryLess"> = {
  clock: "none",
  momentary: false,
  threshold: ({ volts }) => ({ limit: volts, side: "under" }),
  check: ({ volts }) => within("volts", volts, 0, 100, "V"),
  judge: ({ volts }, setup) =>
    thresholdJudge(
      "under",
      volts,
      setup,
      ({ observation }) => observation?.readings.externalVoltage,
      (measured) => measured,
    ),
};
