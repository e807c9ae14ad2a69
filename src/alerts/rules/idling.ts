import { checkMinutes, minuteMs, minutesOf } from "../families/check.ts";
import { showsStanding } from "../families/standing.ts";
import { no, noMemory, type RuleType, type Seen, yes } from "../judge.ts";

/**
 * The engine runs and the device stands, since reports that showed it. Remembers since when the engine runs, and since
 * when the device stands (0: not).
 */
export const idling: RuleType<"idling"> = {
  clock: "event",
  momentary: false,
  check: ({ minutes }) => checkMinutes(minutes, 0.1),
  judge({ minutes }) {
    const due = (seen: Seen) => sinceOf(seen) + minutes * minuteMs;
    return {
      kind: "level",
      judge(seen) {
        remember(seen);
        return seen.time >= due(seen) ? yes : no;
      },
      due,
      facts: (seen) => ({ minutes: minutesOf(seen.time - sinceOf(seen)), limit: minutes }),
    };
  },
};

function remember(seen: Seen): void {
  const { time, memory } = seen;
  const onBefore = memory[0] ?? 0;
  const stoodBefore = memory[1] ?? 0;
  const running = runningOf(seen);
  const stands = showsStanding(seen);
  const on = running === undefined ? onBefore : running ? onBefore || time : 0;
  const stood = stands === undefined ? stoodBefore : stands ? stoodBefore || time : 0;
  if (on !== onBefore || stood !== stoodBefore) seen.memory = on === 0 && stood === 0 ? noMemory : [on, stood];
}

/** The ignition tells; without one, an engine that turns. */
function runningOf({ observation }: Seen): boolean | undefined {
  if (observation === undefined) return undefined;
  const { ignition, rpm } = observation.readings;
  return ignition ?? (rpm === undefined ? undefined : rpm > 0);
}

/** Infinity: it does not idle, as far as is known. */
function sinceOf({ memory }: Seen): number {
  // By its index here and elsewhere: taken apart, an array is walked through an iterator, for each rule and fix.
  const on = memory[0] ?? 0;
  const stood = memory[1] ?? 0;
  return on === 0 || stood === 0 ? Number.POSITIVE_INFINITY : Math.max(on, stood);
}
