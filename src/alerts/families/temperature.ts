import type { AlertParameters } from "../../model/alert-rule.ts";
import type { RuleType } from "../judge.ts";
import { within } from "./check.ts";
import { thresholdJudge } from "./threshold.ts";

/** A type that asks whether a temperature probe is over or under a value. */
export function temperatureThreshold(
  side: "over" | "under",
): RuleType<"temperatureGreater"> & RuleType<"temperatureLess"> {
  return {
    clock: "none",
    momentary: false,
    threshold: ({ celsius }: AlertParameters["temperatureGreater"]) => ({ limit: celsius, side }),
    check: ({ celsius }: AlertParameters["temperatureGreater"]) => within("celsius", celsius, -273, 1500, "°C"),
    judge: ({ probe, celsius }: AlertParameters["temperatureGreater"], setup) =>
      thresholdJudge(
        side,
        celsius,
        setup,
        ({ observation }) => (probe === 1 ? observation?.readings.temperature : observation?.readings.temperature2),
        (measured) => ({ probe, ...measured }),
      ),
  };
}
