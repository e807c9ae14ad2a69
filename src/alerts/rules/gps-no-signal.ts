import { checkMinutes, minuteMs, minutesOf } from "../families/check.ts";
import { no, noMemory, nothing, type RuleType, yes } from "../judge.ts";

/**
 * For so long the tracker has marked its positions as not valid. Remembers since when. Reports without a position say
 * nothing of it.
 */
export const gpsNoSignal: RuleType<"gpsNoSignal"> = {
  clock: "none",
  momentary: false,
  check: ({ minutes }) => checkMinutes(minutes),
  judge: ({ minutes }) => ({
    kind: "level",
    judge(seen) {
      const { observation, time } = seen;
      if (observation === undefined || !observation.located) return nothing;
      if (observation.positioned) {
        if (seen.memory.length > 0) seen.memory = noMemory;
        return no;
      }
      const [since = time] = seen.memory;
      if (seen.memory.length === 0) seen.memory = [time];
      return time - since >= minutes * minuteMs ? yes : no;
    },
    facts: ({ time, memory: [since = time] }) => ({ minutes: minutesOf(time - since), limit: minutes }),
  }),
};
