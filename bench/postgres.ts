import { noPostgres, PostgresServer } from "../test/support/postgres.ts";
import { dataFolder, register, removeFolder, startService } from "../test/support/service.ts";
import type { Load } from "./acknowledged.ts";
import { load } from "./acknowledged.ts";
import { avlImei } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";

const connections = 500;

/** What a server of some size has. Whatever it says is stored is on its disk. */
const settings = [
  ["shared_buffers", "256MB"],
  ["max_wal_size", "4GB"],
  ["checkpoint_timeout", "30min"],
] as const;

interface Measured {
  readonly ours: Load;
  /** Positions a second of COPY. */
  readonly copy: number;
}

/** Trackers that send to a service on PostgreSQL, and then the rows that they made by COPY into a table that is made alike. */
async function measure(server: PostgresServer, records: number): Promise<Measured> {
  const directory = dataFolder();
  const url = await server.database();
  const service = await startService(directory, { WAYBEAM_STORE_URL: url });
  let ours: Load;
  try {
    await register(
      service,
      Array.from({ length: connections }, (_, index) => avlImei(index)),
    );
    ours = await load(service.devicePort, records);
  } finally {
    await service.stop();
    removeFolder(directory);
  }
  const database = new URL(url).pathname.slice(1);
  return { ours, copy: await copied(server, database) };
}

/** Rows as commits make them: what was sealed meanwhile is not among them. The server reads them from a file of its own, which nothing has to send. */
async function copied(server: PostgresServer, database: string): Promise<number> {
  const file = `${server.directory}/rows`;
  await server.ask(database, `copy (select * from tail order by seq) to '${file}' (format binary)`);
  const [{ positions } = {}] = await server.ask(database, "select sum(count)::float8 as positions from tail");
  await server.ask(database, "create table copied (like tail including all)");
  const began = performance.now();
  await server.ask(database, `copy copied from '${file}' (format binary)`);
  return (Number(positions) / (performance.now() - began)) * 1000;
}

/** Positions acknowledged over TCP by a service on PostgreSQL beside COPY of the same rows on the same server, fsync on. */
export async function postgres(): Promise<readonly Figure[]> {
  if (noPostgres) {
    process.stderr.write(`skipped: ${noPostgres}\n`);
    return [];
  }
  const server = await PostgresServer.start({ fsync: true, settings });
  const figures: Figure[] = [];
  for (const records of [1, 20]) {
    const { ours, copy } = await measure(server, records);
    figures.push({
      name: `acknowledged positions on PostgreSQL, ${records} a packet, of COPY`,
      value: ours.rate / copy,
      unit: "",
      limit: 0.35,
      bound: "at least",
      made: `${rate(ours.rate)} of ${rate(copy)}; p50 ${ours.p50.toFixed(1)} ms, p99 ${ours.p99.toFixed(1)} ms; ${ours.refused} refused`,
    });
  }
  await server.dispose();
  return figures;
}
