import { addressGroup } from "../model/network.ts";

/** Addresses that are counted at a time, some 100 bytes each; those not heard for longest make room. */
const mostAddresses = 10_000;

/** What an address has left, and when that was counted, s. */
interface Left {
  attempts: number;
  tick: number;
}

/**
 * How often an address may say that it is a device and be wrong: so many at once, and so many a minute. Attempts that turn out to be right don't count.
 * Addresses of one IPv6 /64 are one.
 */
export class Knocks {
  readonly #perMinute: number;
  /** In the order in which they were last heard; an address that has all its attempts is not kept. */
  readonly #left = new Map<string, Left>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Takes one attempt; false: none is left. `tick`: seconds. */
  take(address: string, tick: number): boolean {
    const key = addressGroup(address);
    const left = this.#now(key, tick);
    if (left.attempts < 1) return false;
    left.attempts--;
    this.#left.set(key, left);
    if (this.#left.size > mostAddresses) this.#forgetOldest();
    return true;
  }

  /** The attempt was right, or nobody could say. */
  giveBack(address: string, tick: number): void {
    const key = addressGroup(address);
    const left = this.#now(key, tick);
    left.attempts++;
    if (left.attempts < this.#perMinute) this.#left.set(key, left);
  }

  #forgetOldest(): void {
    for (const oldest of this.#left.keys()) {
      this.#left.delete(oldest);
      return;
    }
  }

  /** What the address has now; taken out, so that putting it back makes it the newest. */
  #now(key: string, tick: number): Left {
    const left = this.#left.get(key) ?? { attempts: this.#perMinute, tick };
    this.#left.delete(key);
    left.attempts = Math.min(this.#perMinute, left.attempts + ((tick - left.tick) * this.#perMinute) / 60);
    left.tick = tick;
    if (left.attempts < 1) this.#left.set(key, left);
    return left;
  }
}
