import { join } from "node:path";
import { createMemoryBus } from "../../src/bus/memory.ts";
import { Follower } from "../../src/follow/follower.ts";
import { freshRecordOf } from "../../src/ingest/fresh-record.ts";
import { Ingest } from "../../src/ingest/ingest.ts";
import { ingestMetrics } from "../../src/ingest/metrics.ts";
import type { Report } from "../../src/model/effects.ts";
import type { SaidRecord } from "../../src/model/said.ts";
import { createLog, createMetrics, systemClock } from "../../src/observe/index.ts";
import type { Admitted } from "../../src/ports/intake.ts";
import { openSqlitePositions } from "../../src/store/positions/sqlite/open.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { deviceFields, makeAccount } from "../../test/contract/store/harness.ts";
import { noAlertEngine } from "../../test/support/no-alert-engine.ts";

/** A way from reports to the disk, without sockets. Devices are counted from 0. */
export interface Way {
  /** `done`: the reports are on disk. */
  submit(device: number, reports: readonly Report[], done: () => void): void;
  /** What of it waits to be packed, for people. */
  waiting(): string;
  close(): Promise<void>;
}

const log = createLog("silent");

/** Ingest, the store, and the follower behind. */
export async function followedWay(directory: string, devices: number): Promise<Way> {
  const store = await openSqliteStore({ directory, log, pid: process.pid });
  const metrics = ingestMetrics(createMetrics({ processMetrics: false }));
  const bus = createMemoryBus((error) => log.error({ error }, "bus"));
  const parts = { store, bus, clock: systemClock, log, engine: noAlertEngine };
  const follower = new Follower({ ...parts, mostLagBytes: 64 * 1024 * 1024 });
  const ingest = new Ingest({ maxFutureMs: 600_000 }, { ...parts, metrics, following: follower });
  await follower.start();
  const account = await makeAccount(store, devices);
  const admitted: Admitted[] = [];
  for (let at = 0; at < devices; at++) {
    await store.devices.create(account.key, deviceFields({ id: `tracker-${at}` }), Date.now());
    const admission = await ingest.admit([`tracker-${at}`]);
    if (admission.status !== "admitted") throw new Error(`tracker-${at} is ${admission.status}`);
    admitted.push(admission);
  }
  return {
    submit(device, reports, done) {
      const one = admitted[device];
      if (one !== undefined) ingest.submit(one, reports, Date.now(), done);
    },
    waiting: () =>
      `${(store.positions.figures().logBytes / 2 ** 20).toFixed(0)} MiB of log and ${follower.behind} devices wait`,
    async close() {
      await ingest.stop();
      await follower.stop();
      await store.close();
    },
  };
}

/** A log in SQLite: what waits while one commit is on its way is the next commit. */
export async function logWay(directory: string): Promise<Way> {
  const store = await openSqlitePositions({ file: join(directory, "positions.db"), log });
  let gathered = new Map<number, SaidRecord[]>();
  let told: (() => void)[] = [];
  let running: Promise<void> | undefined;
  const run = async () => {
    while (gathered.size > 0) {
      // Everything that this turn of the event loop brings joins the batch.
      await new Promise((resolve) => setImmediate(resolve));
      const [batch, dones] = [gathered, told];
      [gathered, told] = [new Map(), []];
      // Nobody follows: all of it may be packed.
      store.followed(await store.append(Array.from(batch, ([device, records]) => ({ device: device + 1, records }))));
      for (const done of dones) done();
    }
    running = undefined;
  };
  return {
    submit(device, reports, done) {
      const records = gathered.get(device) ?? [];
      gathered.set(device, records);
      for (const report of reports) records.push(saidOf(report));
      told.push(done);
      running ??= run();
    },
    waiting: () => `${(store.figures().logBytes / 2 ** 20).toFixed(0)} MiB of log wait`,
    async close() {
      await running;
      await store.close();
    },
  };
}

function saidOf(report: Report): SaidRecord {
  const now = Date.now();
  return freshRecordOf(report, report.time ?? now, now, false);
}
