import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { dataFolder, end, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImei } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";
import { program } from "./support/processes.ts";

const connections = 64;
const devices = 500;

interface Load {
  readonly rate: number;
  readonly failures: number;
  readonly p50: number;
  readonly p99: number;
}

async function load(port: number, token: string, paths: readonly string[]): Promise<Load> {
  const { child, first } = await program<Load>("http-load", [port, connections, 2, 5, token, ...paths]);
  await end(child);
  return first;
}

/** Headers that say the same on any server and are written by it. */
const own = new Set(["date", "connection", "keep-alive"]);

async function bare(service: Service, path: string): Promise<Load> {
  const answer = await fetch(service.url + path, { headers: { authorization: `Bearer ${service.token}` } });
  const body = Buffer.from(await answer.arrayBuffer());
  const file = join(service.directory, "bare-answer.json");
  writeFileSync(file, body);
  const headers = [...answer.headers].filter(([name]) => !own.has(name)).map(([name, value]) => `${name}: ${value}`);
  const server = await program<{ port: number }>("bare-http", [file, ...headers]);
  try {
    return await load(server.first.port, service.token, [path]);
  } finally {
    await end(server.child);
  }
}

/** Last location over HTTP beside a bare node:http server that sends the same bytes. */
export async function lastLocation(): Promise<readonly Figure[]> {
  const directory = dataFolder();
  const service = await startService(directory);
  try {
    const ids = Array.from({ length: devices }, (_, index) => avlImei(index));
    await register(service, ids);
    await end((await program("avl-load", [service.devicePort, devices, 1, 1, 1])).child);
    const paths = ids.slice(0, 200).map((id) => `/api/devices/${id}/lastLocation`);
    const before = await bare(service, paths[0] ?? "");
    const ours = await load(Number(new URL(service.url).port), service.token, paths);
    const after = await bare(service, paths[0] ?? "");
    const reference = (before.rate + after.rate) / 2;
    const made = `${rate(ours.rate)} of ${rate(reference)}; ${ours.failures} failed`;
    const p99 = (before.p99 + after.p99) / 2;
    return [
      {
        name: "last location, of a bare node:http",
        value: ours.rate / reference,
        unit: "",
        limit: 0.5,
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
