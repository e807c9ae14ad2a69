import assert from "node:assert/strict";
import { before, describe, it, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { BusEvent } from "../../src/ports/bus.ts";
import { bucketCount } from "../../src/ports/processes.ts";
import { checkedAddress } from "../../src/store/postgres/checks.ts";
import { openPostgresRows } from "../../src/store/postgres/open.ts";
import { identified } from "../../src/store/postgres/open-store.ts";
import { channel, missedMs } from "../../src/store/postgres/process-rows.ts";
import { PostgresProcesses } from "../../src/store/postgres/processes.ts";
import { usualTimes } from "../../src/store/postgres/times.ts";
import { chance } from "../support/any-order.ts";
import { Network } from "../support/cut-off.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { silentLog } from "../support/silent-log.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";

/** A process with what it was told, and its shares. */
interface Known {
  readonly processes: PostgresProcesses;
  readonly buckets: Set<number>;
  readonly told: { readonly event: BusEvent; readonly teller: string }[];
  /** Why it can't go on. */
  readonly replaced: unknown[];
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isTrue()); tries++) {
    assert.ok(tries < 600, "it came to be in time");
    await pause(50);
  }
}

describe("processes on one PostgreSQL", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });

  async function databaseFor(): Promise<string> {
    const url = await server.database();
    await (await openPostgresRows(url, { log: silentLog })).close();
    return url;
  }

  async function processOn(url: string, context: TestContext, doStart = true): Promise<Known> {
    const address = await checkedAddress(url, usualTimes);
    const run = await identified(address, usualTimes, silentLog);
    const replaced: unknown[] = [];
    const parts = { address, run, log: silentLog, onTakenOver: (error: unknown) => void replaced.push(error) };
    const processes = new PostgresProcesses(parts);
    const buckets = new Set<number>();
    processes.heir = {
      gained(gained) {
        for (const bucket of gained) buckets.add(bucket);
      },
      async lose(lost) {
        for (const bucket of lost) assert.ok(!processes.follows(bucket), "no longer followed");
        await pause(20);
        for (const bucket of lost) buckets.delete(bucket);
      },
    };
    const told: Known["told"] = [];
    processes.onTold((event, teller) => told.push({ event, teller }));
    context.after(async () => {
      await processes.stop();
      await processes.close();
    });
    if (doStart) await processes.start();
    return { processes, buckets, told, replaced };
  }

  /** Every share is one process's, and they are divided so. */
  async function untilShared(all: readonly Known[], counts: readonly number[]): Promise<void> {
    await until(() => {
      const sizes = all.map(({ buckets }) => buckets.size).toSorted((one, other) => other - one);
      return sizes.join() === counts.join();
    });
    assert.equal(new Set(all.flatMap(({ buckets }) => [...buckets])).size, bucketCount);
  }

  it("share what is to be followed, and give and take where one comes or ends", async (context) => {
    const url = await databaseFor();
    const one = await processOn(url, context);
    await untilShared([one], [16]);
    const two = await processOn(url, context);
    assert.deepEqual([one.processes.others, two.processes.others], [[two.processes.name], [one.processes.name]]);
    await untilShared([one, two], [8, 8]);
    const three = await processOn(url, context);
    await untilShared([one, two, three], [6, 6, 4]);
    await one.processes.stop();
    await untilShared([two, three], [8, 8]);
    assert.deepEqual([...one.replaced, ...two.replaced, ...three.replaced], []);
  });

  it("no share is two processes' at a time, however they come and end", async (context) => {
    const url = await databaseFor();
    const seed = Math.floor(Math.random() * 1e9);
    context.diagnostic(`seed ${seed}`);
    const random = chance(seed);
    const all: Known[] = [];
    const come = async () => {
      const one = await processOn(url, context, false);
      const { heir } = one.processes;
      one.processes.heir = {
        lose: async (buckets) => heir?.lose(buckets),
        gained(buckets) {
          for (const bucket of buckets)
            assert.ok(
              all.every((other) => !other.buckets.has(bucket)),
              `${bucket} is free`,
            );
          heir?.gained(buckets);
        },
      };
      all.push(one);
      await one.processes.start();
    };
    const end = async (one: Known) => {
      one.buckets.clear();
      await one.processes.stop();
    };
    const doing: Promise<void>[] = [];
    for (let step = 0; step < 30; step++) {
      const [gone] = all.length > 1 && random() < 0.45 ? all.splice(Math.floor(random() * all.length), 1) : [];
      doing.push(gone === undefined ? come() : end(gone));
      await pause(random() * 200);
    }
    await Promise.all(doing);
    const fair = Math.ceil(bucketCount / all.length);
    await until(() => all.every(({ buckets }) => buckets.size <= fair));
    await until(() => all.reduce((sum, { buckets }) => sum + buckets.size, 0) === bucketCount);
    assert.equal(new Set(all.flatMap(({ buckets }) => [...buckets])).size, bucketCount);
  });

  it("who is cut off is missed, and learns that it was replaced", async (context) => {
    const url = await databaseFor();
    const network = await Network.before(server.port);
    context.after(() => network.close());
    const [one, two] = [await processOn(url, context), await processOn(url, context)];
    const three = await processOn(network.through(url), context);
    await untilShared([one, two, three], [6, 6, 4]);
    network.frozen = true;
    await until(() => one.processes.others.length === 1 && two.processes.others.length === 1);
    await untilShared([one, two], [8, 8]);
    network.frozen = false;
    network.cut();
    await until(() => three.replaced.length > 0);
    assert.match(String(three.replaced[0]), /other processes of the service have taken this one's place/);
    assert.equal(three.replaced.length, 1);
    for (let device = 0; device < bucketCount; device++) assert.equal(three.processes.follows(device), false);
    assert.deepEqual([...one.replaced, ...two.replaced], []);
  });

  it("one that was killed is missed at once by one that comes in its place", async (context) => {
    const url = await databaseFor();
    const [database, name] = [new URL(url).pathname.slice(1), "killed"];
    await server.ask(database, `insert into process values ('${name}', now() - interval '4 s', 0)`);
    await server.ask(database, `update process_bucket set holder = '${name}'`);
    const one = await processOn(url, context);
    assert.equal(one.buckets.size, bucketCount);
  });

  it("nobody is missed where all are cut off", async (context) => {
    const url = await databaseFor();
    const networks = [await Network.before(server.port), await Network.before(server.port)] as const;
    context.after(() => networks.map((network) => network.close()));
    const [one, two] = [
      await processOn(networks[0].through(url), context),
      await processOn(networks[1].through(url), context),
    ];
    await untilShared([one, two], [8, 8]);
    for (const network of networks) network.frozen = true;
    await pause(missedMs + 2000);
    for (const network of networks) {
      network.frozen = false;
      network.cut();
    }
    one.processes.tell(event(1));
    await until(() => two.told.length === 1);
    await pause(missedMs + 2000);
    assert.deepEqual([...one.replaced, ...two.replaced], []);
    await untilShared([one, two], [8, 8]);
  });

  const ways = ["with notifications", "without them, as by way of some poolers"] as const;
  for (const way of ways)
    it(`each event comes once, and those of each teller in order: ${way}`, async (context) => {
      const url = await databaseFor();
      const place = way === "with notifications" ? url : await deaf(url);
      const all: Known[] = [];
      for (let count = 0; count < 3; count++) all.push(await processOn(place, context));
      const database = new URL(url).pathname.slice(1);
      const lose = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}' and random() < 0.5`;
      const count = 300;
      for (let number = 0; number < count; number++) {
        for (const { processes } of all) processes.tell(event(number));
        if (number % 50 === 25) await server.ask("postgres", lose);
        await pause(5);
      }
      await until(() => all.every(({ told }) => told.length >= 2 * count));
      await pause(1000);
      for (const { processes, told } of all)
        for (const other of processes.others) {
          const numbers = told.flatMap(({ event, teller }) =>
            teller === other && event.type === "userChanged" ? [event.key] : [],
          );
          assert.deepEqual(numbers, [...Array(count).keys()]);
        }
    });

  it("commits of a device are told together, and only what others need of them", async (context) => {
    const url = await databaseFor();
    const [one, two] = [await processOn(url, context), await processOn(url, context)];
    const device = { key: 1, accountKey: 2, id: "van" };
    for (const id of ["a", "b"])
      one.processes.tell({ type: "committed", devices: [{ device, plan: { alerts: [{ id }] } }] });
    one.processes.tell(event(7));
    await until(() => two.told.length === 2);
    const [first, last] = two.told;
    assert.deepEqual(first, { event: event(7), teller: one.processes.name });
    const plan = { alerts: [{ id: "a" }, { id: "b" }], ended: [] };
    assert.deepEqual(last?.event, { type: "committed", devices: [{ device: { key: 1, accountKey: 2 }, plan }] });
    assert.equal(one.told.length, 0, "a process hears nothing of itself");
  });

  it("what is told as a process ends comes to the others, which have its shares at once", async (context) => {
    const url = await databaseFor();
    const [one, two] = [await processOn(url, context), await processOn(url, context)];
    one.processes.tell(event(1));
    await one.processes.stop();
    one.processes.tell(event(2));
    await one.processes.close();
    await until(() => two.told.length === 2);
    await untilShared([two], [16]);
  });
});

function event(key: number): BusEvent {
  return { type: "userChanged", accountKey: 1, key };
}

/** The address of a database by way of something that lets nobody listen. */
async function deaf(url: string): Promise<string> {
  const there = new URL(url);
  const proxy = await TcpProxy.start(Number(there.port));
  const listen = `listen ${channel}`;
  proxy.onSent = (bytes) => {
    const at = bytes.indexOf(listen);
    if (at >= 0) bytes.write("select 1".padEnd(listen.length), at);
  };
  there.port = String(proxy.port);
  return there.href;
}
