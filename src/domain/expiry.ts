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
 * The longest that the watch sleeps, ms: a wall clock that was set forward is noticed so soon. It also keeps every timer far below the 24.8
 * days that fit one.
 */
const longestSleepMs = 5000;
/** Changes of devices come in thousands when a fleet is registered: the earliest expiry is asked for once for all that come within this time, ms. */
const gatherMs = 100;
/** Time after which to try again while the store can't be asked, ms. */
const retryMs = 1000;
/** Events told at a time: a fleet whose term ends at one midnight is let go in pieces, with room for other work between them. */
const slice = 200;

/**
 * Publishes `deviceChanged` for each device that expires, at its moment: connections ask again and are closed, caches let go. Nothing else is to be
 * done: whether a device has expired is asked of the clock wherever it matters (admission, lists, licences).
 *
 * The wall clock may be set. Forward: the devices whose moment was jumped over have expired, and are told of at the next look. Back: those whose
 * moment lies ahead again are told of too, so that whoever let go of them asks again; and they expire once more.
 */
export function createExpiry({ devices, bus, clock, log }: ExpiryContext, sleepMs = longestSleepMs): Expiry {
  /** Everything up to this moment (wall clock) has been told. */
  let told = 0;
  /** The earliest expiry after `told`; undefined: none. Known only while not `stale`. */
  let next: number | undefined;
  let stale = true;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let running = false;
  let unsubscribe: (() => void) | undefined;

  function arm(ms: number): void {
    clearTimeout(timer);
    if (running) timer = setTimeout(wake, Math.max(1, Math.min(ms, sleepMs))).unref();
  }

  function wake(): void {
    looking ??= look()
      .catch((error: unknown) => {
        // Nothing is lost: `told` stays where it was.
        log.warn({ error }, "expired devices could not be looked for; trying again");
        return retryMs;
      })
      .then((ms) => {
        looking = undefined;
        arm(ms);
      });
  }

  /** Tells what is due; gives the time until the next look, ms. */
  async function look(): Promise<number> {
    const now = clock.now();
    if (stale || now < told || (next !== undefined && next <= now)) {
      // Before asking, so that a change meanwhile is asked for again.
      stale = false;
      try {
        await tell(bus, await devices.expiredBetween(Math.min(told, now), Math.max(told, now)));
        told = now;
        next = await devices.nextExpiry(now);
      } catch (error) {
        stale = true;
        throw error;
      }
    }
    told = now;
    const left = next === undefined ? sleepMs : next - clock.now();
    return stale ? Math.min(left, gatherMs) : left;
  }

  return {
    start() {
      if (running) return;
      running = true;
      told = clock.now();
      unsubscribe = bus.subscribe((event) => {
        if (event.type !== "deviceChanged" || stale) return;
        stale = true;
        if (looking === undefined) arm(Math.min(gatherMs, next === undefined ? gatherMs : next - clock.now()));
      });
      wake();
    },
    async stop() {
      running = false;
      unsubscribe?.();
      clearTimeout(timer);
      await looking;
    },
  };
}

async function tell(bus: Bus, passed: readonly Device[]): Promise<void> {
  for (const [index, { key, id }] of passed.entries()) {
    if (index % slice === slice - 1) await new Promise((resolve) => setImmediate(resolve));
    bus.publish({ type: "deviceChanged", key, id });
  }
}
