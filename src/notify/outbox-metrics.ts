import type { NoticeChannel } from "../model/notice.ts";
import type { NoticeBacklog } from "../ports/alert-store.ts";
import type { Clock } from "../ports/clock.ts";
import type { Metrics } from "../ports/metrics.ts";

/** What became of a try of a notice. `retried`: it is tried again. */
export type TryOutcome = "sent" | "failed" | "suppressed" | "retried";

/** What the outbox shows in /metrics. */
export interface OutboxMetrics {
  count(channel: NoticeChannel, outcome: TryOutcome): void;
  /** How many wait, as last counted. */
  backlog: NoticeBacklog;
}

/** Registers them. */
export function outboxMetrics(metrics: Metrics, clock: Clock): OutboxMetrics {
  const total = metrics.counter("waybeam_notices_total", "Tries of notices by channel and what became of them.", [
    "channel",
    "outcome",
  ]);
  const shown: OutboxMetrics = {
    count: (channel, outcome) => total({ channel, outcome }).add(1),
    backlog: { queued: 0, oldest: undefined },
  };
  metrics.gauge("waybeam_notices_queued", "Notices that wait to be sent or for another try.", () => {
    return shown.backlog.queued;
  });
  metrics.gauge("waybeam_notices_oldest_seconds", "Age of the oldest notice that waits, s; 0: none does.", () => {
    const { oldest } = shown.backlog;
    return oldest === undefined ? 0 : Math.max(0, clock.now() - oldest) / 1000;
  });
  return shown;
}
