/** A message that is to go out: one of several about the same thing to the same recipient. */
export interface PausedNotice {
  /** Of the notice: later ones have greater keys. */
  readonly key: number;
  /** What the message says has come: its alert's phase and event. */
  readonly event: string;
  /** Event time of its alert. */
  readonly time: number;
  /** It has waited for the end of an interval already. */
  readonly waited: boolean;
}

/** What is remembered of the messages of one event, by our own clock. */
interface Interval {
  /** When one last went out; when one last would have, sent or not. */
  readonly sentAt: number;
  readonly askedAt: number;
  /** The present interval, minutes. */
  readonly minutes: number;
}

/** What is remembered of the messages about one thing to one recipient. */
export interface NoticePause {
  /** What the last message said; null: none went out yet. */
  readonly told: string | null;
  /** The newest that was to be told, by event time: what it says is so now. */
  readonly latest: { readonly key: number; readonly time: number } | null;
  readonly events: { readonly [event: string]: Interval };
}

/** What becomes of a message: it goes out, waits until then, or does not go out, for that reason. */
export type PauseDecision =
  | { readonly outcome: "send" }
  | { readonly outcome: "wait"; readonly until: number; readonly minutes: number }
  | { readonly outcome: "suppress"; readonly reason: string };

const minuteMs = 60_000;
/** The longest interval, minutes: a day. */
const mostMinutes = 1440;
/** Events of one thing that are remembered: it is entered, left, over; no rule has more. */
const mostEvents = 8;

/** Why a message that waited does not go out. */
const outdated = "repeated: what came after it tells the present state";

const nothing: NoticePause = { told: null, latest: null, events: {} };

/**
 * Whether a message goes out now, and what is to be remembered. Of each event at most one goes in `firstMinutes`, then
 * in twice as many ... while it repeats, and in `firstMinutes` again after an interval without one that would have
 * gone. One that comes too soon waits for the end of the interval, where it says something else than the last message;
 * it goes out then unless something newer has come meanwhile. So the last message always tells the present state.
 */
export function paused(
  before: NoticePause | undefined,
  notice: PausedNotice,
  now: number,
  firstMinutes: number,
): { readonly decision: PauseDecision; readonly after: NoticePause } {
  const known = before ?? nothing;
  const { told, latest } = known;
  const { key, event, time, waited } = notice;
  const isNewest = isLatest(latest, notice);
  const last = Object.hasOwn(known.events, event) ? known.events[event] : undefined;
  if (waited && !isNewest) return { decision: { outcome: "suppress", reason: outdated }, after: known };
  const seen = isNewest ? { ...known, latest: { key, time } } : known;
  if (last !== undefined && isPaused(last, now)) {
    // A time in the future comes from a clock that was ahead. It counts as now, so nobody waits longer than the
    // interval.
    const askedAt = waited ? last.askedAt : Math.max(last.askedAt, now);
    const asked = { ...last, sentAt: Math.min(last.sentAt, now), askedAt };
    return { decision: tooSoon(asked, event === told || !isNewest), after: withEvent(seen, event, asked) };
  }
  if (waited && event === told) return { decision: suppressed(last?.minutes ?? firstMinutes), after: seen };
  const minutes = last === undefined || isQuiet(last, now) ? firstMinutes : Math.min(last.minutes * 2, mostMinutes);
  const after = withEvent(seen, event, { sentAt: now, askedAt: now, minutes });
  return { decision: { outcome: "send" }, after: isNewest ? { ...after, told: event } : after };
}

/**
 * The pause after a message that does not go out whatever the pauses say. An older message that waits no longer tells
 * the present state.
 */
export function passedOver(known: NoticePause, notice: Pick<PausedNotice, "key" | "time">): NoticePause {
  const { key, time } = notice;
  return isLatest(known.latest, notice) ? { ...known, latest: { key, time } } : known;
}

function isLatest(latest: NoticePause["latest"], { key, time }: Pick<PausedNotice, "key" | "time">): boolean {
  return latest === null || time > latest.time || (time === latest.time && key >= latest.key);
}

function tooSoon(last: Interval, isKnown: boolean): PauseDecision {
  if (isKnown) return suppressed(last.minutes);
  return { outcome: "wait", until: last.sentAt + last.minutes * minuteMs, minutes: last.minutes };
}

function suppressed(minutes: number): PauseDecision {
  return { outcome: "suppress", reason: `repeated: at most one in ${minutes} minutes` };
}

/** A clock that was ahead and was set right is no reason to be silent for longer. */
function isPaused({ sentAt, minutes }: Interval, now: number): boolean {
  return Math.abs(now - sentAt) < minutes * minuteMs;
}

function isQuiet({ askedAt, minutes }: Interval, now: number): boolean {
  return Math.abs(now - askedAt) >= minutes * minuteMs;
}

function withEvent(pause: NoticePause, event: string, interval: Interval): NoticePause {
  const others = Object.entries(pause.events).filter(([name]) => name !== event);
  return { ...pause, events: { ...Object.fromEntries(others.slice(1 - mostEvents)), [event]: interval } };
}
