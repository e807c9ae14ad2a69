import { MinuteBudget } from "../shares/minute-budget.ts";

/**
 * Limits the notices that the rules of an account make: a burst, and a number a minute. Each is a row and a call, and
 * one report can make hundreds. Critical alerts may make a minute's number more, on credit: a rule that tells of
 * trifles must not use up what an SOS needs.
 */
export class NoticeRate {
  readonly #perMinute: number;
  readonly #budget: MinuteBudget<number>;

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
    this.#budget = new MinuteBudget(perMinute);
  }

  /** How many the account may make now, and how many where an alert is critical. `now`: monotonic ms. */
  left(account: number, now: number): { readonly notices: number; readonly critical: number } {
    const left = Math.floor(this.#budget.left(account, now));
    return { notices: Math.max(0, left), critical: left + this.#perMinute };
  }

  /**
   * These were committed. Critical alerts, and commits that were planned at the same time, may make more than was left.
   */
  made(account: number, notices: number, now: number): void {
    this.#budget.spend(account, notices, now);
  }
}
