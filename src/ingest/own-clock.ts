import type { DeviceKey } from "../model/device.ts";

/** What a device's newest report says of our clock: it lies in our future, near our time, or long before it. */
export type Sight = "ahead" | "near" | "behind";

/** What our clock seems to be, by most of those that report. */
export type Standing = "right" | "slow" | "fast";

/** Votes count for so long: most trackers report within it. */
const windowMs = 10 * 60_000;
/** Accounts that reported within it are known to be there, though they may be silent now. */
const activeMs = 24 * 3_600_000;
/** So few devices may be wrong by themselves. */
const fewestDevices = 3;
/** Votes of one account: its devices beyond that change no majority, and a greedy account fills no memory. */
const mostPerAccount = 200;
/** The wall clock was set where it moves against the one that never goes back by more than this: votes from before say nothing any more. */
const setMs = 60_000;
/** One device whose reports nobody confirms or contradicts keeps them for so long; then they are refused as ever, so that its tracker can go on. */
const mostUnsureMs = 3_600_000;

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
 * Judges our own clock by the devices'. Each device has the vote of its last report, each account one voice, that of most of its devices; devices that were fine before count
 * alone where there are some. So neither ten wrong trackers of one account nor thousands of invented reports outvote the others. Pure but for what it remembers;
 * times are of the clock that never goes back, but for `wall`.
 */
export class OwnClock {
  standing: Standing = "right";
  readonly #votes = new Map<number, Map<DeviceKey, Vote>>();
  readonly #active = new Map<number, number>();
  #offset = Number.NaN;
  #unsureSince: number | undefined;

  /** Whether it must hear of reports near our time too: nobody has contradicted those that are not. */
  get open(): boolean {
    return this.standing !== "right" || this.#unsureSince !== undefined;
  }

  /** An account reports. */
  active(account: number, now: number): void {
    this.#active.set(account, now);
  }

  /** A device reported. `known`: it has a history. */
  saw(device: DeviceKey, account: number, sight: Sight, known: boolean, now: number, wall: number): void {
    const offset = wall - now;
    if (!(Math.abs(offset - this.#offset) < setMs)) {
      this.#votes.clear();
      this.#unsureSince = undefined;
    }
    this.#offset = offset;
    const votes = this.#votes.get(account) ?? new Map<DeviceKey, Vote>();
    this.#votes.set(account, votes);
    votes.delete(device);
    votes.set(device, { sight, known: known || sight === "near", at: now });
    const [oldest] = votes.keys();
    if (votes.size > mostPerAccount && oldest !== undefined) votes.delete(oldest);
    this.#judge(now);
  }

  /** Whether a report from the future is not to be acknowledged: it may be our clock that is wrong. `known`: see `saw`. */
  withholds(known: boolean, now: number): boolean {
    if (this.standing === "slow") return true;
    return known && this.#unsureSince !== undefined && now - this.#unsureSince < mostUnsureMs;
  }

  #judge(now: number): void {
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
    const needed = this.#activeAccounts(now) > 1 ? 2 : 1;
    if (devices.ahead >= fewestDevices && accounts.ahead >= needed && accounts.ahead > accounts.near + accounts.behind)
      this.standing = "slow";
    else if (
      devices.behind >= fewestDevices &&
      accounts.behind >= needed &&
      accounts.behind > accounts.near + accounts.ahead
    )
      this.standing = "fast";
    else if (devices.near > 0 && accounts.near >= accounts.ahead && accounts.near >= accounts.behind)
      this.standing = "right";
    // Somebody near our time contradicts; what two say who disagree is settled by the majority above.
    if (devices.ahead === 0 || devices.near > 0) this.#unsureSince = undefined;
    else this.#unsureSince ??= now;
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
