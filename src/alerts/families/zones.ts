import { isIn, type JudgeSetup, type LevelJudge, no, nothing, type Seen, yes } from "../judge.ts";

/** Judges that the device is in none of the zones: it has left where it is allowed, or strayed from its route. */
export function outsideOfAll({
  zones,
  zoneNames,
}: Pick<JudgeSetup, "zones" | "zoneNames">): LevelJudge<{ readonly zone: string }> {
  const zone = zoneNames.filter((name) => name !== "").join(", ");
  return {
    kind: "level",
    judge(seen) {
      if (!seen.placed) return nothing;
      return inOne(seen, zones) === -1 ? yes : no;
    },
    facts: () => ({ zone }),
  };
}

/** Which of the zones, by its place in the list, the device is in; -1: none. */
export function inOne(seen: Seen, zones: readonly number[]): number {
  for (let at = 0; at < zones.length; at++) if ((seen.zones.bits(zones[at] ?? -1) & isIn) !== 0) return at;
  return -1;
}
