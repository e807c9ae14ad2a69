import { checkMinutes, minuteMs, minutesOf } from "../families/check.ts";
import { drivenOn, driveOf } from "../families/movement.ts";
import { noEvents, noMemory, type RuleType, type Seen } from "../judge.ts";

/** A trip began, or ended: the device has stood for so long since. */
export const trip: RuleType<"trip"> = {
  clock: "event",
  momentary: true,
  check: ({ minutes }) => checkMinutes(minutes, 1),
  judge({ minutes }) {
    const due = (seen: Seen) => {
      const stands = driveOf(seen)?.stands ?? 0;
      return stands > 0 ? stands + minutes * minuteMs : Number.POSITIVE_INFINITY;
    };
    const ended = (seen: Seen) => {
      const drive = driveOf(seen);
      if (drive === undefined || seen.time < due(seen)) return undefined;
      seen.memory = noMemory;
      return { event: "ended", minutes: minutesOf(drive.moved - drive.began) } as const;
    };
    return {
      kind: "events",
      due,
      judge(seen) {
        const before = driveOf(seen);
        drivenOn(seen);
        if (before === undefined && driveOf(seen) !== undefined) return [{ event: "began" }];
        const end = ended(seen);
        return end === undefined ? noEvents : [end];
      },
    };
  },
};
