import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import { RecentMap } from "./recent-map.ts";

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

/** What a limit needs that counts what all processes of the service are asked. */
export interface Shared {
  readonly bus: Pick<Bus, "publish" | "subscribe">;
  readonly clock: Pick<Clock, "monotonic">;
  /** What the processes call it. */
  readonly as: string;
}

/**
 * So many requests in each minute, or other window, for each key. The window of a key begins with its first request. At
 * most `capacity` keys are counted; those that asked longest ago make room, and begin anew. It counts what this process
 * is asked; where it is `shared`, what all are: each tells the others what it let pass.
 */
export class RateLimit {
  readonly #windows: RecentMap<string | number, Window>;
  readonly #limit: number;
  /** `RateLimit-Policy` of this limit (draft-ietf-httpapi-ratelimit-headers-10). */
  readonly policy: string;
  readonly #name: string;
  readonly #windowMs: number;
  readonly #shared: Shared | undefined;

  constructor(name: string, limit: number, capacity: number, windowMs = minuteMs, shared?: Shared) {
    this.#name = name;
    this.#windowMs = windowMs;
    this.#limit = limit;
    this.#windows = new RecentMap(capacity);
    this.policy = `"${name}";q=${limit};w=${windowMs / 1000}`;
    this.#shared = shared;
    shared?.bus.subscribe((event, from) => {
      if (event.type !== "counted" || event.limit !== shared.as || from === undefined) return;
      const window = this.#windowOf(event.key, shared.clock.monotonic());
      window.count = Math.max(0, window.count + event.count);
    });
  }

  /** Counts one request. `now`: monotonic ms. */
  take(key: string | number, now: number): Allowance {
    const window = this.#windowOf(key, now);
    window.count++;
    const allowed = window.count <= this.#limit;
    if (allowed) this.#tell(key, 1);
    return {
      allowed,
      remaining: Math.max(0, this.#limit - window.count),
      // From the time that has passed: the window's end as a clock time would be rounded, and could give a second too
      // many.
      resetSeconds: Math.ceil((this.#windowMs - (now - window.began)) / 1000),
    };
  }

  /** Takes back one request of the present window: it is not of the kind that is limited. */
  giveBack(key: string | number): void {
    this.#takeBack(key, 1);
  }

  /** Takes back all of the present window. */
  clear(key: string | number): void {
    this.#takeBack(key, this.#windows.get(key)?.count ?? 0);
  }

  /** `RateLimit` of an allowance. */
  describe({ remaining, resetSeconds }: Allowance): string {
    return `"${this.#name}";r=${remaining};t=${resetSeconds}`;
  }

  #windowOf(key: string | number, now: number): Window {
    const present = this.#windows.get(key);
    if (present !== undefined && now - present.began < this.#windowMs) return present;
    const window = { began: now, count: 0 };
    this.#windows.set(key, window);
    return window;
  }

  #takeBack(key: string | number, count: number): void {
    const window = this.#windows.get(key);
    if (window === undefined || window.count < count || count === 0) return;
    window.count -= count;
    this.#tell(key, -count);
  }

  #tell(key: string | number, count: number): void {
    const { bus, as } = this.#shared ?? {};
    if (as !== undefined) bus?.publish({ type: "counted", limit: as, key: String(key), count });
  }
}
