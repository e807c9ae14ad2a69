import type { DeviceKey } from "../model/device.ts";
import type { LocationStore } from "../ports/store.ts";
import type { Draft } from "./draft.ts";
import { startsApart, stretchRecords } from "./stretches.ts";

/** The largest part that is read ahead. A larger one is read when a batch plans the reports. */
export const mostReadAhead = 256;
/** Records behind the last late report, at which the totals mostly meet. */
const leastBehind = 2;
/** Records that are read behind reports in a gap of the history. */
const gapContext = 4;

/** What is to be read of a history to plan late reports: some records from a time on, and stretches further on. */
export interface Wanted {
  readonly time: number;
  /** How many records that is, without those of the stretches. */
  readonly limit: number;
  /** Where stretches begin, in the order of time. */
  readonly further?: readonly number[];
}

/**
 * Chooses what planning late reports reads first: all records between the first and the last report, and a few behind. If nothing lies between them, the few behind. If too much lies
 * between them, the reports lie far apart, and a stretch around each is read. `drafts` are in the order of time.
 */
export function wantedFor(
  store: Pick<LocationStore, "countAbout">,
  device: DeviceKey,
  drafts: readonly Draft[],
): Wanted {
  const [time, to] = [drafts[0]?.time ?? 0, drafts.at(-1)?.time ?? 0];
  const between = store.countAbout(device, time, to);
  const all = between === 0 ? Math.min(drafts.length, gapContext) : Math.max(drafts.length, between + leastBehind);
  if (all < mostReadAhead) return { time, limit: all };
  const starts = startsApart(msApart(store, device, drafts, between), time, drafts);
  const further = starts.slice(1);
  return further.length > 0 ? { time, limit: stretchRecords, further } : { time, limit: drafts.length };
}

/** Estimates the time between two stored records, ms. `between`: how many records lie between the first and the last draft. If that is infinity, the first half of the drafts is looked at, and half of these again. */
function msApart(
  store: Pick<LocationStore, "countAbout">,
  device: DeviceKey,
  drafts: readonly Draft[],
  between: number,
): number {
  const from = drafts[0]?.time ?? 0;
  let last = drafts.length - 1;
  let count = between;
  while (!Number.isFinite(count) && last > 0) {
    last >>= 1;
    count = store.countAbout(device, from, drafts[last]?.time ?? from);
  }
  return ((drafts[last]?.time ?? from) - from) / Math.max(1, count);
}
