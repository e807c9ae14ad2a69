/** 1,024 weeks: after so many the week number that GPS sends starts again at 0 (IS-GPS-200, 20.3.3.3.1.1). */
const rolloverMs = 1024 * 7 * 86_400_000;
/** A rolled-over clock is repaired only where that makes the time a recent one: a tracker's backlog is rarely older. */
const rolloverBacklogMs = 30 * 86_400_000;
/** No tracker of this kind reported before it; an older time is an unset clock. */
const earliest = Date.UTC(2000, 0, 1);

/** The event time to store, or why a clock can't be believed. */
export type EventTime = number | "future" | "past";

/**
 * Judges a tracker's clock against the time of arrival: repairs a GPS week rollover (receivers that count weeks modulo
 * 1,024 report a time 19.6 years back, or twice that), refuses what lies further in the future than `maxFutureMs`, and
 * what lies before the year 2000.
 */
export function eventTime(reported: number, receivedAt: number, maxFutureMs: number): EventTime {
  for (let rollovers = 1; rollovers <= 2; rollovers++) {
    const repaired = reported + rollovers * rolloverMs;
    if (repaired <= receivedAt + maxFutureMs && repaired > receivedAt - rolloverBacklogMs) return repaired;
  }
  if (!(reported <= receivedAt + maxFutureMs)) return "future";
  if (reported < earliest) return "past";
  return reported;
}
