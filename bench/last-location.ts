import { dataFolder, end, register, removeFolder, startService } from "../test/support/service.ts";
import { avlImeis } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";
import { bare, load, portOf } from "./support/http.ts";
import { program } from "./support/processes.ts";

const devices = 500;

/** Last location over HTTP beside a bare node:http server that sends the same bytes. */
export async function lastLocation(): Promise<readonly Figure[]> {
  const directory = dataFolder();
  const service = await startService(directory);
  try {
    const ids = avlImeis(devices);
    await register(service, ids);
    await end((await program("avl-load", [service.devicePort, devices, 1, 1, 1])).child);
    const paths = ids.slice(0, 200).map((id) => `/api/devices/${id}/lastLocation`);
    const before = await bare(service, paths[0] ?? "");
    const ours = await load(portOf(service), service.token, paths);
    const after = await bare(service, paths[0] ?? "");
    const reference = (before.rate + after.rate) / 2;
    const made = `${rate(ours.rate)} of ${rate(reference)}; ${ours.failures} failed`;
    const p99 = (before.p99 + after.p99) / 2;
    return [
      {
        name: "last location, of a bare node:http",
        value: ours.rate / reference,
        unit: "",
        limit: 0.7,
        bound: "at least",
        made,
      },
      {
        name: "last location p99, times that of a bare node:http",
        value: ours.p99 / p99,
        unit: "",
        limit: 4,
        bound: "under",
        made: `${ours.p99.toFixed(1)} ms and ${p99.toFixed(1)} ms`,
      },
    ];
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}
