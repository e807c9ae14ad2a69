import type { Counter, Histogram, Metrics } from "../ports/metrics.ts";

/** What ingest counts. */
export interface IngestMetrics {
  readonly batchMessages: Histogram;
  readonly batchReports: Histogram;
  readonly commitSeconds: Histogram;
  readonly stored: Counter;
  readonly repeats: Counter;
  readonly oldReports: Counter;
  readonly deleted: Counter;
  readonly refusedReports: Counter;
  readonly withheld: Counter;
  readonly droppedValues: Counter;
  readonly conflicts: Counter;
  readonly failed: Counter;
  readonly judgeFailures: Counter;
  readonly unavailable: Counter;
  readonly setAside: Counter;
}

const sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000];
const seconds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/** Registers ingest's families. */
export function ingestMetrics(metrics: Metrics): IngestMetrics {
  const counter = (name: string, help: string) => metrics.counter(name, help, [])({});
  return {
    batchMessages: metrics.histogram("waybeam_ingest_batch_messages", "Messages in one batch.", [], sizes)({}),
    batchReports: metrics.histogram(
      "waybeam_ingest_batch_reports",
      "Reports in one batch; late ones may be left over for the next.",
      [],
      sizes,
    )({}),
    commitSeconds: metrics.histogram("waybeam_ingest_commit_seconds", "Time of one durable commit.", [], seconds)({}),
    stored: counter("waybeam_ingest_locations_stored_total", "Locations committed."),
    repeats: counter("waybeam_ingest_repeats_total", "Reports dropped because the same one is stored already."),
    oldReports: counter(
      "waybeam_ingest_reports_too_old_total",
      "Reports that were acknowledged and dropped because positions of their time were deleted from their device's history.",
    ),
    deleted: counter(
      "waybeam_positions_deleted_total",
      "Positions deleted because they were older than their account or device keeps.",
    ),
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
    conflicts: counter("waybeam_ingest_conflicts_total", "Devices planned again because another commit came first."),
    failed: counter(
      "waybeam_ingest_messages_failed_total",
      "Messages that could not be committed and were not acknowledged.",
    ),
    judgeFailures: counter(
      "waybeam_ingest_alert_failures_total",
      "Batches of a device whose alert rules could not be judged: a defect. Its positions are stored.",
    ),
    setAside: counter(
      "waybeam_ingest_set_aside_total",
      "Times that a device's reports could not be stored though others' could: not acknowledged, and tried again by themselves.",
    ),
    unavailable: counter(
      "waybeam_ingest_store_unavailable_total",
      "Commits that failed because the store was unavailable, and tries of the store meanwhile that failed too.",
    ),
  };
}
