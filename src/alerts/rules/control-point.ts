import type { AlertFactsOf } from "../../model/alert-facts.ts";
import { checkMinutes, checkZones, minuteMs, minutesOf } from "../families/check.ts";
import { wasMoving } from "../families/standing.ts";
import { crossed, isIn, noEvents, noMemory, noZone, type RuleType, type Seen, wasIn } from "../judge.ts";

type Facts = AlertFactsOf["controlPoint"];

/**
 * It arrived at one of the zones, which it has when it has been there for so long, and left it again. Remembers three
 * numbers for each zone that it is in: its place in the rule's list, since when, and 1 where the arrival was told (or
 * was before the rule came).
 */
export const controlPoint: RuleType<"controlPoint"> = {
  clock: "event",
  momentary: true,
  check: ({ zones, minutes }) => [...checkZones(zones), ...checkMinutes(minutes)],
  judge({ minutes }, { zones, zoneNames }) {
    const stayMs = minutes * minuteMs;
    const stayed = ({ memory }: Seen) => {
      let first = Number.POSITIVE_INFINITY;
      for (let at = 0; at < memory.length; at += 3)
        if (memory[at + 2] === 0) first = Math.min(first, (memory[at + 1] ?? 0) + stayMs);
      return first;
    };
    // A vehicle that was last seen driving there may be elsewhere by now: only a report shows that it stayed.
    const due = (seen: Seen) => (wasMoving(seen.previous) ? Number.POSITIVE_INFINITY : stayed(seen));
    return {
      kind: "events",
      judge(seen) {
        const found: Facts[] = [];
        if (seen.placed) move(seen, zones, zoneNames, minutes, found);
        if (seen.time >= (seen.placed ? stayed(seen) : due(seen))) arrive(seen, zoneNames, minutes, found);
        return found.length === 0 ? noEvents : found;
      },
      due,
    };
  },
};

function move(seen: Seen, zones: readonly number[], names: readonly string[], minutes: number, found: Facts[]): void {
  const { time, memory } = seen;
  const after: number[] = [];
  let changed = false;
  for (let place = 0; place < zones.length; place++) {
    const zone = zones[place] ?? noZone;
    const bits = seen.zones.bits(zone);
    const at = placeIn(memory, place);
    // Nobody left a zone that is gone.
    if (at >= 0 && zone === noZone) changed = true;
    else if (at >= 0 && (bits & isIn) === 0) {
      changed = true;
      if (memory[at + 2] === 1)
        found.push({ zone: names[place] ?? "", event: "left", minutes: minutesOf(time - (memory[at + 1] ?? time)) });
    } else if (at >= 0) after.push(place, memory[at + 1] ?? time, memory[at + 2] ?? 0);
    else if ((bits & isIn) !== 0) {
      changed = true;
      // Where it was before anything is known of it, and where it was already when the rule came, it did not arrive
      // now.
      after.push(place, time, seen.zones.known && (bits & wasIn) === 0 ? 0 : 1);
    } else if (minutes === 0 && seen.zones.known && (bits & (wasIn | crossed)) === crossed) {
      const name = names[place] ?? "";
      found.push({ zone: name, event: "entered", minutes: 0 }, { zone: name, event: "left", minutes: 0 });
    }
  }
  if (changed) seen.memory = after.length === 0 ? noMemory : after;
}

function arrive(seen: Seen, names: readonly string[], minutes: number, found: Facts[]): void {
  seen.memory = seen.memory.map((value, at) => {
    if (at % 3 !== 2 || value === 1) return value;
    const since = seen.memory[at - 1] ?? 0;
    if (seen.time < since + minutes * minuteMs) return value;
    found.push({
      zone: names[seen.memory[at - 2] ?? -1] ?? "",
      event: "entered",
      minutes: minutesOf(seen.time - since),
    });
    return 1;
  });
}

function placeIn(memory: readonly number[], place: number): number {
  for (let at = 0; at < memory.length; at += 3) if (memory[at] === place) return at;
  return -1;
}
