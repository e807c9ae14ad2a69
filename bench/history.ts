import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { call, dataFolder, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImei } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";
import { fillHistory } from "./support/fill-history.ts";
import { residentBytes } from "./support/processes.ts";

const positions = 100_000;
/** Readings; the middle one counts. */
const times = 3;

interface Reading {
  readonly seconds: number;
  readonly records: number;
  readonly bytes: number;
}

const marker = Buffer.from('{"dateTime":');

/**
 * Reads the whole range once; counts records and bytes without keeping them. On node:http, since fetch costs more than
 * the service.
 */
function read(service: Service, id: string): Promise<Reading> {
  const began = performance.now();
  const headers = { authorization: `Bearer ${service.token}`, "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const asked = request(`${service.url}/api/devices/${id}/locations`, { method: "POST", headers }, (answer) => {
      let records = 0;
      let bytes = 0;
      let end = "";
      answer.on("data", (chunk: Buffer) => {
        // A marker may lie across two chunks.
        if ((end + chunk.toString("latin1", 0, marker.length - 1)).includes('{"dateTime":')) records++;
        for (let at = chunk.indexOf(marker); at >= 0; at = chunk.indexOf(marker, at + 200)) records++;
        end = chunk.toString("latin1", Math.max(0, chunk.length - marker.length + 1));
        bytes += chunk.length;
      });
      answer.on("error", reject);
      answer.on("end", () => resolve({ seconds: (performance.now() - began) / 1000, records, bytes }));
    });
    asked.on("error", reject);
    asked.end(JSON.stringify({ from: "2020-01-01T00:00:00Z", to: "2027-01-01T00:00:00Z" }));
  });
}

/** Waits until most positions are in blocks: what is measured is reading. */
async function packed(service: Service): Promise<void> {
  for (;;) {
    const inBlocks = /^waybeam_store_block_positions (\d+)$/m.exec(await service.metrics())?.[1];
    if (Number(inBlocks) > 0.8 * positions) return;
    await sleep(200);
  }
}

/** 100,000 positions of one device by `locations`: how fast, and what the process grows by. */
export async function history(): Promise<readonly Figure[]> {
  const directory = dataFolder();
  const service = await startService(directory, {
    WAYBEAM_API_DAILY_RESULTS: "1000000000",
    WAYBEAM_STORE_PACK_FROM_BYTES: "1048576",
  });
  try {
    const id = avlImei(0);
    await register(service, [id]);
    await fillHistory(service.devicePort, id, positions);
    await packed(service);
    await call(service, "GET", `/api/devices/${id}/lastLocation`);
    const pid = service.child.pid ?? 0;
    const before = residentBytes(pid);
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, residentBytes(pid));
    }, 5);
    const readings: Reading[] = [];
    while (readings.length < times) readings.push(await read(service, id));
    clearInterval(watch);
    most = Math.max(most, residentBytes(pid));
    const wrong = readings.find(({ records }) => records !== positions);
    if (wrong !== undefined) throw new Error(`${wrong.records} of ${positions} positions came back`);
    const [, median = readings[0]] = readings.toSorted((one, other) => one.seconds - other.seconds);
    const { seconds = 0, records = 0, bytes = 0 } = median ?? {};
    return [
      {
        name: "history, positions a second",
        value: records / seconds,
        unit: "/s",
        limit: 500_000,
        bound: "at least",
        made: `${(bytes / 2 ** 20).toFixed(0)} MiB; each time ${readings.map((one) => rate(one.records / one.seconds)).join(", ")}`,
      },
      {
        name: "history, growth of the process",
        value: (most - before) / 2 ** 20,
        unit: "MiB",
        limit: 32,
        bound: "under",
        made: `from ${(before / 2 ** 20).toFixed(0)} to ${(most / 2 ** 20).toFixed(0)} MiB`,
      },
    ];
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}
