import assert from "node:assert/strict";
import { test } from "node:test";
import { CountedCalls } from "../support/counted-calls.ts";
import { crashFleet, type FleetTracker } from "../support/crash-fleet.ts";
import { onPostgres } from "../support/engine.ts";
import { until } from "../support/gateway.ts";
import { compareTracker } from "../support/ledger.ts";
import { dataFolder, register, removeFolder, type Service, startService } from "../support/service.ts";
import { commandLine } from "../support/waybeam.ts";

/** How each round ends the service: SIGKILL as a crash does, SIGTERM as Ctrl-C does. */
const endings = {
  "killed at random moments under load": ["SIGKILL", "SIGKILL", "SIGKILL", "SIGKILL"],
  "stopped and killed in turn under load": ["SIGTERM", "SIGKILL", "SIGTERM"],
} as const;
/** How long the service lives at least in a round, and what chance adds, ms. */
const least = 100;
const chance = 1000;
const callsOfRound = 10;
const options = { timeout: 200_000 };

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** `place`: in the first round the calls are counted on disk before it ends; in the last one each tracker gets through. */
async function round(
  service: Service,
  trackers: readonly FleetTracker[],
  calls: CountedCalls,
  { signal, place }: { readonly signal: "SIGKILL" | "SIGTERM"; readonly place: "first" | "last" | undefined },
): Promise<string> {
  for (const tracker of trackers) tracker.run(service.devicePort);
  const moment = wait(least + Math.random() * chance);
  const paths = trackers.slice(0, callsOfRound).map(({ device }) => `/api/devices/${device}/lastLocation`);
  const called = Promise.all(paths.map((path) => calls.get(service, path)));
  if (place === "first") {
    await called;
    await calls.stored(service.directory);
  }
  if (place === "last") await until(() => trackers.every(({ acked }) => acked > 0));
  await moment;
  if (signal === "SIGKILL") await service.kill();
  else assert.equal(await service.stop(), 0, "a clean stop ends with exit code 0");
  await called;
  calls.ended(signal === "SIGTERM");
  // What the kernel still holds of an acknowledgement may arrive now; it was sent by the service, so it counts.
  await wait(50);
  for (const tracker of trackers) tracker.drop();
  return `${signal}; ${trackers.reduce((sum, tracker) => sum + tracker.acked, 0)} messages acknowledged`;
}

for (const [how, rounds] of Object.entries(endings))
  test(
    `${how}: what was acknowledged is stored whole and once, and all that is made of it is right`,
    options,
    async (context) => {
      const directory = dataFolder();
      let service: Service | undefined;
      context.after(async () => {
        await service?.kill();
        removeFolder(directory);
      });
      const began = Date.now();
      const trackers = crashFleet();
      const calls = new CountedCalls();
      context.after(() => {
        for (const tracker of trackers) tracker.drop();
      });
      for (const [index, signal] of rounds.entries()) {
        service = await startService(directory);
        if (index > 0) await calls.compare(service, "/api/account");
        else
          await register(
            service,
            trackers.map(({ device }) => device),
          );
        const place = index === 0 ? "first" : index === rounds.length - 1 ? "last" : undefined;
        context.diagnostic(await round(service, trackers, calls, { signal, place }));
      }
      service = await startService(directory);
      await calls.compare(service, "/api/account");
      let records = 0;
      for (const tracker of trackers) {
        const stored = await compareTracker(service, tracker, { began });
        records += stored;
      }
      context.diagnostic(`${records} stored records compared with what was acknowledged`);
      assert.equal(await service.stop(), 0);
      if (onPostgres) return;
      const read = await commandLine(directory).waybeam(["check"]);
      assert.equal(read.code, 0, read.out + read.err);
      const [, positions] =
        new RegExp(` (\\d+) positions of ${trackers.length} devices read; everything is whole`).exec(read.err) ?? [];
      // What was sent again after a kill may be in the log twice.
      assert.ok(Number(positions) >= records, read.err);
    },
  );
