import { judgeTurned } from "../families/inputs.ts";
import type { RuleType } from "../judge.ts";

/** An input was turned off. */
export const inputOff: RuleType<"inputOff"> = {
  clock: "none",
  momentary: false,
  check: () => [],
  judge: ({ input }) => ({ kind: "level", judge: (seen) => judgeTurned(seen, input, false), facts: () => ({ input }) }),
};
