/** Where a rule stands with a device: nothing · true, but not for long enough yet · raised. */
export const idle = 0;
export const holding = 1;
export const raised = 2;
/** One of the three. */
export type Phase = typeof idle | typeof holding | typeof raised;

/** What the machine remembers. */
export interface Course {
  readonly phase: Phase;
  /** When the phase began; 0: it was never another. */
  readonly since: number;
  /** When an alert was raised last; 0: never. */
  readonly firedAt: number;
}

/** What keeps a rule from flapping, ms. */
export interface Calm {
  readonly holdMs: number;
  readonly cooldownMs: number;
}

/** What a step does. */
export const stay = 0;
/** It has become true, and must hold. */
export const hold = 1;
/** It did not hold. */
export const drop = 2;
/** The alert is raised. */
export const raise = 3;
/** What was raised is over. */
export const end = 4;
/** Raised, and over at once. */
export const flash = 5;
/** One of these. */
export type Move = typeof stay | typeof hold | typeof drop | typeof raise | typeof end | typeof flash;

/** What holds now: it is not so, it is so, or it was so in between. */
export const isNot = 0;
export const is = 1;
export const wasBetween = 2;
/** One of these. */
export type Truth = typeof isNot | typeof is | typeof wasBetween;

/** From when on an alert may be raised of what has been true since a moment. */
export function readyAt(since: number, firedAt: number, calm: Calm): number {
  const held = since + calm.holdMs;
  return firedAt === 0 ? held : Math.max(held, firedAt + calm.cooldownMs);
}

/**
 * The next move of a rule: pure, the same for every type. Raised once, it must be over before it is raised again; it is
 * raised only after it has been true for as long as it must hold, and not before the cooldown since the last time is
 * over (what is still true then is raised then). What was only between can't hold.
 */
export function moveOf(course: Course, truth: Truth, time: number, calm: Calm): Move {
  switch (course.phase) {
    case raised:
      return truth === is ? stay : end;
    case holding:
      if (truth !== is) return drop;
      return time >= readyAt(course.since, course.firedAt, calm) ? raise : stay;
    default:
      if (truth === isNot) return stay;
      if (time < readyAt(time, course.firedAt, calm)) return truth === is ? hold : stay;
      return truth === is ? raise : flash;
  }
}

/** The course after a move that was made at a moment. */
export function courseAfter(course: Course, move: Move, time: number): Course {
  switch (move) {
    case stay:
      return course;
    case hold:
      return { phase: holding, since: time, firedAt: course.firedAt };
    case raise:
      return { phase: raised, since: time, firedAt: time };
    case flash:
      return { phase: idle, since: time, firedAt: time };
    default:
      return { phase: idle, since: time, firedAt: course.firedAt };
  }
}
