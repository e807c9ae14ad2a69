import { checkZones } from "../families/check.ts";
import { inOne } from "../families/zones.ts";
import { crossed, isIn, no, nothing, pulse, type RuleType, type Seen, wasIn, yes } from "../judge.ts";

/**
 * It is in a zone where it must not be, or has come through one between two fixes. Remembers which of the rule's zones
 * that was, so that an alert which time alone raises can name it.
 */
export const forbiddenZone: RuleType<"forbiddenZone"> = {
  clock: "none",
  momentary: false,
  check: ({ zones }) => checkZones(zones),
  judge: (_, { zones, zoneNames }) => ({
    kind: "level",
    judge(seen) {
      if (!seen.placed) return nothing;
      const inside = inOne(seen, zones);
      if (inside >= 0) {
        if (seen.memory[0] !== inside) seen.memory = [inside];
        return yes;
      }
      const through = passedThrough(seen, zones);
      if (through >= 0) seen.memory = [through];
      return through >= 0 ? pulse : no;
    },
    facts: ({ memory }) => ({ zone: zoneNames[memory[0] ?? 0] ?? "" }),
  }),
};

function passedThrough(seen: Seen, zones: readonly number[]): number {
  if (!seen.zones.known) return -1;
  for (let at = 0; at < zones.length; at++)
    if ((seen.zones.bits(zones[at] ?? -1) & (wasIn | isIn | crossed)) === crossed) return at;
  return -1;
}
