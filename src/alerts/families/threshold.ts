import { type JudgeSetup, type LevelJudge, no, noMemory, nothing, type Seen, yes } from "../judge.ts";
import { rounded } from "./check.ts";

/** A value and the limit that it passed. */
interface Measured {
  readonly value: number;
  readonly limit: number;
}

/**
 * A judge of a value that may pass a limit. Once an alert stands raised, the value must pass back `rearmAt` before it
 * is over; a value that an observation does not have leaves all as it was. Remembers the last value beyond the limit,
 * for an alert that time alone raises.
 */
export function thresholdJudge<F extends Measured>(
  side: "over" | "under",
  limit: number,
  { rearmAt }: Pick<JudgeSetup, "rearmAt">,
  read: (seen: Seen) => number | undefined,
  facts: (measured: Measured) => F,
): LevelJudge<F> {
  const back = rearmAt ?? limit;
  const over = side === "over";
  return {
    kind: "level",
    judge(seen) {
      const value = read(seen);
      if (value === undefined) return nothing;
      const line = seen.raised ? back : limit;
      if (over ? value > line : value < line) {
        if (!seen.raised && seen.memory[0] !== value) seen.memory = [value];
        return yes;
      }
      if (seen.memory.length > 0) seen.memory = noMemory;
      return no;
    },
    facts: (seen) => facts({ value: rounded(read(seen) ?? seen.memory[0] ?? limit), limit }),
  };
}
