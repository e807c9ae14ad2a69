import { within } from "../families/check.ts";
import { no, noMemory, type RuleType, type Seen, yes } from "../judge.ts";

/** Who identifies so shortly before the ignition is on has done so for this trip, ms. */
const beforehandMs = 5 * 60_000;
/** A tracker that repeats the driver in each report needs not be remembered anew each time, ms. */
const againMs = 60_000;

/** The ignition is on, and no driver that may drive has identified. Remembers: since when it is on, when one identified last (0: not). */
export const driverAuthenticationFailed: RuleType<"driverAuthenticationFailed"> = {
  clock: "event",
  late: true,
  momentary: false,
  check: ({ seconds, drivers }) => [
    ...within("seconds", seconds, 0, 86_400),
    ...(drivers.includes("") ? ["drivers must not hold an empty identifier"] : []),
  ],
  judge({ drivers, seconds }) {
    const allowed = new Set(drivers);
    const due = ({ memory }: Seen) => {
      const on = memory[0] ?? 0;
      const identified = memory[1] ?? 0;
      if (on === 0 || (identified > 0 && identified >= on - beforehandMs)) return Number.POSITIVE_INFINITY;
      return on + seconds * 1000;
    };
    return {
      kind: "level",
      judge(seen) {
        remember(seen, allowed);
        return seen.time >= due(seen) ? yes : no;
      },
      due,
      facts({ observation, time, memory: [on = 0] }) {
        const driver = observation?.readings.driverId;
        return {
          ...(driver !== undefined && driver !== "" && { driver }),
          seconds: on === 0 ? seconds : Math.max(seconds, Math.round((time - on) / 1000)),
        };
      },
    };
  },
};

function remember(seen: Seen, allowed: ReadonlySet<string>): void {
  const { observation, time } = seen;
  if (observation === undefined) return;
  const { ignition, driverId } = observation.readings;
  const before = seen.memory[0] ?? 0;
  const identifiedBefore = seen.memory[1] ?? 0;
  const on = ignition === undefined ? before : ignition ? before || time : 0;
  let identified = identifiedBefore;
  if (driverId !== undefined && driverId !== "" && (allowed.size === 0 || allowed.has(driverId)))
    if (on === 0 ? time - identified > againMs : identified < on - beforehandMs) identified = time;
  if (on === before && identified === identifiedBefore) return;
  seen.memory = on === 0 && identified === 0 ? noMemory : [on, identified];
}
