import { dataFolder, end, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImei } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";
import { fillAccounts } from "./support/fill-accounts.ts";
import { bare, type Load, load, portOf } from "./support/http.ts";
import { program } from "./support/processes.ts";

const devices = 1000;
/** Trackers that send while the API is asked, and how often each sends, ms: 5,000 positions a second. */
const trackers = 500;
const everyMs = 100;
/** Numbers of accounts, of a hundred users each, that the gate is measured at, and users that ask. */
const accountNumbers = [1, 100, 1000];
const asking = 100;
/** Short rounds in turn, of which the best counts: what else runs on the machine slows some of them down. */
const rounds = 5;
const roundSeconds = 1;

interface Acknowledged {
  readonly rate: number;
  readonly refused: number;
  readonly p99: number;
}

/** The service's load beside the mean of bare ones before and after it. */
async function beside(
  name: string,
  limit: number,
  service: Service,
  path: string,
  ours: () => Promise<Load>,
): Promise<Figure> {
  const before = await bare(service, path);
  const measured = await ours();
  const after = await bare(service, path);
  const reference = (before.rate + after.rate) / 2;
  const made = `${rate(measured.rate)} of ${rate(reference)}; p99 ${measured.p99.toFixed(1)} ms; ${measured.failures} failed`;
  return { name, value: measured.rate / reference, unit: "", limit, bound: "at least", made };
}

async function calls(): Promise<readonly Figure[]> {
  const directory = dataFolder();
  const service = await startService(directory);
  try {
    const ids = Array.from({ length: devices }, (_, index) => avlImei(index));
    await register(service, ids);
    await end((await program("avl-load", [service.devicePort, trackers, 1, 1, 1])).child);
    const paths = ids.slice(0, 200).map((id) => `/api/devices/${id}/lastLocation`);
    const [path = ""] = paths;
    const ask = () => load(portOf(service), service.token, paths);
    const figures = [
      await beside("token check and last location, of a bare node:http", 0.5, service, path, ask),
      await beside("list of 1,000 devices, of a bare node:http", 0.5, service, "/api/devices", () =>
        load(portOf(service), service.token, ["/api/devices"]),
      ),
    ];
    const sent: Acknowledged[] = [];
    const whileSending = async () => {
      const [acknowledged, asked] = await Promise.all([
        program<Acknowledged>("avl-load", [service.devicePort, trackers, 1, 2, 5, everyMs, 1]),
        ask(),
      ]);
      await end(acknowledged.child);
      sent.push(acknowledged.first);
      return asked;
    };
    figures.push(
      await beside(
        "last location while 5,000 positions a second come in, of a bare node:http",
        0.35,
        service,
        path,
        whileSending,
      ),
      ...sent.map(
        ({ rate: positions, refused, p99 }): Figure => ({
          name: "acknowledgements meanwhile, p99",
          value: p99,
          unit: "ms",
          limit: 500,
          bound: "under",
          made: `${rate(positions)} positions; ${refused} refused`,
        }),
      ),
    );
    return figures;
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}

/** A service with so many accounts of a hundred users. */
async function tenants(accounts: number) {
  const directory = dataFolder();
  await (await startService(directory)).stop();
  const tokens = fillAccounts(directory, accounts, asking);
  return { accounts, directory, tokens, service: await startService(directory), rates: [] as number[] };
}

/** What the gate lets through a second, with few accounts and with many. The call itself is the cheapest one: a list of no devices. */
async function gate(): Promise<readonly Figure[]> {
  const services: Awaited<ReturnType<typeof tenants>>[] = [];
  try {
    for (const accounts of accountNumbers) services.push(await tenants(accounts));
    for (let round = 0; round < rounds; round++)
      for (const { service, tokens, rates } of round % 2 === 0 ? services : services.toReversed())
        rates.push((await load(portOf(service), `@${tokens}`, ["/api/devices"], roundSeconds)).rate);
    const best = services.map(({ rates }) => Math.max(...rates));
    const told = services.map(({ accounts }, index) => `${accounts.toLocaleString("en")}: ${rate(best[index] ?? 0)}`);
    return [
      {
        name: "the gate with 1,000 accounts of 100 users, of the gate with one",
        value: (best.at(-1) ?? 0) / (best[0] ?? 1),
        unit: "",
        limit: 0.9,
        bound: "at least",
        made: told.join("; "),
      },
    ];
  } finally {
    for (const { service, directory } of services) {
      await service.stop();
      removeFolder(directory);
    }
  }
}

/** The API beside bare node:http servers that send the same bytes, and the gate's cost as accounts grow in number. */
export async function api(): Promise<readonly Figure[]> {
  return [...(await calls()), ...(await gate())];
}
