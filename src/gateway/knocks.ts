import { addressGroup } from "../model/network.ts";
import { RecentMap } from "../shares/recent-map.ts";

/** Addresses that are counted at a time, some 100 bytes each; those not heard for longest begin anew. */
const mostAddresses = 10_000;

/** What an address has left, and when that was counted, s. */
interface Left {
  readonly attempts: number;
  readonly tick: number;
}

/**
 * Limits how often an address may name a device that it is not: a burst, and a number a minute. An attempt counts only after it turns out to be wrong, so
 * a fleet of any size may connect at once. Addresses of one IPv6 /64 count as one.
 */
export class Knocks {
  readonly #perMinute: number;
  readonly #left = new RecentMap<string, Left>(mostAddresses);

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Whether the address may try. `tick`: seconds. */
  allows(address: string, tick: number): boolean {
    return this.#attempts(addressGroup(address), tick) >= 1;
  }

  /** Whether it may try to be a device that was let in from there before: neighbours that were wrong leave that possible. */
  allowsKnown(address: string, tick: number): boolean {
    return this.#attempts(addressGroup(address), tick) > -this.#perMinute;
  }

  /** An attempt was wrong. Those that were under way at the same time are counted too, as debts of a minute's attempts at most. */
  wrong(address: string, tick: number): void {
    const key = addressGroup(address);
    this.#left.set(key, { attempts: Math.max(this.#attempts(key, tick) - 1, -this.#perMinute), tick });
  }

  #attempts(key: string, tick: number): number {
    const left = this.#left.get(key);
    if (left === undefined) return this.#perMinute;
    return Math.min(this.#perMinute, left.attempts + ((tick - left.tick) * this.#perMinute) / 60);
  }
}
