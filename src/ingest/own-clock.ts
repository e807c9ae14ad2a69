import type { DeviceKey } from "../model/device.ts";
import type { Clock, ClockTrust } from "../ports/clock.ts";

/** What a device's newest report says of our clock: it lies in our future, near our time, or long before it. */
export type Sight = "ahead" | "near" | "behind";

/** What our clock seems to be, by most of those that report. */
export type Standing = "right" | "slow" | "fast";

/** For how long votes count: most trackers report within this time. */
const windowMs = 10 * 60_000;
/** Accounts whose devices were asked for within it are known to be there, though they may be silent now. */
const activeMs = 24 * 3_600_000;
/** For how long after a start a single account brings no verdict: the others are not known yet. */
const graceMs = windowMs;
/** So few devices may be wrong by themselves. */
const fewestDevices = 3;
/** Votes of one account; its devices beyond that change no majority, and a greedy account fills no memory. */
const mostPerAccount = 200;
/**
 * The wall clock was set where it moves against the one that never goes back by more than this: votes from before say
 * nothing any more.
 */
const setMs = 60_000;
/**
 * Once somebody agreed with our clock, those who agree are heard for this time before the others may outvote them;
 * again while there are others.
 */
const hearingMs = 10_000;
const hearAgainMs = windowMs / 2;
/**
 * Reports that nobody confirms or contradicts wait for this time; then they are refused as ever, so that a tracker
 * which is wrong alone can go on.
 */
const mostUnsureMs = 3_600_000;
/** If no device has spoken for or against our clock for this time, what is old by our clock is deleted. */
const mostSilentMs = 7 * 24 * 3_600_000;

/**
 * So many times as long as counting the votes took, they are not counted again: those of many accounts take
 * milliseconds, and each append may ask for it.
 */
const restTimes = 9;

interface Vote {
  readonly sight: Sight;
  /** It has reported what was believed before. */
  readonly known: boolean;
  readonly at: number;
}

interface Count {
  ahead: number;
  behind: number;
  near: number;
}

/**
 * Judges our own clock by the devices'. Each device has the vote of its last report, each account one voice, that of
 * most of its devices; devices that were fine before count alone where there are some. So neither ten wrong trackers of
 * one account nor thousands of invented reports outvote the others. All times in here are of the clock that never goes
 * back.
 */
