import { checkMinutes, minuteMs, minutesOf } from "../families/check.ts";
import { inputOf } from "../families/inputs.ts";
import { no, noMemory, type RuleType, type Seen, yes } from "../judge.ts";

/** An input has been active for so long without a break. Remembers since when. */
export const inputActiveFor: RuleType<"inputActiveFor"> = {
  clock: "event",
  momentary: false,
  check: ({ minutes }) => checkMinutes(minutes, 0.1),
  judge({ input, minutes }) {
    const due = ({ memory }: Seen) => (memory[0] ?? Number.POSITIVE_INFINITY) + minutes * minuteMs;
    return {
      kind: "level",
      judge(seen) {
        const state = seen.observation === undefined ? undefined : inputOf(seen.observation.readings, input);
        if (state === true && seen.memory.length === 0) seen.memory = [seen.time];
        else if (state === false && seen.memory.length > 0) seen.memory = noMemory;
        return seen.time >= due(seen) ? yes : no;
      },
      due,
      facts: ({ time, memory: [since = time] }) => ({ input, minutes: minutesOf(time - since), limit: minutes }),
    };
  },
};
