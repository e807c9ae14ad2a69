import type { Alarm } from "../../model/alarms.ts";
import { anew, type Judgement, no, nothing, type Seen, yes } from "../judge.ts";

/** What an observation's reading says; undefined: it does not have the reading. */
export type ReadingSays = boolean | undefined;

/** An alarm that is sent twice, as a message of its own and with the next position, is one, ms. */
const sameMs = 60_000;

/** What is remembered: 1: something has told an end of it before · 2: the last report had the alarm. */
const endIsTold = 1;
const hadAlarm = 2;

/**
 * Judges what trackers tell by an alarm, by a reading, or by both. An alarm of the same report counts more than the
 * reading beside it. It lasts until a reading or the alarm of its end speaks against it. A tracker that has never told
 * an end in any way may never tell one: there, an alarm that comes after reports without it has begun anew, so that it
 * is heard. Remembers the bits above, and when the alarm came last.
 */
export function judgeAlarmOr(reading: ReadingSays, begins: Alarm, ends: Alarm | undefined, seen: Seen): Judgement {
  // Time alone says nothing of it.
  if (seen.observation === undefined) return nothing;
  const { alarms } = seen.observation;
  const begun = alarms.includes(begins);
  const ended = ends !== undefined && alarms.includes(ends);
  const before = seen.memory[0] ?? 0;
  const last = seen.memory[1] ?? 0;
  const told = (before & endIsTold) !== 0 || reading !== undefined || ended;
  const bits = (told ? endIsTold : 0) | (begun ? hadAlarm : 0);
  const at = told ? 0 : begun ? seen.time : last;
  if (bits !== before || at !== last) seen.memory = at === 0 ? [bits] : [bits, at];
  if (begun) return told || (before & hadAlarm) !== 0 || seen.time - last < sameMs ? yes : anew;
  if (ended) return no;
  return reading === undefined ? nothing : reading ? yes : no;
}
