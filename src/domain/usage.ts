import type { Bus } from "../ports/bus.ts";
import type { Log } from "../ports/log.ts";
import type { UserStore } from "../ports/store.ts";
import { Tally } from "./tally.ts";

/** Requests of users and results read from devices: counted in memory, stored once a second and at the end. */
export interface Usage {
  readonly requests: Tally;
  readonly results: Tally;
  /** Stores what is not stored yet. A failure is logged and the counts are kept for the next time. */
  flush(): Promise<void>;
  /** Stores every second from now on. */
  start(): void;
  /** Stores a last time. */
  stop(): Promise<void>;
}

/** A process that is killed loses at most the counts of this time, ms. */
const flushEveryMs = 1000;

/** The counters over their store. Nothing is written before `start`. */
export function createUsage(users: UserStore, bus: Pick<Bus, "subscribe">, log: Log): Usage {
  let others = 0;
  bus.subscribe((event) => {
    if (event.type === "processesChanged") others += event.came.length - event.missed.length;
  });
  let flushing: Promise<void> | undefined;
  const isShared = () => others > 0;
  const requests = new Tally((key, day) => users.usage(key, day), { isShared });
  const load = async (key: number, day: string) => ({ total: 0, daily: await users.results(key, day) });
  const results = new Tally(load, { isShared });
  let timer: NodeJS.Timeout | undefined;

  async function write(): Promise<void> {
    const byUser = requests.drain();
    const byDevice = results.drain();
    if (byUser.length === 0 && byDevice.length === 0) return;
    try {
      await users.addUsage(
        byUser.map(({ key, day, count }) => ({ userKey: key, day, requests: count })),
        byDevice.map(({ key, day, count }) => ({ device: key, day, results: count })),
      );
      requests.stored(byUser);
      results.stored(byDevice);
      requests.trim();
      results.trim();
    } catch (error) {
      requests.restore(byUser);
      results.restore(byDevice);
      log.warn({ error }, "usage counters could not be stored; they are kept and tried again");
    }
  }

  async function flush(): Promise<void> {
    while (flushing !== undefined) await flushing;
    flushing = write().finally(() => {
      flushing = undefined;
    });
    await flushing;
  }

  return {
    requests,
    results,
    flush,
    start() {
      timer ??= setInterval(() => {
        if (flushing === undefined) void flush();
      }, flushEveryMs).unref();
    },
    async stop() {
      clearInterval(timer);
      timer = undefined;
      await flush();
    },
  };
}