export class OwnClock implements ClockTrust {
  standing: Standing = "right";
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #votes = new Map<number, Map<DeviceKey, Vote>>();
  readonly #active = new Map<number, number>();
  /** The wall clock against the other one, ms. */
  #offset: number;
  /** A device was near our time since the start, or since the clock was set. */
  #confirmed = false;
  /** Since then something said that our clock may be fast: it was set forward, or a device reported of long ago. */
  #maybeFast = false;
  /** When it was started or set, or a device last reported of long ago. */
  #doubtedAt: number;
  #hearingSince = Number.NEGATIVE_INFINITY;
  /** When most last reported of long ago. */
  #fastAt = Number.NEGATIVE_INFINITY;
  #unsureSince: number | undefined;
  /** When the votes are counted next at the earliest. */
  #countAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = this.#doubtedAt = clock.monotonic();
    this.#offset = clock.now() - this.#startedAt;
  }

  /** Whether it is to hear of reports near our time too; the others it always hears of. */
  get hears(): boolean {
    return this.standing !== "right" || !this.#confirmed || this.#clock.monotonic() - this.#hearingSince < hearingMs;
  }

  /** An account has devices that report. */
  active(account: number): void {
    this.#active.set(account, this.#clock.monotonic());
  }

  /** Compares the two clocks: was ours set, all that was known of it is void. */
  look(): void {
    const now = this.#clock.monotonic();
    const moved = this.#clock.now() - now - this.#offset;
    this.#offset += moved;
    if (Math.abs(moved) < setMs) return;
    this.#votes.clear();
    this.#fastAt = Number.NEGATIVE_INFINITY;
    this.#unsureSince = undefined;
    this.#confirmed = false;
    this.#maybeFast ||= moved > 0;
    this.#doubtedAt = now;
  }

  /** Whether it was told of the device of late that it has a history. */
  knows(device: DeviceKey, account: number): boolean {
    return this.#votes.get(account)?.get(device)?.known === true;
  }

  /** A device reported. `known`: it has a history. */
  saw(device: DeviceKey, account: number, sight: Sight, known: boolean): void {
    const now = this.#clock.monotonic();
    const votes = this.#votes.get(account) ?? new Map<DeviceKey, Vote>();
    this.#votes.set(account, votes);
    votes.delete(device);
    votes.set(device, { sight, known: known || sight === "near", at: now });
    const [oldest] = votes.keys();
    if (votes.size > mostPerAccount && oldest !== undefined) votes.delete(oldest);
    if (sight === "near") {
      this.#confirmed = true;
      this.#maybeFast = false;
      this.#unsureSince = undefined;
      return;
    }
    if (now - this.#hearingSince > hearAgainMs) this.#hearingSince = now;
    if (sight === "behind") this.#doubtedAt = now;
    if (this.#confirmed) return;
    if (sight === "behind") this.#maybeFast = true;
    else this.#unsureSince ??= now;
  }

  /** Counts the votes, unless that was done a moment ago. */
  judge(): void {
    const now = this.#clock.monotonic();
    if (now < this.#countAt) return;
    this.#count(now);
    const counted = this.#clock.monotonic();
    this.#countAt = counted + (counted - now) * restTimes;
  }

  #count(now: number): void {
    const accounts: Count = { ahead: 0, behind: 0, near: 0 };
    const devices: Count = { ahead: 0, behind: 0, near: 0 };
    for (const [account, votes] of this.#votes) {
      const count = countOf(votes, now);
      if (votes.size === 0) this.#votes.delete(account);
      const { ahead, behind, near } = count;
      devices.ahead += ahead;
      devices.behind += behind;
      devices.near += near;
      if (ahead > near + behind) accounts.ahead++;
      else if (behind > near + ahead) accounts.behind++;
      else if (near > 0) accounts.near++;
    }
    const alone = this.#activeAccounts(now) < 2 && now - this.#startedAt >= graceMs;
    const most = (one: "ahead" | "behind", other: "ahead" | "behind") =>
      devices[one] >= fewestDevices &&
      accounts[one] >= (alone ? 1 : 2) &&
      accounts[one] > accounts.near + accounts[other];
    const heard = !this.#confirmed || now - this.#hearingSince >= hearingMs;
    if (heard && most("ahead", "behind")) this.standing = "slow";
    else if (heard && most("behind", "ahead")) {
      this.standing = "fast";
      this.#fastAt = now;
    } else if (devices.near > 0 && accounts.near >= accounts.ahead && accounts.near >= accounts.behind) {
      // Among a backlog's reports a majority comes and goes.
      if (this.standing !== "fast" || now - this.#fastAt >= windowMs) this.standing = "right";
    }
  }

  /**
   * Whether a report from the future is not to be acknowledged: it may be our clock that is wrong. `known`: see `saw`.
   */
  withholds(known: boolean): boolean {
    if (this.standing === "slow") return true;
    const now = this.#clock.monotonic();
    if (this.#unsureSince === undefined || now - this.#unsureSince >= mostUnsureMs) return false;
    return known || now - this.#startedAt < graceMs;
  }

  /** Whether what is old by our clock may be deleted: a device has confirmed it, or for a week nobody contradicted. */
  mayDelete(): boolean {
    this.look();
    return (this.#confirmed && this.standing !== "fast") || this.#isSilent;
  }

  /** Whether what has run out by our clock may be ended: nothing says that it is fast. */
  mayExpire(): boolean {
    this.look();
    return (!this.#maybeFast && this.standing !== "fast") || this.#isSilent;
  }

  get #isSilent(): boolean {
    return this.#clock.monotonic() - this.#doubtedAt >= mostSilentMs;
  }

  #activeAccounts(now: number): number {
    for (const [account, at] of this.#active) if (now - at > activeMs) this.#active.delete(account);
    return this.#active.size;
  }
}

/** Votes of one account; those that are too old are forgotten. */
function countOf(votes: Map<DeviceKey, Vote>, now: number): Count {
  const all: Count = { ahead: 0, behind: 0, near: 0 };
  const known: Count = { ahead: 0, behind: 0, near: 0 };
  for (const [device, vote] of votes) {
    if (now - vote.at > windowMs) {
      votes.delete(device);
      continue;
    }
    all[vote.sight]++;
    if (vote.known) known[vote.sight]++;
  }
  return known.ahead + known.behind + known.near > 0 ? known : all;
}
