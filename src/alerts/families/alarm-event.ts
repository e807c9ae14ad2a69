import type { Alarm } from "../../model/alarms.ts";
import type { Readings } from "../../model/readings.ts";
import { noMemory, type RuleType, type Seen } from "../judge.ts";

/**
 * Some trackers send the same alarm twice, as a message of its own and with the next position; others report it with
 * each position as long as their flag is set. Within this time of the report before it is the same one, ms.
 */
const sameMs = 60_000;
const happened = Object.freeze([Object.freeze({})]);
const nothingHappened: readonly never[] = Object.freeze([]);

/**
 * Something that happens when one of these alarms is reported, or when a reading that tells the same changes to what it
 * says.
 */
export interface AlarmSource {
  readonly alarms: readonly Alarm[];
  /** What an observation says of the state that the alarm is a change of, as a number; undefined: nothing. */
  state?(readings: Readings, alarms: readonly Alarm[]): number | undefined;
  /** Whether a change to that state is the alarm; absent: any is. */
  readonly into?: number;
  /** It goes on from report to report with no more than this between them, ms; absent: a minute. */
  readonly goesOnMs?: number;
}

/** States of what is so or is not so. */
const isNotSo = 1;
const isSo = 2;

/** A pair of alarms of which one begins what the other ends, and the reading that says which it is. */
function pair(read: (readings: Readings) => boolean | undefined, begins: Alarm, ends: Alarm): readonly AlarmSource[] {
  const state = (readings: Readings, alarms: readonly Alarm[]) => {
    // The alarm tells of the change itself; the reading beside it may be from before.
    if (alarms.includes(begins)) return isSo;
    if (alarms.includes(ends)) return isNotSo;
    const reading = read(readings);
    return reading === undefined ? undefined : reading ? isSo : isNotSo;
  };
  return [
    { alarms: [begins], state, into: isSo },
    { alarms: [ends], state, into: isNotSo },
  ];
}

const driverChanged: AlarmSource = {
  alarms: ["driverChanged"],
  state: ({ driverId }) => (driverId === undefined || driverId === "" ? undefined : hashOf(driverId)),
};

/** Alarms that most trackers tell by a reading alone. */
const sources: ReadonlyMap<Alarm, AlarmSource> = new Map(
  [
    ...pair(({ ignition }) => ignition, "ignitionOn", "ignitionOff"),
    ...pair(({ doorOpen }) => doorOpen, "doorOpened", "doorClosed"),
    ...pair(({ powerConnected }) => powerConnected, "powerRestored", "powerCut"),
    driverChanged,
  ].flatMap((source) => source.alarms.map((alarm) => [alarm, source])),
);

/** What is looked at for an alarm of the catalogue. */
export function sourceOf(alarm: Alarm): AlarmSource {
  return sources.get(alarm) ?? { alarms: [alarm] };
}

/** 32 bits of a text (FNV-1a): enough to see that it is another one. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/**
 * Numbers that are remembered of a source: its place, when it was last reported and last told (0: not lately), whether
 * the last position had it, and the state.
 */
const size = 5;

/**
 * Whether each of the sources happens at an observation, as the places of those that do. An alarm that is reported
 * again within a minute, or goes on from report to report with no more than that between them, is one and the same; one
 * that a position without it lies before is another, a minute after it was told.
 */
export function alarmsAt(list: readonly AlarmSource[], seen: Seen): readonly number[] {
  const { observation, memory } = seen;
  if (observation === undefined) return nothingHappened;
  let found: number[] | undefined;
  for (let place = 0; place < list.length; place++) {
    const source = list[place];
    if (source === undefined) continue;
    const { alarms } = observation;
    const reported = alarms.length > 0 && source.alarms.some((alarm) => alarms.includes(alarm));
    const state = source.state?.(observation.readings, alarms);
    const at = placeIn(seen.memory, place);
    if (!reported && state === undefined && at < 0) continue;
    if (!happens(seen, source, place, at, reported, state)) continue;
    found ??= [];
    found.push(place);
  }
  if (seen.memory !== memory && seen.memory.length === 0) seen.memory = noMemory;
  return found ?? nothingHappened;
}

function happens(
  seen: Seen,
  { into, goesOnMs = sameMs }: AlarmSource,
  place: number,
  at: number,
  reported: boolean,
  state: number | undefined,
): boolean {
  const { memory, time, observation } = seen;
  const [last = 0, told = 0, on = 0, before = 0] = at < 0 ? [] : memory.slice(at + 1, at + size);
  const changed = before !== 0 && state !== undefined && state !== before && (into === undefined || state === into);
  const now = reported || changed;
  const again = now && last > 0 && time - (on === 1 ? last : told) < (on === 1 ? goesOnMs : sameMs);
  const tells = now && !again;
  const isOver = !now && time - Math.max(last, told) >= sameMs;
  const next = [
    now ? time : isOver ? 0 : last,
    tells ? time : isOver ? 0 : told,
    // A message without a position says nothing of what the tracker's flags are.
    now ? 1 : observation?.located || isOver ? 0 : on,
    state ?? before,
  ];
  if (next[0] === last && next[1] === told && next[2] === on && next[3] === before) return tells;
  const empty = next.every((value) => value === 0);
  const others = at < 0 ? memory : [...memory.slice(0, at), ...memory.slice(at + size)];
  seen.memory = empty ? others : [...others, place, ...next];
  return tells;
}

function placeIn(memory: readonly number[], place: number): number {
  for (let at = 0; at + size <= memory.length; at += size) if (memory[at] === place) return at;
  return -1;
}

/** A type that happens when the tracker reports one of these alarms. */
export function alarmEvent(source: AlarmSource): RuleType<"sos"> & RuleType<"vibration"> {
  const list: readonly AlarmSource[] = [source];
  return {
    clock: "none",
    momentary: true,
    check: () => [],
    judge: () => ({
      kind: "events",
      judge: (seen) => (alarmsAt(list, seen).length === 0 ? nothingHappened : happened),
    }),
  };
}
