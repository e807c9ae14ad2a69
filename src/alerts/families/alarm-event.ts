import type { Alarm } from "../../model/alarms.ts";
import type { RuleType } from "../judge.ts";
import { noEvents, noMemory } from "../judge.ts";

/** Some trackers send the same alarm twice, as a message of its own and with the next position. */
const sameMs = 60_000;
const happened = Object.freeze([Object.freeze({})]);

/**
 * A type that happens when the tracker reports one of these alarms. An alarm that goes on from report to report, or comes again within a minute,
 * is one and the same. Remembers: when it was reported last, and whether the last report had it.
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
        return on === 1 || (last !== undefined && time - last < sameMs) ? noEvents : happened;
      },
    }),
  };
}
