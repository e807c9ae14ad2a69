import { dataFolder, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImeis } from "./support/avl.ts";
import type { Figure } from "./support/figures.ts";
import { fillAlerts } from "./support/fill-alerts.ts";
import { median } from "./support/percentile.ts";

const alerts = 100_000;
const devices = 1000;
/** The first ones are for the compiler. */
const rounds = { warmup: 10, measured: 40 };

/**
 * Questions of people who look at an account: the first page, one far down, and filters that many, few or none of the
 * alerts pass.
 */
const questions: Readonly<Record<string, string>> = {
  first: "",
  open: "?limit=100&state=open",
  critical: "?limit=100&critical=true",
  "critical and open": "?limit=100&critical=true&state=open",
  "one type of a day": `?limit=100&type=sos&from=${new Date(Date.now() - 30 * 86_400_000).toISOString()}&to=${new Date(Date.now() - 29 * 86_400_000).toISOString()}`,
  "none of them": "?limit=100&type=route",
};

/** The list of an account's alerts: how long the slowest of some questions takes. */
export async function timeline(): Promise<Figure> {
  const directory = dataFolder();
  const ids = avlImeis(devices);
  const first = await startService(directory);
  await register(first, ids);
  await first.stop();
  await fillAlerts(directory, ids, alerts);
  const service = await startService(directory);
  try {
    const asked = { ...questions, "half down": await halfDown(service) };
    const took = new Map(Object.keys(asked).map((name) => [name, [] as number[]]));
    for (let round = 0; round < rounds.warmup + rounds.measured; round++)
      for (const [name, query] of Object.entries(asked)) {
        const began = performance.now();
        await page(service, query);
        if (round >= rounds.warmup) took.get(name)?.push(performance.now() - began);
      }
    const medians = [...took].map(([name, each]) => ({ name, ms: median(each) }));
    return {
      name: `a page of an account with ${alerts.toLocaleString("en")} alerts, the slowest of ${medians.length} questions`,
      value: Math.max(...medians.map(({ ms }) => ms)),
      unit: "ms",
      limit: 20,
      bound: "under",
      made: medians.map(({ name, ms }) => `${name}: ${ms.toFixed(1)} ms`).join(", "),
    };
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}

/** A page in the middle of the account's alerts. */
async function halfDown(service: Service): Promise<string> {
  let cursor = "";
  for (let seen = 0; seen < alerts / 2; seen += 10_000)
    cursor = `&cursor=${(await page(service, `?limit=10000${cursor}`)).nextCursor}`;
  return `?limit=100${cursor}`;
}

async function page({ url, token }: Service, query: string): Promise<{ readonly nextCursor?: string }> {
  const answer = await fetch(`${url}/api/alerts${query}`, { headers: { authorization: `Bearer ${token}` } });
  const json: { readonly nextCursor?: string } = Object(await answer.json());
  if (!answer.ok) throw new Error(JSON.stringify(json));
  return json;
}
