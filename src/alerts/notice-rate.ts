import { RecentMap } from "../shares/recent-map.ts";

/** Accounts that are counted at a time, some 100 bytes each; those that made no notice for longest begin anew. */
const mostAccounts = 10_000;

/** What an account may still make, and when that was counted, monotonic ms. */
interface Left {
  readonly notices: number;
  readonly at: number;
}

/**
 * Limits the notices that the rules of an account make: a burst, and a number a minute. Each is a row and a call, and one report can make hundreds.
 * Critical alerts may make a minute's number more, on credit: a rule that tells of trifles must not use up what an SOS needs.
 */
export class NoticeRate {
  readonly #perMinute: number;
  readonly #left = new RecentMap<number, Left>(mostAccounts);

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** How many the account may make now, and how many where an alert is critical. */
  left(account: number, now: number): { readonly notices: number; readonly critical: number } {
    const left = Math.floor(this.#count(account, now));
    return { notices: Math.max(0, left), critical: left + this.#perMinute };
  }

  /** These were committed. Critical alerts, and commits that were planned at the same time, may make more than was left: that is a debt of a minute at most. */
  made(account: number, notices: number, now: number): void {
    const left = Math.max(this.#count(account, now) - notices, -this.#perMinute);
    this.#left.set(account, { notices: left, at: now });
  }

  #count(account: number, now: number): number {
    const left = this.#left.get(account);
    if (left === undefined) return this.#perMinute;
    const since = now - left.at;
    return Math.min(this.#perMinute, left.notices + (since * this.#perMinute) / 60_000);
  }
}
