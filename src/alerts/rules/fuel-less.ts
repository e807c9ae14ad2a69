import { rounded, within } from "../families/check.ts";
import { fuelOf } from "../families/fuel-window.ts";
import { no, noMemory, nothing, type RuleType, yes } from "../judge.ts";

/** So many readings in a row must agree: one that is off, or a wave in the tank, is nothing. */
const readingsInARow = 3;

/** The level of a tank is under the limit. Remembers how many readings in a row have said otherwise than before, and the last of them. */
export const fuelLess: RuleType<"fuelLess"> = {
  clock: "none",
  momentary: false,
  threshold: ({ percent }) => ({ limit: percent, side: "under" }),
  check: ({ percent }) => within("percent", percent, 0, 100, "%"),
  judge({ tank, percent }, { rearmAt }) {
    const back = rearmAt ?? percent;
    return {
      kind: "level",
      judge(seen) {
        const value = fuelOf(seen, tank);
        if (value === undefined) return nothing;
        const { held } = seen;
        const [contrary = 0] = seen.memory;
        if (value < (seen.raised ? back : percent) === held) {
          if (contrary > 0) seen.memory = held ? [0, value] : noMemory;
          return held ? yes : no;
        }
        if (contrary + 1 < readingsInARow) {
          seen.memory = [contrary + 1, value];
          return held ? yes : no;
        }
        seen.memory = held ? noMemory : [0, value];
        return held ? no : yes;
      },
      facts: (seen) => ({ tank, value: rounded(fuelOf(seen, tank) ?? seen.memory[1] ?? percent), limit: percent }),
    };
  },
};
