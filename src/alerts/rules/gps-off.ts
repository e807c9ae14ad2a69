import { checkMinutes, minuteMs, minutesOf } from "../families/check.ts";
import { no, noMemory, nothing, type RuleType, yes } from "../judge.ts";

/**
 * For so long all that the tracker reports has been without a position of its own, or it says that its antenna is cut.
 * Remembers: since when (0: it has positions), and 1 where the antenna's alarm stands.
 */
export const gpsOff: RuleType<"gpsOff"> = {
  clock: "none",
  momentary: false,
  check: ({ minutes }) => checkMinutes(minutes, 1),
  judge: ({ minutes }) => ({
    kind: "level",
    judge(seen) {
      const { observation, time } = seen;
      if (observation === undefined) return nothing;
      const [sinceBefore = 0, cutBefore = 0] = seen.memory;
      const since = observation.located ? 0 : sinceBefore || time;
      const cut = observation.alarms.includes("gpsAntennaCut") ? 1 : observation.positioned ? 0 : cutBefore;
      if (since !== sinceBefore || cut !== cutBefore) seen.memory = since === 0 && cut === 0 ? noMemory : [since, cut];
      return cut === 1 || (since > 0 && time - since >= minutes * minuteMs) ? yes : no;
    },
    facts: ({ time, memory: [since = 0, cut = 0] }) => ({
      minutes: since === 0 ? 0 : minutesOf(time - since),
      limit: minutes,
      antenna: cut === 1,
    }),
  }),
};
