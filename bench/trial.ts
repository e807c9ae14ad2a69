import { setTimeout as sleep } from "node:timers/promises";
import { dataFolder, end, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImei } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";
import { program } from "./support/processes.ts";

const positions = 200_000;
/** Trials; the middle one counts. */
const times = 3;

/** Waits until the log is packed: what is measured has the processors for itself. */
async function rested(service: Service): Promise<void> {
  for (;;) {
    const metrics = await service.metrics();
    if (/^waybeam_store_log_bytes [0-9]{1,6}$/m.test(metrics)) return;
    await sleep(200);
  }
}

/** One trial. Records a second, and how many alerts the rule would have found. */
async function trial(service: Service, deviceId: string): Promise<{ readonly rate: number; readonly alerts: number }> {
  const rule = { name: "Speed", type: "speedOver", parameters: { kmh: 60 } };
  const body = { deviceId, from: "2020-01-01T00:00:00Z", to: new Date().toISOString(), rule };
  const began = performance.now();
  const answer = await fetch(`${service.url}/api/alertRules/try`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const lines = (await answer.text()).trimEnd().split("\n");
  const seconds = (performance.now() - began) / 1000;
  const last: { success?: boolean; positions?: number; alerts?: number } = JSON.parse(lines.at(-1) ?? "{}");
  if (last.success !== true || last.positions !== positions) throw new Error(`a trial ended with ${lines.at(-1)}`);
  return { rate: positions / seconds, alerts: last.alerts ?? 0 };
}

/** A speed rule tried over a history through the API. */
export async function trials(): Promise<readonly Figure[]> {
  const directory = dataFolder();
  const service = await startService(directory, {
    WAYBEAM_API_DAILY_RESULTS: "1000000000",
    WAYBEAM_STORE_PACK_FROM_BYTES: "1048576",
  });
  try {
    const id = avlImei(0);
    await register(service, [id]);
    await end((await program("avl-backlog", [service.devicePort, id, positions, 20, 8, "oldest", 120])).child);
    await rested(service);
    const tried = [];
    while (tried.length < times) tried.push(await trial(service, id));
    const [, median = tried[0]] = tried.toSorted((one, other) => one.rate - other.rate);
    return [
      {
        ...{ name: "a rule tried over a history, records a second", value: median?.rate ?? 0, unit: "/s" },
        ...{ limit: 300_000, bound: "at least" },
        made: `${median?.alerts} alerts; each time ${tried.map((one) => rate(one.rate)).join(", ")}`,
      },
    ];
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}
