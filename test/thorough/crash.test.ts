import assert from "node:assert/strict";
import { test } from "node:test";
import { CountedCalls } from "../support/counted-calls.ts";
import { crashFleet, type FleetTracker } from "../support/crash-fleet.ts";
import { onPostgres } from "../support/engine.ts";
import { compareTracker } from "../support/ledger.ts";
import { dataFolder, register, removeFolder, type Service, startService } from "../support/service.ts";
import { commandLine } from "../support/waybeam.ts";

/**
 * How each round ends the service (SIGKILL as a crash does, SIGTERM as Ctrl-C does), and how long it lives at least,
 * ms.
 */
const endings = {
  // The first lives long enough for its calls to have been counted on disk.
  "killed at random moments under load": [
    ["SIGKILL", 3000],
    ["SIGKILL", 100],
    ["SIGKILL", 100],
    ["SIGKILL", 100],
  ],
  "stopped and killed in turn under load": [
    ["SIGTERM", 100],
    ["SIGKILL", 100],
    ["SIGTERM", 100],
  ],
} as const;
/** What chance adds to a round, ms. */
const chance = 1000;
const callsOfRound = 10;
const options = { timeout: 200_000 };

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function round(
  service: Service,
  trackers: readonly FleetTracker[],
  calls: CountedCalls,
  [signal, least]: readonly ["SIGKILL" | "SIGTERM", number],
): Promise<string> {
  for (const tracker of trackers) tracker.run(service.devicePort);
  const moment = wait(least + Math.random() * chance);
  const paths = trackers.slice(0, callsOfRound).map(({ device }) => `/api/devices/${device}/lastLocation`);
  const called = Promise.all(paths.map((path) => calls.get(service, path)));
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
      for (const [index, ending] of rounds.entries()) {
        service = await startService(directory);
        if (index > 0) await calls.compare(service, "/api/account");
        else
          await register(
            service,
            trackers.map(({ device }) => device),
          );
        context.diagnostic(await round(service, trackers, calls, ending));
      }
      service = await startService(directory);
      await calls.compare(service, "/api/account");
      let records = 0;
      for (const tracker of trackers) {
        const stored = await compareTracker(service, tracker, { began });
        // Each kind gets through: none waits for ever behind the others.
        assert.ok(tracker.acked > 0, `${tracker.device}: nothing was acknowledged`);
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
