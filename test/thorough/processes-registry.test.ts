import assert from "node:assert/strict";
import { before, describe, it, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { BusEvent } from "../../src/ports/bus.ts";
import { bucketCount } from "../../src/ports/processes.ts";
import { checkedAddress } from "../../src/store/postgres/checks.ts";
import { openPostgresRows } from "../../src/store/postgres/open.ts";
import { identified } from "../../src/store/postgres/open-store.ts";
import { PostgresProcesses } from "../../src/store/postgres/processes.ts";
import { usualTimes } from "../../src/store/postgres/times.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { silentLog } from "../support/silent-log.ts";

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
});
