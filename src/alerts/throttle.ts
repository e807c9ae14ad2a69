const minuteMs = 60_000;
/** The first interval, and the longest: a day. */
const firstMinutes = 2;
const mostMinutes = 1440;

/** What is remembered of a rule's e-mails, by the moments of evaluation. */
export interface Throttle {
  /** When it last sent one; when it last would have, sent or not. */
  readonly sentAt: number;
  readonly askedAt: number;
  /** The present interval, minutes. */
  readonly minutes: number;
}

/**
 * Whether an e-mail may go now, and what is to be remembered: at most one in 2 minutes, then 4, 8 ... while it repeats, back to 2 after an interval
 * without one that would have gone.
 */
export function throttled(
  before: Throttle | undefined,
  now: number,
): { readonly send: boolean; readonly throttle: Throttle } {
  if (before === undefined || isQuiet(before, now))
    return { send: true, throttle: { sentAt: now, askedAt: now, minutes: firstMinutes } };
  if (now - before.sentAt < before.minutes * minuteMs)
    return { send: false, throttle: { ...before, askedAt: Math.max(before.askedAt, now) } };
  const minutes = Math.min(before.minutes * 2, mostMinutes);
  return { send: true, throttle: { sentAt: now, askedAt: now, minutes } };
}

/** It has been quiet for so long that nothing of it needs to be remembered; or our clock was ahead by more than that, and was set right. */
export function isQuiet(throttle: Throttle, now: number): boolean {
  return Math.abs(now - throttle.askedAt) >= throttle.minutes * minuteMs;
}
