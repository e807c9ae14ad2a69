import { RecentMap } from "../shares/recent-map.ts";

/** What is left of a limit after a request. */
export interface Allowance {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Whole seconds until all of it is there again. */
  readonly resetSeconds: number;
}

const minuteMs = 60_000;

interface Window {
  readonly began: number;
  count: number;
}

/**
 * So many requests in each minute, or other window, for each key. The window of a key begins with its first request. At most `capacity` keys are counted;
 * those that asked longest ago make room, and begin anew.
 */
export class RateLimit {
  readonly #windows: RecentMap<string | number, Window>;
  readonly #limit: number;
  /** `RateLimit-Policy` of this limit (draft-ietf-httpapi-ratelimit-headers-10). */
  readonly policy: string;
  readonly #name: string;
  readonly #windowMs: number;

  constructor(name: string, limit: number, capacity: number, windowMs = minuteMs) {
    this.#name = name;
    this.#windowMs = windowMs;
    this.#limit = limit;
    this.#windows = new RecentMap(capacity);
    this.policy = `"${name}";q=${limit};w=${windowMs / 1000}`;
  }

  /** Counts one request. `now`: monotonic ms. */
  take(key: string | number, now: number): Allowance {
    let window = this.#windows.get(key);
    if (window === undefined || now - window.began >= this.#windowMs) {
      window = { began: now, count: 0 };
      this.#windows.set(key, window);
    }
    window.count++;
    return {
      allowed: window.count <= this.#limit,
      remaining: Math.max(0, this.#limit - window.count),
      // From the time that has passed: the window's end as a clock time would be rounded, and could give a second too many.
      resetSeconds: Math.ceil((this.#windowMs - (now - window.began)) / 1000),
    };
  }

  /** Takes back one request of the present window: it is not of the kind that is limited. */
  giveBack(key: string | number): void {
    const window = this.#windows.get(key);
    if (window !== undefined && window.count > 0) window.count--;
  }

  /** `RateLimit` of an allowance. */
  describe({ remaining, resetSeconds }: Allowance): string {
    return `"${this.#name}";r=${remaining};t=${resetSeconds}`;
  }
}
