import { judgeTurned } from "../families/inputs.ts";
import type { RuleType } from "../judge.ts";

/** An input was turned on. */
export const inputOn: RuleType<"inputOn"> = {
  clock: "none",
  momentary: false,
  check: () => [],
  judge: ({ input }) => ({ kind: "level", judge: (seen) => judgeTurned(seen, input, true), facts: () => ({ input }) }),
};
