import { checkZones } from "../families/check.ts";
import { outsideOfAll } from "../families/zones.ts";
import type { RuleType } from "../judge.ts";

/** It has strayed from all of its routes. */
export const route: RuleType<"route"> = {
  clock: "none",
  momentary: false,
  check: ({ zones }) => checkZones(zones),
  judge: (_, setup) => outsideOfAll(setup),
};
