import { within } from "../families/check.ts";
import { anew, no, noMemory, type RuleType, type Seen, yes } from "../judge.ts";

/** Who identifies so shortly before the ignition is on has done so for this trip, ms. */
const beforehandMs = 5 * 60_000;
/** A tracker that repeats the driver in each report needs not be remembered anew each time, ms. */
const againMs = 60_000;
/** Characters of an identifier that are remembered. */
const longestDriver = 64;

/**
 * Places of what is remembered: since when the ignition is on, when an allowed driver identified last, when another one
 * did (0: not), and who, character by character.
 */
const onAt = 0;
const identifiedAt = 1;
const refusedAt = 2;
const nameFrom = 3;

/** The ignition is on, and no driver that may drive has identified, or one that may not has since. */
export const driverAuthenticationFailed: RuleType<"driverAuthenticationFailed"> = {
  clock: "event",
  momentary: false,
  check: ({ seconds, drivers }) => [
    ...within("seconds", seconds, 0, 86_400),
    ...(drivers.includes("") ? ["drivers must not hold an empty identifier"] : []),
  ],
  judge({ drivers, seconds }) {
    const allowed = new Set(drivers);
    const due = (seen: Seen) => {
      const on = seen.memory[onAt] ?? 0;
      if (on === 0 || (seen.memory[identifiedAt] ?? 0) >= on - beforehandMs) return Number.POSITIVE_INFINITY;
      return Math.max(on, refusedOf(seen)) + seconds * 1000;
    };
    return {
      kind: "level",
      judge(seen) {
        const refused = refusedOf(seen);
        remember(seen, allowed);
        const another = refusedOf(seen) > refused && refused > 0;
        // Who comes after one that was told is told at once: nobody allowed has identified meanwhile.
        if (another && seen.held && (seen.memory[onAt] ?? 0) > 0) return anew;
        return seen.time >= due(seen) ? yes : no;
      },
      due,
      facts(seen) {
        const on = seen.memory[onAt] ?? 0;
        const name = refusedOf(seen) > 0 ? String.fromCharCode(...seen.memory.slice(nameFrom)) : "";
        return {
          ...(name !== "" && { driver: name }),
          seconds: on === 0 ? seconds : Math.max(seconds, Math.round((seen.time - on) / 1000)),
          ...(on === 0 && { ended: "ignitionOff" }),
        };
      },
    };
  },
};

/** When a driver who may not drive identified for this trip; 0: none did. */
function refusedOf({ memory }: Seen): number {
  const refused = memory[refusedAt] ?? 0;
  return refused > 0 && refused >= (memory[onAt] ?? 0) - beforehandMs ? refused : 0;
}

function remember(seen: Seen, allowed: ReadonlySet<string>): void {
  const { observation, time, memory } = seen;
  if (observation === undefined) return;
  const { ignition, driverId } = observation.readings;
  const before = memory[onAt] ?? 0;
  const on = ignition === undefined ? before : ignition ? before || time : 0;
  const identified = memory[identifiedAt] ?? 0;
  if (driverId === undefined || driverId === "") {
    if (on !== before) seen.memory = memoryOf(on, identified, memory[refusedAt] ?? 0, memory.slice(nameFrom));
    return;
  }
  if (allowed.size === 0 || allowed.has(driverId)) {
    const isKnown = on === 0 ? time - identified <= againMs : identified >= on - beforehandMs;
    if (on !== before || !isKnown || memory.length > nameFrom)
      seen.memory = memoryOf(on, isKnown ? identified : time, 0, []);
    return;
  }
  const refused = memory[refusedAt] ?? 0;
  const isSame = refused > 0 && isNamed(driverId, memory);
  const isKnown = isSame && (on === 0 ? time - refused <= againMs : refused >= on - beforehandMs);
  if (isKnown && on === before) return;
  seen.memory = isKnown ? memoryOf(on, 0, refused, memory.slice(nameFrom)) : memoryOf(on, 0, time, namesOf(driverId));
}

function memoryOf(on: number, identified: number, refused: number, name: readonly number[]): readonly number[] {
  if (refused > 0) return [on, identified, refused, ...name];
  return on === 0 && identified === 0 ? noMemory : [on, identified];
}

function namesOf(driver: string): readonly number[] {
  return Array.from({ length: Math.min(driver.length, longestDriver) }, (_, at) => driver.charCodeAt(at));
}

function isNamed(driver: string, memory: readonly number[]): boolean {
  const length = Math.min(driver.length, longestDriver);
  if (memory.length !== nameFrom + length) return false;
  for (let at = 0; at < length; at++) if (memory[nameFrom + at] !== driver.charCodeAt(at)) return false;
  return true;
}
