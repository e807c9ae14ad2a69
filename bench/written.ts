import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { dataFolder, end, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImeis } from "./support/avl.ts";
import type { Figure } from "./support/figures.ts";
import { program } from "./support/processes.ts";

const seconds = 40;

interface Rate {
  readonly name: string;
  readonly trackers: number;
  readonly records: number;
  /** From one packet of a tracker to its next, ms. 0: as soon as the one before is acknowledged. */
  readonly everyMs: number;
  /** How long trackers report before bytes are counted, ms. */
  readonly settleMs: number;
  readonly limit: number;
}

const rates: readonly Rate[] = [
  { name: "at 1,000 positions a second", trackers: 100, records: 1, everyMs: 100, settleMs: 40_000, limit: 1000 },
  { name: "at the full rate", trackers: 500, records: 20, everyMs: 0, settleMs: 10_000, limit: 150 },
];

/** Bytes that a process has had written to disk (Linux: /proc/PID/io). */
function writtenBytes(pid: number): number {
  return Number(/write_bytes: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1] ?? 0);
}

async function stored(service: Service): Promise<number> {
  return Number(/^waybeam_ingest_positions_appended_total (\d+)/m.exec(await service.metrics())?.[1] ?? 0);
}

async function measure({ name, trackers, records, everyMs, settleMs, limit }: Rate): Promise<Figure> {
  const directory = dataFolder();
  const service = await startService(directory);
  try {
    await register(service, avlImeis(trackers));
    const args = [service.devicePort, trackers, records, settleMs / 1000, seconds + 2, everyMs];
    const running = program("avl-load", args);
    await sleep(settleMs);
    const pid = service.child.pid ?? 0;
    const [bytesBefore, before] = [writtenBytes(pid), await stored(service)];
    await sleep(seconds * 1000);
    const [bytes, positions] = [writtenBytes(pid) - bytesBefore, (await stored(service)) - before];
    await end((await running).child);
    return {
      name: `written to disk for each position, ${name}`,
      value: bytes / positions,
      unit: "bytes",
      limit,
      bound: "under",
      made: `${trackers} trackers, ${records} a packet: ${Math.round(positions / seconds).toLocaleString("en")}/s, ${(bytes / seconds / 2 ** 20).toFixed(1)} MiB a second`,
    };
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}

/**
 * Bytes that go to the disk for each position, all that the service writes: log, pages, blocks and states. Linux only.
 */
export async function written(): Promise<readonly Figure[]> {
  if (!existsSync("/proc/self/io")) return [];
  const figures: Figure[] = [];
  for (const one of rates) figures.push(await measure(one));
  return figures;
}
