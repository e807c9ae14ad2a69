import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createLog } from "../src/observe/index.ts";
import { openPostgresStore } from "../src/store/postgres/open-store.ts";
import { said } from "../test/contract/positions/said.ts";
import { noPostgres, PostgresServer } from "../test/support/postgres.ts";
import { dataFolder, end, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { load } from "./acknowledged.ts";
import { avlImeis } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";
import { processorMs, program } from "./support/processes.ts";

const connections = 500;
const storeSeconds = 5;
const warmUpSeconds = 5;
const pacedSeconds = 30;

/** What a server of some size has. Whatever it says is stored is on its disk. */
const settings = [
  ["shared_buffers", "256MB"],
  ["max_wal_size", "4GB"],
  ["checkpoint_timeout", "30min"],
] as const;

interface Measured {
  /** Positions a second. */
  readonly ours: number;
  /** Positions a second of COPY. */
  readonly copy: number;
  /** What else is told. */
  readonly times: string;
}

/**
 * Trackers that send to a service on PostgreSQL, and then the rows that they made by COPY into a table that is made
 * alike.
 */
async function served(server: PostgresServer, records: number): Promise<Measured> {
  const directory = dataFolder();
  const url = await server.database();
  const service = await startService(directory, { WAYBEAM_STORE_URL: url });
  try {
    await register(service, avlImeis(connections));
    const { rate: ours, p50, p99 } = await load(service.devicePort, records);
    await service.stop();
    return { ours, copy: await copied(server, url), times: `; p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms` };
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}

/** Trackers that send 20 positions each half a second, of some hours ago: some 20,000 a second. */
async function paced(service: Service, seconds: number, hoursAgo: number): Promise<void> {
  const args = [service.devicePort, connections, 20, 1, seconds, 500, hoursAgo / 24];
  const { child } = await program<unknown>("avl-load", args);
  await end(child);
}

/**
 * Seconds of the processors that a service's processes take for a million positions, which trackers send to the first.
 * The first seconds do not count: code is compiled in them.
 */
async function processorSeconds(server: PostgresServer, processes: number): Promise<number> {
  const url = await server.database();
  const services: Service[] = [];
  for (let count = 0; count < processes; count++) {
    const directory = dataFolder();
    const [first] = services;
    if (first !== undefined)
      for (const name of ["secret.key", "credentials.json"])
        copyFileSync(join(first.directory, name), join(directory, name));
    services.push(await startService(directory, { WAYBEAM_STORE_URL: url }));
  }
  const used = () => services.reduce((sum, { child }) => sum + processorMs(child.pid ?? 0), 0);
  const [first] = services;
  if (first === undefined) throw new Error("no process was asked for");
  await register(first, avlImeis(connections));
  const database = new URL(url).pathname.slice(1);
  const stored = async () => {
    const [{ positions } = {}] = await server.ask(database, "select count(*)::float8 as positions from position");
    return Number(positions);
  };
  await paced(first, warmUpSeconds, 20);
  const [before, positionsBefore] = [used(), await stored()];
  await paced(first, pacedSeconds, 10);
  // Heads are committed half a minute later at the latest.
  await sleep(35_000);
  const [spent, positions] = [used() - before, (await stored()) - positionsBefore];
  for (const service of services) {
    await service.stop();
    removeFolder(service.directory);
  }
  return (spent * 1000) / positions;
}

/** Appends of one batch after the other, without trackers: what the store itself does. */
async function stored(server: PostgresServer, records: number): Promise<Measured> {
  const url = await server.database();
  const { positions, close } = await openPostgresStore(url, { log: createLog("silent") });
  let [appended, spent, second] = [0, 0, 0];
  for (const end = performance.now() + storeSeconds * 1000; performance.now() < end; second += records) {
    const own = Array.from({ length: records }, (_, at) => said(second + at));
    const batch = Array.from({ length: connections }, (_, device) => ({ device: device + 1, records: own }));
    const began = performance.now();
    positions.followed(await positions.append(batch));
    spent += performance.now() - began;
    appended += connections * records;
  }
  await close();
  return { ours: (appended / spent) * 1000, copy: await copied(server, url), times: "" };
}

/** The same rows. The server reads them from a file of its own, which nothing has to send. */
async function copied(server: PostgresServer, url: string): Promise<number> {
  const database = new URL(url).pathname.slice(1);
  const file = `${server.directory}/rows`;
  await server.ask(database, `copy (select * from position order by arrival) to '${file}' (format binary)`);
  const [{ positions } = {}] = await server.ask(database, "select count(*)::float8 as positions from position");
  await server.ask(database, "create table copied (like position including all)");
  const began = performance.now();
  await server.ask(database, `copy copied from '${file}' (format binary)`);
  return (Number(positions) / (performance.now() - began)) * 1000;
}

/**
 * Positions on PostgreSQL beside COPY of the same rows on the same server, fsync on: as the store appends them, and as
 * trackers send them over TCP. The trackers, the service and the server share the processors. One position in each
 * packet is no such figure, because the network's part of it is larger than that of COPY: see `acknowledged`.
 */
export async function postgres(): Promise<readonly Figure[]> {
  if (noPostgres) {
    process.stderr.write(`skipped: ${noPostgres}\n`);
    return [];
  }
  const server = await PostgresServer.start({ fsync: true, settings });
  const figures: Figure[] = [];
  const add = (name: string, { ours, copy, times }: Measured) => {
    const made = `${rate(ours)} of ${rate(copy)}${times}`;
    figures.push({ name: `${name}, of COPY`, value: ours / copy, unit: "", limit: 0.3, bound: "at least", made });
  };
  for (const records of [1, 20])
    add(`positions appended to PostgreSQL, ${records} of each tracker`, await stored(server, records));
  add("acknowledged positions on PostgreSQL, 20 a packet", await served(server, 20));
  const one = await processorSeconds(server, 1);
  const two = await processorSeconds(server, 2);
  figures.push({
    ...{ name: "processor time of two processes on PostgreSQL, of one", value: two / one, unit: "" },
    ...{ limit: 1.3, bound: "under", made: `${two.toFixed(1)} s of ${one.toFixed(1)} s a million positions` },
  });
  await server.dispose();
  return figures;
}
