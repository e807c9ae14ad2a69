import { judgeAlarmOr } from "../families/alarm-level.ts";
import { rounded, within } from "../families/check.ts";
import type { RuleType } from "../judge.ts";

/** The tracker's own battery is low: it says so, or its charge is under the limit. */
export const lowBattery: RuleType<"lowBattery"> = {
  clock: "none",
  momentary: false,
  threshold: ({ percent }) => ({ limit: percent, side: "under" }),
  check: ({ percent }) => within("percent", percent, 0, 100, "%"),
  judge({ percent }, { rearmAt }) {
    const back = rearmAt ?? percent;
    return {
      kind: "level",
      judge(seen) {
        const charge = seen.observation?.readings.battery;
        const low = charge === undefined ? undefined : charge < (seen.raised ? back : percent);
        return judgeAlarmOr(low, "lowBattery", undefined, seen);
      },
      facts({ observation }) {
        const charge = observation?.readings.battery;
        return { limit: percent, ...(charge !== undefined && { value: rounded(charge) }) };
      },
    };
  },
};
