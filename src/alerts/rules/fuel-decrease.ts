import { fuelChange } from "../families/fuel-window.ts";
import type { RuleType } from "../judge.ts";

/** The level of a tank fell by so many percentage points within so many minutes. */
export const fuelDecrease: RuleType<"fuelDecrease"> = fuelChange(-1);
