import { temperatureThreshold } from "../families/temperature.ts";
import type { RuleType } from "../judge.ts";

/** A probe is colder than it should be. */
export const temperatureLess: RuleType<"temperatureLess"> = temperatureThreshold("under");
