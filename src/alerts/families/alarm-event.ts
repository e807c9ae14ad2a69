import type { Alarm } from "../../model/alarms.ts";
import type { RuleType } from "../judge.ts";
import { noEvents, noMemory } from "../judge.ts";

/** Some trackers send the same alarm twice, as a message of its own and with the next position. */
const sameMs = 60_000;
/**
 * Others report it as long as their flag is set, at their interval. Reports farther apart than this do not show that it went on: a tracker that reports on a press alone
 * would be heard once and never again.
 */
const goesOnMs = 10 * 60_000;
const happened = Object.freeze([Object.freeze({})]);

/**
 * A type that happens when the tracker reports one of these alarms. An alarm that goes on from report to report, none more than ten minutes after
 * the one before, or comes again within a minute, is one and the same. Remembers: when it was reported last, and whether the last report had it.
 */
export function alarmEvent(alarms: readonly Alarm[]): RuleType<"sos"> & RuleType<"vibration"> {
  return {
    clock: "none",
    late: true,
    momentary: true,
    check: () => [],
    judge: () => ({
      kind: "events",
      judge(seen) {
        const { observation, memory, time } = seen;
        if (observation === undefined) return noEvents;
        const [last, on] = memory;
        if (!alarms.some((alarm) => observation.alarms.includes(alarm))) {
          if (last === undefined) return noEvents;
          if (time - last >= sameMs) seen.memory = noMemory;
          else if (on === 1) seen.memory = [last, 0];
          return noEvents;
        }
        seen.memory = [time, 1];
        return last !== undefined && time - last < (on === 1 ? goesOnMs : sameMs) ? noEvents : happened;
      },
    }),
  };
}
