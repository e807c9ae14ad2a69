import { addressGroup } from "../model/network.ts";
import { MinuteBudget } from "../shares/minute-budget.ts";

/**
 * Limits how often an address may name a device that it is not: a burst, and a number a minute. An attempt counts only
 * after it turns out to be wrong, so a fleet of any size may connect at once. Addresses of one IPv6 /64 count as one.
 */
export class Knocks {
  readonly #perMinute: number;
  readonly #budget: MinuteBudget<string>;

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
    this.#budget = new MinuteBudget(perMinute);
  }

  /** Whether the address may try. `tick`: seconds. */
  allows(address: string, tick: number): boolean {
    return this.#attempts(address, tick) >= 1;
  }

  /**
   * Whether it may try to be a device that was let in from there before: neighbours that were wrong leave that
   * possible.
   */
  allowsKnown(address: string, tick: number): boolean {
    return this.#attempts(address, tick) > -this.#perMinute;
  }

  /**
   * An attempt was wrong. Those that were under way at the same time are counted too, as debts of a minute's attempts
   * at most.
   */
  wrong(address: string, tick: number): void {
    this.#budget.spend(addressGroup(address), 1, tick * 1000);
  }

  #attempts(address: string, tick: number): number {
    return this.#budget.left(addressGroup(address), tick * 1000);
  }
}
