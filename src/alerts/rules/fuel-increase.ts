import { fuelChange } from "../families/fuel-window.ts";
import type { RuleType } from "../judge.ts";

/** The level of a tank rose by so many percentage points within so many minutes. */
export const fuelIncrease: RuleType<"fuelIncrease"> = fuelChange(1);
