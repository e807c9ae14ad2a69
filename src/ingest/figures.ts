import type { Metrics } from "../ports/metrics.ts";
import type { Ingest } from "./ingest.ts";

/** Registers the metrics of what waits for a commit. */
export function measureIngest(metrics: Metrics, ingest: Ingest): void {
  metrics.gauge(
    "waybeam_ingest_reports_waiting",
    "Reports that wait for a commit or are in one.",
    () => ingest.waiting.reports,
  );
  metrics.gauge(
    "waybeam_ingest_waiting_bytes",
    "Memory of reports that wait for a commit or are in one (an estimate).",
    () => ingest.waiting.bytes,
  );
  metrics.gauge(
    "waybeam_ingest_stalled_seconds",
    "Time since the last commit while reports wait for a commit, or since the last read of a history while late reports wait for a read; 0: none wait.",
    () => ingest.stalledSeconds,
  );
  metrics.gauge(
    "waybeam_ingest_set_aside_devices",
    "Devices whose reports can't be stored though others' can.",
    () => ingest.aside.size,
  );
  metrics.gauge("waybeam_ingest_set_aside_bytes", "Memory kept of them.", () => ingest.aside.bytes);
  metrics.gauge(
    "waybeam_own_clock_doubted",
    "1: our own clock seems to be slow, -1: fast, 0: right, by what most devices report.",
    () => ({ right: 0, slow: 1, fast: -1 })[ingest.ownClock.standing],
  );
}
