import { RecentMap } from "../shares/recent-map.ts";

/** What is left of a limit after a request. */
export interface Allowance {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Whole seconds until all of it is there again. */
  readonly resetSeconds: number;
}

const windowMs = 60_000;

interface Window {
  readonly began: number;
  count: number;
}

/**
 * So many requests in each minute for each key. The minute of a key begins with its first request. At most `capacity` keys are counted;
 * those that asked longest ago make room, and begin anew.
 */
export class RateLimit {
  readonly #windows: RecentMap<string | number, Window>;
  readonly #limit: number;
  /** `RateLimit-Policy` of this limit (draft-ietf-httpapi-ratelimit-headers-10). */
  readonly policy: string;
  readonly #name: string;

  constructor(name: string, limit: number, capacity: number) {
    this.#name = name;
    this.#limit = limit;
    this.#windows = new RecentMap(capacity);
    this.policy = `"${name}";q=${limit};w=${windowMs / 1000}`;
  }

  /** Counts one request. `now`: monotonic ms. */
  take(key: string | number, now: number): Allowance {
    let window = this.#windows.get(key);
    if (window === undefined || now - window.began >= windowMs) {
      window = { began: now, count: 0 };
      this.#windows.set(key, window);
    }
    window.count++;
    return {
      allowed: window.count <= this.#limit,
      remaining: Math.max(0, this.#limit - window.count),
      // From the time that has passed: the window's end as a clock time would be rounded, and could give a second too many.
      resetSeconds: Math.ceil((windowMs - (now - window.began)) / 1000),
    };
  }

  /** `RateLimit` of an allowance. */
  describe({ remaining, resetSeconds }: Allowance): string {
    return `"${this.#name}";r=${remaining};t=${resetSeconds}`;
  }
}
