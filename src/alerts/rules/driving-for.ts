import { checkMinutes, minuteMs, minutesOf, within } from "../families/check.ts";
import { drivenOn, driveOf } from "../families/movement.ts";
import { no, noMemory, nothing, type RuleType, yes } from "../judge.ts";

/** It has been driven for so long without a rest of so long. Only a report that shows it driving makes it true. */
export const drivingFor: RuleType<"drivingFor"> = {
  clock: "none",
  momentary: false,
  check: ({ minutes, restMinutes }) => [...checkMinutes(minutes, 1), ...within("restMinutes", restMinutes, 1, 1440)],
  judge: ({ minutes, restMinutes }) => ({
    kind: "level",
    judge(seen) {
      const before = driveOf(seen);
      // A rest may end with the report that shows it driving again.
      if (before !== undefined && before.stands > 0 && seen.time - before.stands >= restMinutes * minuteMs)
        seen.memory = noMemory;
      drivenOn(seen);
      const drive = driveOf(seen);
      if (drive === undefined) return no;
      if (drive.stands > 0) return nothing;
      return seen.time - drive.began >= minutes * minuteMs ? yes : no;
    },
    facts(seen) {
      const { began, moved } = driveOf(seen) ?? { began: seen.time, moved: seen.time };
      return { minutes: minutesOf(moved - began), limit: minutes };
    },
  }),
};
