import assert from "node:assert/strict";
import { test } from "node:test";
import { CountedCalls } from "../support/counted-calls.ts";
import { crashFleet, type FleetTracker } from "../support/crash-fleet.ts";
import { expectedLast, foldedTotals, type Location, totalsOf, withoutTotals } from "../support/location-content.ts";
import { call, dataFolder, register, removeFolder, type Service, startService } from "../support/service.ts";
import { commandLine } from "../support/waybeam.ts";

/** How each round ends the service (SIGKILL as a crash does, SIGTERM as Ctrl-C does), and how long it lives at least, ms. */
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
const options = { timeout: 90_000 };

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function history(service: Service, { device }: FleetTracker): Promise<readonly Location[]> {
  const body = { from: "2000-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" };
  const path = `/api/devices/${device}/locations`;
  const answer = await call<{ locations: Location[]; nextCursor?: string | null }>(service, "POST", path, body);
  assert.equal(answer.nextCursor ?? null, null, "the whole history came in one answer");
  return answer.locations;
}

/** A record's content as text, its members in an order of their own. */
function key(content: object): string {
  return JSON.stringify(content, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
}

/** Every record that was acknowledged is stored as it was sent, once; what else is stored was sent too, in whole messages. */
function compareRecords(tracker: FleetTracker, stored: readonly Location[], began: number): void {
  const left = new Set<string>();
  for (const location of stored) {
    const { content, receivedAt } = withoutTotals(location);
    const text = key(content);
    assert.ok(!left.has(text), `${tracker.device}: stored twice: ${text}`);
    assert.ok(Date.parse(receivedAt) >= began && Date.parse(receivedAt) <= Date.now(), `arrived at ${receivedAt}`);
    left.add(text);
  }
  const acknowledged = new Set<string>();
  for (let message = 0; message < tracker.acked; message++)
    for (const content of tracker.expected(message)) acknowledged.add(key(content));
  for (const text of acknowledged)
    assert.ok(left.delete(text), `${tracker.device}: acknowledged and not stored: ${text}`);
  const inFlight = tracker.sent > tracker.acked ? tracker.expected(tracker.acked).map(key) : [];
  const fresh = inFlight.filter((text) => !acknowledged.has(text));
  const landed = fresh.filter((text) => left.delete(text));
  assert.deepEqual([...left], [], `${tracker.device}: stored and never sent`);
  assert.ok(landed.length === 0 || landed.length === fresh.length, `${tracker.device}: half of a message is stored`);
}

/** Totals and last location are those of the stored records in the order of time, whatever order they came in. */
async function compareTotals(service: Service, tracker: FleetTracker, stored: readonly Location[]): Promise<void> {
  const times = stored.map(({ dateTime }) => dateTime);
  assert.deepEqual(times, times.toSorted(), `${tracker.device}: by time`);
  assert.deepEqual(stored.map(totalsOf), foldedTotals(stored), `${tracker.device}: totals`);
  const path = `/api/devices/${tracker.device}/lastLocation`;
  const { lastLocation } = await call<{ lastLocation: Location }>(service, "GET", path);
  assert.deepEqual(lastLocation, expectedLast(stored), `${tracker.device}: last location`);
}

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
        const stored = await history(service, tracker);
        compareRecords(tracker, stored, began);
        await compareTotals(service, tracker, stored);
        // Each kind gets through: none waits for ever behind the others.
        assert.ok(tracker.acked > 0, `${tracker.device}: nothing was acknowledged`);
        records += stored.length;
      }
      context.diagnostic(`${records} stored records compared with what was acknowledged`);
      assert.equal(await service.stop(), 0);
      const read = await commandLine(directory).waybeam(["check"]);
      assert.equal(read.code, 0, read.out + read.err);
      assert.match(
        read.err,
        new RegExp(` ${records} positions of ${trackers.length} devices read; everything is whole`),
      );
    },
  );
