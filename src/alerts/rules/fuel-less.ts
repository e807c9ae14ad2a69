import { rounded } from "../families/check.ts";
import { amountOf, checkAmount, fuelNeeds, fuelOf } from "../families/fuel-level.ts";
import { no, noMemory, nothing, type RuleType, yes } from "../judge.ts";

/** So many readings in a row must agree: one that is off, or a wave in the tank, is nothing. */
const readingsInARow = 3;

/**
 * The level of a tank is under the limit. Remembers how many readings in a row have said otherwise than before, and the
 * last of them.
 */
export const fuelLess: RuleType<"fuelLess"> = {
  clock: "none",
  momentary: false,
  threshold: ({ percent, litres }) => ({ limit: amountOf(percent, litres).amount, side: "under" }),
  check: ({ percent, litres }) => checkAmount("percent", percent, litres, 0),
  needs: ({ tank, percent, litres }) =>
    `${fuelNeeds(tank, amountOf(percent, litres))}, in ${readingsInARow} reports in a row`,
  judge({ tank, percent, litres }, { rearmAt }) {
    const { unit, amount: limit } = amountOf(percent, litres);
    const back = rearmAt ?? limit;
    return {
      kind: "level",
      judge(seen) {
        const value = fuelOf(seen, tank, unit);
        if (value === undefined) return nothing;
        const { held } = seen;
        const [contrary = 0] = seen.memory;
        if (value < (seen.raised ? back : limit) === held) {
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
      facts: (seen) => ({
        tank,
        value: rounded(fuelOf(seen, tank, unit) ?? seen.memory[1] ?? limit),
        limit,
        ...(unit === "litres" && { unit }),
      }),
    };
  },
};
