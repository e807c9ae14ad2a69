/**
 * What a connection's messages have told so far.
 *
 * The login gives the zone that the tracker was set to (GT06N protocol v1.0.0, login packet). Numbers 0x22 and above are documented as UTC.
 * Of 0x10, 0x11, 0x12, 0x16, 0x18 and 0x1A the manuals give local time in examples, while many trackers send UTC whatever their zone is;
 * so the zone is applied to those only once a message has shown that the clock is local.
 */
export interface Session {
  /** Zone of the login, ms east of UTC; absent where the login had none. */
  readonly zone?: number;
  /** What the clock of the older messages runs in; absent until one of them shows it. */
  readonly clock?: "utc" | "local";
}

/** A connection before its login. */
export const initial: Session = Object.freeze({});

/** A live message is that young, and no message is that much older than its own arrival's future: 5 minutes. */
const tolerance = 300_000;

/**
 * The session after an older message with the time `time`, read as UTC. A time later than its own arrival can't be UTC;
 * one that is now in one of both readings shows which of them is right.
 */
export function observeClock(session: Session, time: number, receivedAt: number): Session {
  const zone = session.zone;
  if (zone === undefined || zone === 0 || session.clock !== undefined) return session;
  if (Math.abs(time - receivedAt) <= tolerance) return { ...session, clock: "utc" };
  const local = Math.abs(time - zone - receivedAt) <= tolerance || (time > receivedAt && zone > 0);
  return local ? { ...session, clock: "local" } : session;
}

/** Milliseconds to take from the time of an older message. */
export function clockOffset(session: Session): number {
  return session.clock === "local" ? (session.zone ?? 0) : 0;
}
