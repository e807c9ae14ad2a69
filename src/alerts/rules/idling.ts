import { checkMinutes, minuteMs, minutesOf } from "../families/check.ts";
import { no, noMemory, type RuleType, type Seen, yes } from "../judge.ts";

/** The engine runs and the device does not move. Remembers since when the engine runs. */
export const idling: RuleType<"idling"> = {
  clock: "event",
  momentary: false,
  check: ({ minutes }) => checkMinutes(minutes, 0.1),
  judge({ minutes }) {
    const due = (seen: Seen) => sinceOf(seen) + minutes * minuteMs;
    return {
      kind: "level",
      judge(seen) {
        const running = runningOf(seen);
        if (running === true && seen.memory.length === 0) seen.memory = [seen.time];
        else if (running === false && seen.memory.length > 0) seen.memory = noMemory;
        return seen.time >= due(seen) ? yes : no;
      },
      due,
      facts: (seen) => ({ minutes: minutesOf(seen.time - sinceOf(seen)), limit: minutes }),
    };
  },
};

/** The ignition tells; without one, an engine that turns. */
function runningOf({ observation }: Seen): boolean | undefined {
  if (observation === undefined) return undefined;
  const { ignition, rpm } = observation.readings;
  return ignition ?? (rpm === undefined ? undefined : rpm > 0);
}

function sinceOf({ memory, totals }: Seen): number {
  // By its index here and elsewhere: taken apart, an array is walked through an iterator, for each rule and fix.
  const on = memory[0];
  return on === undefined ? Number.POSITIVE_INFINITY : Math.max(on, totals.movedAt);
}
