import { setTimeout as sleep } from "node:timers/promises";
import { call, dataFolder, end, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImei, avlImeis } from "./support/avl.ts";
import type { Figure } from "./support/figures.ts";
import { portOf } from "./support/http.ts";
import { percentile } from "./support/percentile.ts";
import { program } from "./support/processes.ts";

/** Trackers that report ten times a second: 5,000 fixes a second. */
const trackers = 500;
const everyMs = 100;
const probe = avlImei(trackers);
/** Alerts that are waited for: live ones beside the load, and late ones at rest. */
const [live, late] = [200, 10];

/** How long after its fix was sent each alert was told, ms, in their order of size. */
async function probed(service: Service, alerts: number, every: number): Promise<readonly number[]> {
  const args = [portOf(service), service.token, service.devicePort, probe, alerts, every];
  const { child, first } = await program<number[]>("probe", args);
  await end(child);
  return first.toSorted((one, other) => one - other);
}

/** From a fix on its way to the alert in a live stream: beside 5,000 fixes a second, and for late fixes at rest. */
export async function told(): Promise<readonly Figure[]> {
  const directory = dataFolder();
  const service = await startService(directory);
  try {
    await register(service, [...avlImeis(trackers), probe]);
    const rule = { name: "Speed", type: "speedOver", parameters: { kmh: 100 }, devices: [probe] };
    await call(service, "POST", "/api/alertRules", rule);
    const lately = await probed(service, late, 0);
    const seconds = Math.ceil((live * 2 * everyMs) / 1000) + 10;
    const args = [service.devicePort, trackers, 1, 0, seconds, everyMs, 0, 0, 0, 0, 1];
    const load = program<{ rate: number }>("avl-load", args);
    await sleep(3000);
    const beside = await probed(service, live, everyMs);
    const { child, first } = await load;
    await end(child);
    const made = (times: readonly number[]) =>
      `${times.length} alerts, p50 ${percentile(times, 0.5).toFixed(0)} ms, the last after ${times.at(-1)?.toFixed(0)} ms`;
    return [
      {
        ...{ name: "from a fix to its alert in a live stream, p99", value: percentile(beside, 0.99), unit: "ms" },
        ...{ limit: 250, bound: "under", made: `${made(beside)}; beside ${Math.round(first.rate)} fixes a second` },
      },
      {
        ...{ name: "from a late fix to its alert, at rest", value: lately.at(-1) ?? 0, unit: "ms" },
        ...{ limit: 2000, bound: "under", made: made(lately) },
      },
    ];
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}
