import type { Metrics } from "../ports/metrics.ts";
import type { OpenedStore } from "./opened.ts";

/** Registers the metrics of the store. */
export function measureStore(metrics: Metrics, store: OpenedStore): void {
  const dropped = metrics.counter(
    "waybeam_store_refused_dropped_total",
    "Refused reports deleted before their age, since their device had too many bytes of them.",
    [],
  )({});
  store.onRefusedDropped((reports) => dropped.add(reports));
  const gauge = (name: string, help: string, read: () => number) => metrics.gauge(`waybeam_store_${name}`, help, read);
  gauge("chunks", "Blocks and chunks of the tail, which are indexed in memory.", () => store.chunks);
  gauge("blocks", "Blocks of sealed positions.", () => store.sealing.blocks);
  gauge("tail_chunks", "Chunks of positions that are not sealed yet.", () => store.sealing.tailChunks);
  gauge("tail_positions", "Positions that are not sealed yet.", () => store.sealing.tailPositions);
  gauge(
    "sealing_waiting_devices",
    "Devices that have enough positions for a block and wait for their turn.",
    () => store.sealing.waitingDevices,
  );
  gauge(
    "damaged_chunks",
    "Chunks, blocks and tables that the start and sealing found damaged; the log names them.",
    () => store.sealing.damaged,
  );
  gauge("block_cache_bytes", "Memory of decompressed blocks that are kept.", () => store.cachedBytes);
}
