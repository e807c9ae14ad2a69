import { checkMinutes, minuteMs, minutesOf } from "../families/check.ts";
import { no, noMemory, type RuleType, type Seen, yes } from "../judge.ts";

/** The ignition has been off, and the device has not moved, for so long. Remembers since when the ignition is off. */
export const parkedFor: RuleType<"parkedFor"> = {
  clock: "event",
  momentary: false,
  check: ({ minutes }) => checkMinutes(minutes, 1),
  judge({ minutes }) {
    const due = (seen: Seen) => sinceOf(seen) + minutes * minuteMs;
    return {
      kind: "level",
      due,
      judge(seen) {
        const ignition = seen.observation?.readings.ignition;
        if (ignition === false && seen.memory.length === 0) seen.memory = [seen.time];
        else if (ignition === true && seen.memory.length > 0) seen.memory = noMemory;
        return seen.time >= due(seen) ? yes : no;
      },
      facts: (seen) => ({ minutes: minutesOf(seen.time - sinceOf(seen)), limit: minutes }),
    };
  },
};

function sinceOf({ memory, totals }: Seen): number {
  const off = memory[0];
  return off === undefined ? Number.POSITIVE_INFINITY : Math.max(off, totals.movedAt);
}
