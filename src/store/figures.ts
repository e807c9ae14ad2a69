import type { Metrics } from "../ports/metrics.ts";
import type { OpenedStore } from "./opened.ts";

/** Registers the metrics of the store. */
export function measureStore(metrics: Metrics, store: OpenedStore): void {
  const gauge = (name: string, help: string, read: () => number) => metrics.gauge(`waybeam_store_${name}`, help, read);
  metrics.total(
    "waybeam_store_refused_dropped_total",
    "Refused reports deleted before their age, since their device had too many bytes of them.",
    () => store.refusedDropped(),
  );
  gauge(
    "log_rows",
    "Commits in the log of positions that are not packed yet.",
    () => store.positions.figures().logRows,
  );
  gauge(
    "log_bytes",
    "Bytes of the log of positions, on disk and in memory. Trackers wait while there are more than store.mostLogBytes.",
    () => store.positions.figures().logBytes,
  );
  gauge("blocks", "Blocks of packed positions.", () => store.positions.figures().blocks);
  gauge("block_positions", "Positions in blocks.", () => store.positions.figures().blockRecords);
  metrics.total(
    "waybeam_store_damaged_total",
    "Parts of stored positions that were found damaged when they were read; the log names them.",
    () => store.positions.figures().damaged,
  );
}
