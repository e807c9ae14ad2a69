import type { Device } from "../model/device.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { DeviceStore } from "../ports/store.ts";

/** Tells of devices that expire, at the moment when they do. */
export interface Expiry {
  /** Watches from now on. Nothing in memory is older than the start, so what expired before it needs no telling. */
  start(): void;
  /** Ends it; what is under way is over when this resolves. */
  stop(): Promise<void>;
}

/** What the watch needs of the service. */
export interface ExpiryContext {
  readonly devices: Pick<DeviceStore, "nextExpiry" | "expiredBetween">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The longest that the watch sleeps, ms: a wall clock that was set forward is noticed so soon. It also keeps every
 * timer far below the 24.8 days that fit one.
 */
const longestSleepMs = 5000;
/**
 * Changes of devices come in thousands when a fleet is registered: the earliest expiry is asked for once for all that
 * come within this time, ms.
 */
const gatherMs = 100;
/** Time after which to try again while the store can't be asked, ms. */
const retryMs = 1000;
/**
 * Events told at a time: a fleet whose term ends at one midnight is let go in pieces, with room for other work between
 * them.
 */
const slice = 200;

/**
 * Publishes `deviceChanged` for each device that expires, at its moment: connections ask again and are closed, caches
 * let go. Nothing else is to be done: whether a device has expired is asked of the clock wherever it matters
 * (admission, lists, licences).
 *
 * The wall clock may be set. Forward: the devices whose moment was jumped over have expired, and are told of at the
 * next look. Back: those whose moment lies ahead again are told of too, so that whoever let go of them asks again; and
 * they expire once more.
 */
export class ExpiryWatch implements Expiry {
  readonly #context: ExpiryContext;
  /** What the wall clock showed since the last look: whoever heard of a device heard it at a moment between these. */
  #low = 0;
  #high = 0;
  /** The earliest expiry after the last look; undefined: none. Known only while not stale. */
  #next: number | undefined;
  #stale = true;
  #running = false;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(context: ExpiryContext) {
    this.#context = context;
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    const { bus, clock } = this.#context;
    this.#low = this.#high = clock.now();
    this.#unsubscribe = bus.subscribe((event) => {
      if (event.type === "deviceChanged") this.#changed(clock.now());
    });
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#running = false;
    this.#unsubscribe?.();
    clearTimeout(this.#timer);
    await this.#looking;
  }

  #changed(now: number): void {
    this.#see(now);
    if (this.#stale) return;
    this.#stale = true;
    if (this.#looking === undefined)
      this.#arm(this.#next === undefined ? gatherMs : Math.min(gatherMs, this.#next - now));
  }

  #see(time: number): void {
    this.#low = Math.min(this.#low, time);
    this.#high = Math.max(this.#high, time);
  }

  #arm(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#running) return;
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, Math.min(ms, longestSleepMs))).unref();
  }

  #wake(): void {
    this.#looking ??= this.#look()
      .catch((error: unknown) => {
        // Nothing is lost: what was to be told stays so.
        this.#context.log.warn({ error }, "expired devices could not be looked for; trying again");
        return retryMs;
      })
      .then((ms) => {
        this.#looking = undefined;
        this.#arm(ms);
      });
  }

  /** Tells what is due; gives the time until the next look, ms. */
  async #look(): Promise<number> {
    const { devices, bus, clock } = this.#context;
    const now = clock.now();
    this.#see(now);
    const [since, until] = [this.#low, this.#high];
    this.#low = this.#high = now;
    if (this.#stale || now < until || (this.#next !== undefined && this.#next <= now)) {
      // Before asking, so that a change meanwhile is asked for again.
      this.#stale = false;
      try {
        await tell(bus, await devices.expiredBetween(since, until));
        this.#next = await devices.nextExpiry(now);
      } catch (error) {
        this.#see(since);
        this.#see(until);
        this.#stale = true;
        throw error;
      }
    }
    const left = this.#next === undefined ? longestSleepMs : this.#next - clock.now();
    return this.#stale ? Math.min(left, gatherMs) : left;
  }
}

async function tell(bus: Bus, passed: readonly Device[]): Promise<void> {
  for (const [index, { accountKey, key, id }] of passed.entries()) {
    if (index % slice === slice - 1) await new Promise((resolve) => setImmediate(resolve));
    // Each process watches for itself.
    bus.publish({ type: "deviceChanged", accountKey, key, id }, "here");
  }
}
