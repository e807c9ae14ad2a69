import type { DeviceKey } from "../model/device.ts";
import type { Clock } from "../ports/clock.ts";
import type { Heads } from "../ports/follow.ts";
import type { Log } from "../ports/log.ts";
import { StoreUnavailable } from "../ports/store.ts";
import type { IngestMetrics } from "./metrics.ts";
import type { OwnClock } from "./own-clock.ts";
import type { PendingDevice } from "./pending.ts";

/** A report older than this shows that our clock may be fast, or is of a backlog. */
const longAgoMs = 24 * 3_600_000;
/**
 * The clock was set since a report came, or it waited long: it is heard no more of our clock. From the future, it is
 * not acknowledged and judged anew when it comes again.
 */
const staleMs = 60_000;
const clockTexts = {
  right: "most devices agree with our clock again",
  slow: "our own clock seems to be slow: most devices seem to be in the future. What they report is not acknowledged; set the clock right",
  fast: "our own clock seems to be fast: most devices report of more than a day ago. Set the clock right, unless they send a backlog",
} as const;

/** What judging our clock works with. */
export interface ClockJudgeDeps {
  readonly clock: Clock;
  readonly ownClock: OwnClock;
  readonly log: Log;
  readonly metrics: Pick<IngestMetrics, "withheld">;
  readonly heads: Heads;
}

/**
 * Hears what devices say of our clock. Where that may be wrong, what comes from the future is not acknowledged, so that
 * the trackers keep it.
 */
export async function judgeClock(
  devices: readonly PendingDevice[],
  { clock, ownClock, log, metrics, heads }: ClockJudgeDeps,
): Promise<void> {
  const { hears } = ownClock;
  let told: PendingDevice[] | undefined;
  // A usual report costs two comparisons: only what is far from our time tells of our clock, or what contradicts that.
  for (const pending of devices) {
    const { newest } = pending;
    if (pending.isAhead || (newest > Number.NEGATIVE_INFINITY && (hears || newest < -longAgoMs))) {
      told ??= [];
      told.push(pending);
    }
  }
  if (told === undefined) return;
  const before = ownClock.standing;
  const known = await withHistory(told, heads, ownClock);
  // In this order, after all that waits: what came before the clock was set is heard no more.
  ownClock.look();
  const wall = clock.now();
  const ahead: PendingDevice[] = [];
  for (const pending of told) {
    const { key, accountKey } = pending.device;
    if (pending.isAhead) ahead.push(pending);
    if (Math.abs(wall - pending.toldAt) > staleMs) continue;
    const sight = pending.isAhead ? "ahead" : pending.newest < -longAgoMs ? "behind" : "near";
    ownClock.saw(key, accountKey, sight, known.has(key));
  }
  ownClock.judge();
  const { standing } = ownClock;
  if (standing !== before) log[standing === "right" ? "info" : "error"]({ clock: standing }, clockTexts[standing]);
  for (const pending of ahead) {
    const isStale = Math.abs(wall - pending.toldAt) > staleMs;
    if (!isStale && !ownClock.withholds(known.has(pending.device.key))) continue;
    const failed = (error: unknown) => log.error({ error, device: pending.device.id }, "an answer could not be given");
    metrics.withheld.add(pending.withhold(failed));
  }
}

/**
 * Which of those that are far from our time have reported what was believed before. This alone reads, mostly in memory,
 * and only where the clock is in doubt. A device whose head can't be read now has one: reports of it from the future
 * are kept by their tracker, and all others are appended.
 */
async function withHistory(
  devices: readonly PendingDevice[],
  heads: Heads,
  ownClock: OwnClock,
): Promise<ReadonlySet<DeviceKey>> {
  const known = new Set<DeviceKey>();
  const look = async ({ device: { key, accountKey } }: PendingDevice) => {
    try {
      if (ownClock.knows(key, accountKey) || (await heads.head(key))?.newest !== undefined) known.add(key);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      known.add(key);
    }
  };
  await Promise.all(devices.filter(({ isAhead, newest }) => isAhead || newest < -longAgoMs).map(look));
  return known;
}
