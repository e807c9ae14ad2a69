import { checkMinutes, minuteMs, minutesOf } from "../families/check.ts";
import { showsStanding, wasMoving } from "../families/standing.ts";
import { no, type RuleType, type Seen, yes } from "../judge.ts";

/**
 * The device has been standing for so long, since a report that showed it. Remembers since when (0: it moved). A rule
 * that has seen no report yet counts from the last one before it.
 */
export const notMoving: RuleType<"notMoving"> = {
  clock: "event",
  momentary: false,
  check: ({ minutes }) => checkMinutes(minutes, 0.1),
  judge({ minutes }) {
    const due = (seen: Seen) => sinceOf(seen) + minutes * minuteMs;
    return {
      kind: "level",
      judge(seen) {
        const stands = showsStanding(seen);
        const before = seen.memory[0];
        if (stands === false && before !== 0) seen.memory = [0];
        else if (stands === true && !before) seen.memory = [seen.time];
        return seen.time >= due(seen) ? yes : no;
      },
      due,
      facts: (seen) => ({ minutes: minutesOf(seen.time - sinceOf(seen)), limit: minutes }),
    };
  },
};

/** Infinity: it does not stand, as far as is known. */
function sinceOf({ memory, previous, previousTime }: Seen): number {
  const since = memory[0];
  if (since === undefined) return wasMoving(previous) ? Number.POSITIVE_INFINITY : previousTime;
  return since === 0 ? Number.POSITIVE_INFINITY : since;
}
