import { checkMinutes, minuteMs, minutesOf } from "../families/check.ts";
import { no, type RuleType, yes } from "../judge.ts";

/** The device has not moved for so long: what the API tells as `inactiveSeconds`. */
export const notMoving: RuleType<"notMoving"> = {
  clock: "event",
  momentary: false,
  check: ({ minutes }) => checkMinutes(minutes, 0.1),
  judge: ({ minutes }) => ({
    kind: "level",
    judge: ({ time, totals }) => (totals.movedAt > 0 && time >= totals.movedAt + minutes * minuteMs ? yes : no),
    due: ({ totals }) => (totals.movedAt > 0 ? totals.movedAt + minutes * minuteMs : Number.POSITIVE_INFINITY),
    facts: ({ time, totals }) => ({ minutes: minutesOf(time - totals.movedAt), limit: minutes }),
  }),
};
