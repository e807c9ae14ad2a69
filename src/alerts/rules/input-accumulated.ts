import { checkMinutes, minuteMs, minutesOf } from "../families/check.ts";
import { inputBefore } from "../families/inputs.ts";
import { noEvents, type RuleType, type Seen } from "../judge.ts";

/**
 * Added up, an input has been active for so long (`sensorTimeN` of the API), or for each multiple of it; while it is
 * active, time alone adds to it. Remembers how many were reached; what was reached before the rule came is none of its
 * business.
 */
export const inputAccumulated: RuleType<"inputAccumulated"> = {
  clock: "event",
  momentary: true,
  sums: true,
  check: ({ minutes }) => checkMinutes(minutes, 0.1),
  judge({ input, minutes, repeat }) {
    const stepMs = minutes * minuteMs;
    const reached = (ms: number) => (repeat ? Math.floor(ms / stepMs) : ms >= stepMs ? 1 : 0);
    const before = (seen: Seen) => seen.memory[0] ?? reached(seen.previous.sensorMs[input - 1] ?? 0);
    return {
      kind: "events",
      judge(seen) {
        const ms = activeMs(seen, input);
        const count = reached(ms);
        const already = before(seen);
        if (count !== seen.memory[0]) seen.memory = [count];
        return count > already
          ? [{ input, minutes: minutesOf(ms), limit: repeat ? minutesOf(count * stepMs) : minutes }]
          : noEvents;
      },
      due(seen) {
        if (inputBefore(seen.previous, input) !== true || (!repeat && before(seen) > 0))
          return Number.POSITIVE_INFINITY;
        return seen.previousTime + (before(seen) + 1) * stepMs - (seen.previous.sensorMs[input - 1] ?? 0);
      },
    };
  },
};

/** As added up until the moment that is looked at: by time alone, what is active goes on. */
function activeMs({ observation, totals, time, previousTime }: Seen, input: 1 | 2 | 3 | 4): number {
  const sum = totals.sensorMs[input - 1] ?? 0;
  return observation === undefined && inputBefore(totals, input) === true
    ? sum + Math.max(0, time - previousTime)
    : sum;
}
