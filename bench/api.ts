import { dataFolder, end, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImeis } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";
import { fillAccounts } from "./support/fill-accounts.ts";
import { type Load, load, portOf, startBare } from "./support/http.ts";
import { median } from "./support/percentile.ts";
import { program } from "./support/processes.ts";

const devices = 1000;
/** Trackers that send while the API is asked, and how often each sends, ms: 5,000 positions a second. */
const trackers = 500;
const everyMs = 100;
/** Numbers of accounts, of a hundred users each, that the gate is measured at, and users that ask. */
const accountNumbers = [1, 100, 1000];
const asking = 100;
/**
 * Short rounds in turn, whose middle ratio counts: what else runs on the machine slows some of them down, and the speed
 * of a virtual one changes.
 */
const rounds = 7;
const roundSeconds = 1;

interface Acknowledged {
  readonly rate: number;
  readonly refused: number;
  readonly p99: number;
}

/** The service's load beside that of a bare server, in turn. */
async function beside(
  name: string,
  limit: number,
  service: Service,
  path: string,
  ours: (round: number) => Promise<Load>,
): Promise<Figure> {
  const server = await startBare(service, path);
  const pairs: { readonly measured: Load; readonly reference: Load }[] = [];
  try {
    while (pairs.length < rounds)
      pairs.push({ reference: await server.load(roundSeconds), measured: await ours(pairs.length) });
  } finally {
    await server.end();
  }
  const value = median(pairs.map(({ measured, reference }) => measured.rate / reference.rate));
  const rates = [
    median(pairs.map(({ measured }) => measured.rate)),
    median(pairs.map(({ reference }) => reference.rate)),
  ];
  const failed = pairs.reduce((sum, { measured }) => sum + measured.failures, 0);
  const p99 = median(pairs.map(({ measured }) => measured.p99));
  const made = `${rates.map(rate).join(" of ")}; p99 ${p99.toFixed(1)} ms; ${failed} failed`;
  return { name, value, unit: "", limit, bound: "at least", made };
}

async function calls(): Promise<readonly Figure[]> {
  const directory = dataFolder();
  const service = await startService(directory);
  try {
    const ids = avlImeis(devices);
    await register(service, ids);
    await end((await program("avl-load", [service.devicePort, trackers, 1, 1, 1])).child);
    const paths = ids.slice(0, 200).map((id) => `/api/devices/${id}/lastLocation`);
    const [path = ""] = paths;
    const ask = () => load(portOf(service), service.token, paths, roundSeconds);
    const figures = [
      await beside("token check and last location, of a bare node:http", 0.5, service, path, ask),
      await beside("list of 1,000 devices, of a bare node:http", 0.5, service, "/api/devices", () =>
        load(portOf(service), service.token, ["/api/devices"], roundSeconds),
      ),
    ];
    const sent: Acknowledged[] = [];
    const whileSending = async (round: number) => {
      const [acknowledged, asked] = await Promise.all([
        program<Acknowledged>("avl-load", [
          service.devicePort,
          trackers,
          1,
          roundSeconds,
          roundSeconds,
          everyMs,
          4 - round / 2,
        ]),
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
      {
        name: "acknowledgements meanwhile, p99",
        value: Math.max(...sent.map(({ p99 }) => p99)),
        unit: "ms",
        limit: 500,
        bound: "under",
        made: `the worst of ${rounds} rounds; ${rate(median(sent.map((one) => one.rate)))} positions; ${sent.reduce((sum, { refused }) => sum + refused, 0)} refused`,
      },
    );
    return figures;
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}

/** A service with a number of accounts, of a hundred users each. */
async function tenants(accounts: number) {
  const directory = dataFolder();
  await (await startService(directory)).stop();
  const tokens = fillAccounts(directory, accounts, asking);
  return { accounts, directory, tokens, service: await startService(directory), rates: [] as number[] };
}

/**
 * What the gate lets through a second, with few accounts and with many. The call itself is the cheapest one: a list of
 * no devices.
 */
async function gate(): Promise<readonly Figure[]> {
  const services: Awaited<ReturnType<typeof tenants>>[] = [];
  try {
    for (const accounts of accountNumbers) services.push(await tenants(accounts));
    for (let round = 0; round < rounds; round++)
      for (const { service, tokens, rates } of round % 2 === 0 ? services : services.toReversed())
        rates.push((await load(portOf(service), `@${tokens}`, ["/api/devices"], roundSeconds)).rate);
    const told = services.map(({ accounts, rates }) => `${accounts.toLocaleString("en")}: ${rate(median(rates))}`);
    const few = services[0]?.rates ?? [];
    const many = services.at(-1)?.rates ?? [];
    return [
      {
        name: "the gate with 1,000 accounts of 100 users, of the gate with one",
        value: median(many.map((value, round) => value / (few[round] ?? 1))),
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
