import type { Seen } from "../judge.ts";

/** Whether a report shows that the device moved; undefined: there is none, or nothing before it to have moved from. */
export function movedAt({ observation, totals, previousTime }: Seen): boolean | undefined {
  return observation === undefined || previousTime === 0 ? undefined : totals.movedAt === observation.time;
}

/**
 * Places of what is remembered of a drive: when it began, when the device moved last, and since when reports have shown
 * that it stands (0: it moves).
 */
const beganAt = 0;
const movedLast = 1;
const standsSince = 2;

/** A drive: it goes on from when the device first moved until it has stood for a time. */
export interface Drive {
  readonly began: number;
  readonly moved: number;
  readonly stands: number;
}

/** The drive that is remembered; undefined: none is under way. */
export function driveOf({ memory }: Seen): Drive | undefined {
  const began = memory[beganAt];
  return began === undefined
    ? undefined
    : { began, moved: memory[movedLast] ?? began, stands: memory[standsSince] ?? 0 };
}

/** What is remembered after a report. A report that does not show whether the device moved leaves all as it was. */
export function drivenOn(seen: Seen): void {
  const moved = movedAt(seen);
  if (moved === undefined) return;
  const drive = driveOf(seen);
  if (moved) seen.memory = [drive?.began ?? seen.time, seen.time, 0];
  else if (drive !== undefined && drive.stands === 0) seen.memory = [drive.began, drive.moved, seen.time];
}
