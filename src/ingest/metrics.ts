import type { Counter, Histogram, Metrics } from "../ports/metrics.ts";
import type { OwnClock } from "./own-clock.ts";

/** What ingest counts. */
export interface IngestMetrics {
  readonly batchMessages: Histogram;
  readonly batchReports: Histogram;
  readonly appendSeconds: Histogram;
  readonly appended: Counter;
  readonly repeats: Counter;
  readonly refusedReports: Counter;
  readonly withheld: Counter;
  readonly droppedValues: Counter;
  readonly failed: Counter;
  readonly unavailable: Counter;
}

const sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000];
const seconds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/** Registers ingest's families. */
export function ingestMetrics(metrics: Metrics): IngestMetrics {
  const counter = (name: string, help: string) => metrics.counter(name, help, [])({});
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    metrics.histogram(name, help, [], buckets)({});
  return {
    batchMessages: histogram("waybeam_ingest_batch_messages", "Messages in one batch.", sizes),
    batchReports: histogram("waybeam_ingest_batch_reports", "Reports in one batch.", sizes),
    appendSeconds: histogram("waybeam_ingest_append_seconds", "Time of one durable append.", seconds),
    appended: counter(
      "waybeam_ingest_positions_appended_total",
      "Positions appended; repeats that came later than the last few positions of their device are among them, and are dropped where positions are read.",
    ),
    repeats: counter("waybeam_ingest_repeats_total", "Reports dropped because the same one was appended just before."),
    refusedReports: counter(
      "waybeam_ingest_reports_refused_total",
      "Reports whose clock or position can't be right, kept as evidence.",
    ),
    withheld: counter(
      "waybeam_ingest_reports_withheld_total",
      "Reports from the future that were not acknowledged, since our own clock may be wrong.",
    ),
    droppedValues: counter(
      "waybeam_ingest_values_dropped_total",
      "Values of reports that were not kept: numbers that are not finite or too large to be exact, texts that are too long, values beyond the most of one report.",
    ),
    failed: counter(
      "waybeam_ingest_messages_failed_total",
      "Messages that could not be appended and were not acknowledged.",
    ),
    unavailable: counter(
      "waybeam_ingest_store_unavailable_total",
      "Appends that failed because the store was unavailable, and tries of the store meanwhile that failed too.",
    ),
  };
}

/** What is measured of ingest. */
export interface Measured {
  /** Reports that wait or are being appended, and their bytes. */
  readonly waiting: { readonly reports: number; readonly bytes: number };
  readonly stalledSeconds: number;
  readonly ownClock: Pick<OwnClock, "standing">;
}

/** Registers the metrics of what waits for an append. */
export function measureIngest(metrics: Metrics, ingest: Measured): void {
  metrics.gauge(
    "waybeam_ingest_reports_waiting",
    "Reports that wait for an append or are in one.",
    () => ingest.waiting.reports,
  );
  metrics.gauge(
    "waybeam_ingest_waiting_bytes",
    "Memory of reports that wait for an append or are in one (an estimate).",
    () => ingest.waiting.bytes,
  );
  metrics.gauge(
    "waybeam_ingest_stalled_seconds",
    "Time since the last append while reports wait for one; 0: none wait.",
    () => ingest.stalledSeconds,
  );
  metrics.gauge(
    "waybeam_own_clock_doubted",
    "1: our own clock seems to be slow, -1: fast, 0: right, by what most devices report.",
    () => ({ right: 0, slow: 1, fast: -1 })[ingest.ownClock.standing],
  );
}
