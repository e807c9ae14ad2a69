import type { Alarm } from "../../model/alarms.ts";
import { type Judgement, no, nothing, pulse, type Seen, yes } from "../judge.ts";

/** What an observation's reading says; undefined: it does not have the reading. */
export type ReadingSays = boolean | undefined;

/**
 * Judges what trackers tell by an alarm, by a reading, or by both. An alarm of the same report counts more than the reading beside it.
 * Where a tracker never told by a reading nor by an alarm of the end that it is so no longer, its alarm is a moment: else the first one
 * would stand for ever, and the next go unheard; an alarm that goes on from report to report is one.
 * A moment can't hold: where the rule asks for that (`holds`), such an alarm lasts until something speaks against it; once it was told, it is over with the
 * next report that does not have it, so that the next alarm is heard. Remembers: 1: its end is told · 2: the last report had the alarm.
 */
export function judgeAlarmOr(
  reading: ReadingSays,
  begins: Alarm,
  ends: Alarm | undefined,
  holds: boolean,
  seen: Seen,
): Judgement {
  // Time alone says nothing of it.
  if (seen.observation === undefined) return nothing;
  const { alarms } = seen.observation;
  const begun = alarms.includes(begins);
  const ended = ends !== undefined && alarms.includes(ends);
  const before = seen.memory[0] ?? 0;
  const told = (before & 1) === 1 || reading !== undefined || ended;
  const now = (told ? 1 : 0) | (begun ? 2 : 0);
  if (now !== before) seen.memory = [now];
  if (begun) {
    if (told || holds) return yes;
    return (before & 2) === 2 ? nothing : pulse;
  }
  if (ended) return no;
  if (reading === undefined) return holds && !told && seen.raised ? no : nothing;
  return reading ? yes : no;
}
