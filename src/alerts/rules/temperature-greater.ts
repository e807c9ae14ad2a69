import { temperatureThreshold } from "../families/temperature.ts";
import type { RuleType } from "../judge.ts";

/** A probe is warmer than it should be. */
export const temperatureGreater: RuleType<"temperatureGreater"> = temperatureThreshold("over");
