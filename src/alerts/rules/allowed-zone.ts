import { checkZones } from "../families/check.ts";
import { outsideOfAll } from "../families/zones.ts";
import type { RuleType } from "../judge.ts";

/** It has left the zones that it is allowed in. */
export const allowedZone: RuleType<"allowedZone"> = {
  clock: "none",
  momentary: false,
  check: ({ zones }) => checkZones(zones),
  judge: (_, setup) => outsideOfAll(setup),
};
