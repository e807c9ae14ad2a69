import { call, dataFolder, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImei } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";
import { fillHistory } from "./support/fill-history.ts";
import { residentBytes } from "./support/processes.ts";

const positions = 100_000;

/** Reads the whole range once; counts records and bytes without keeping them. */
async function read(service: Service, id: string): Promise<{ seconds: number; records: number; bytes: number }> {
  const began = performance.now();
  const answer = await fetch(`${service.url}/api/devices/${id}/locations`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.token}`, "content-type": "application/json" },
    body: JSON.stringify({ from: "2020-01-01T00:00:00Z", to: "2027-01-01T00:00:00Z" }),
  });
  if (!answer.ok || answer.body === null) throw new Error(`locations: ${answer.status} ${await answer.text()}`);
  let records = 0;
  let bytes = 0;
  const marker = Buffer.from('{"dateTime":');
  let tail = Buffer.alloc(0);
  for await (const chunk of answer.body) {
    const data = Buffer.concat([tail, chunk]);
    for (let at = data.indexOf(marker); at >= 0; at = data.indexOf(marker, at + 1)) records++;
    // The overlap is shorter than the marker, so nothing is counted twice.
    tail = Buffer.from(data.subarray(Math.max(0, data.length - marker.length + 1)));
    bytes += chunk.length;
  }
  return { seconds: (performance.now() - began) / 1000, records, bytes };
}

/** 100,000 positions of one device by `locations`: how fast, and what the process grows by. */
export async function history(): Promise<readonly Figure[]> {
  const directory = dataFolder();
  const service = await startService(directory);
  try {
    const id = avlImei(0);
    await register(service, [id]);
    await fillHistory(service.devicePort, id, positions);
    await call(service, "GET", `/api/devices/${id}/lastLocation`);
    const pid = service.child.pid ?? 0;
    const before = residentBytes(pid);
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, residentBytes(pid));
    }, 5);
    const { seconds, records, bytes } = await read(service, id);
    clearInterval(watch);
    most = Math.max(most, residentBytes(pid));
    if (records !== positions) throw new Error(`${records} of ${positions} positions came back`);
    return [
      {
        name: "history, positions a second",
        value: records / seconds,
        unit: "/s",
        limit: 200_000,
        bound: "at least",
        made: `${records} positions, ${(bytes / 2 ** 20).toFixed(0)} MiB in ${seconds.toFixed(2)} s: ${rate(records / seconds)}`,
      },
      {
        name: "history, growth of the process",
        value: (most - before) / 2 ** 20,
        unit: "MiB",
        limit: 64,
        bound: "under",
        made: `from ${(before / 2 ** 20).toFixed(0)} to ${(most / 2 ** 20).toFixed(0)} MiB`,
      },
    ];
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}
