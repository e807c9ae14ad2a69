import type { AlertFactsOf } from "../../model/alert-facts.ts";
import { checkZones } from "../families/check.ts";
import { crossed, isIn, noEvents, type RuleType, wasIn } from "../judge.ts";

type Facts = AlertFactsOf["controlZone"];

/** It entered or left one of the zones; both, where its way between two fixes leads through one. */
export const controlZone: RuleType<"controlZone"> = {
  clock: "none",
  momentary: true,
  check: ({ zones }) => checkZones(zones),
  judge: (_, { zones, zoneNames }) => ({
    kind: "events",
    judge(seen) {
      if (!seen.placed || !seen.zones.known) return noEvents;
      let found: Facts[] | undefined;
      for (let at = 0; at < zones.length; at++) {
        const bits = seen.zones.bits(zones[at] ?? -1);
        if (bits === 0 || (bits & (wasIn | isIn)) === (wasIn | isIn)) continue;
        found ??= [];
        const zone = zoneNames[at] ?? "";
        if ((bits & wasIn) === 0 && (bits & (isIn | crossed)) !== 0) found.push({ zone, event: "entered" });
        if ((bits & isIn) === 0 && (bits & (wasIn | crossed)) !== 0) found.push({ zone, event: "left" });
      }
      return found ?? noEvents;
    },
  }),
};
