import assert from "node:assert/strict";
import { once } from "node:events";
import { renameSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { protocolById } from "../../src/protocols/index.ts";
import { AckedTracker, numberedReport, speechOf } from "../support/acked-tracker.ts";
import { Peer, until } from "../support/gateway.ts";
import { call, dataFolder, folderOf, register, removeFolder, type Service, startService } from "../support/service.ts";

const options = { timeout: 60_000 };
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const teltonika = protocolById("teltonika") ?? assert.fail("no such protocol");

/** A service that is gone after the test, with its folder. */
async function serviceOf(context: TestContext, environment: Record<string, string> = {}): Promise<Service> {
  const directory = dataFolder();
  const service = await startService(directory, environment);
  context.after(async () => {
    await service.stop();
    removeFolder(directory);
  });
  return service;
}

const isReady = async ({ url }: Service) => (await fetch(`${url}/health/ready`)).ok;

/** A registered tracker that is acknowledged, over a service whose log may complain. */
async function trackedService(
  context: TestContext,
): Promise<{ service: Service; tracker: AckedTracker; start: number }> {
  const service = await serviceOf(context, { WAYBEAM_LOG_LEVEL: "silent" });
  const device = "352990000000901";
  await register(service, [device]);
  const start = Math.floor(Date.now() / 1000) * 1000 - 86_400_000;
  const tracker = new AckedTracker(device, speechOf(teltonika, start));
  context.after(() => tracker.drop());
  tracker.run(service.devicePort);
  await until(() => tracker.acked > 0);
  return { service, tracker, start };
}

/** Waits until the service can't store, and looks that it acknowledges nothing then; gives what was acknowledged. */
async function acknowledgesNothing(service: Service, tracker: AckedTracker): Promise<number> {
  await until(async () => !(await isReady(service)));
  const before = tracker.acked;
  await wait(300);
  assert.equal(tracker.acked, before, "nothing is acknowledged while nothing can be stored");
  return before;
}

/** Locks a database of the service; gives what ends that. */
function locked(service: Service, name: string): () => void {
  const other = new DatabaseSync(join(service.directory, name), { timeout: 10_000 });
  other.exec("BEGIN IMMEDIATE");
  return () => {
    other.exec("ROLLBACK");
    other.close();
  };
}

/** The tracker's whole history is there, from its first report on. */
async function assertWhole(service: Service, tracker: AckedTracker, start: number): Promise<void> {
  tracker.drop();
  const path = `/api/devices/${tracker.device}/locations`;
  type Found = { locations: { dateTime: string }[] };
  const { locations } = await call<Found>(service, "POST", path, { from: "2000-01-01", to: "2100-01-01" });
  assert.ok(locations.length >= tracker.acked);
  assert.equal(Date.parse(locations[0]?.dateTime ?? ""), numberedReport(start, 0).time);
}

test(
  "a locked file of positions: no acknowledgement, and it goes on by itself when that ends",
  options,
  async (context) => {
    const { service, tracker, start } = await trackedService(context);
    const unlock = locked(service, "positions.db");
    const before = await acknowledgesNothing(service, tracker);
    unlock();
    await until(() => tracker.acked > before);
    await until(() => isReady(service));
    await assertWhole(service, tracker, start);
  },
);

test("a locked file of everything else: 503, and a tracker that is known goes on", options, async (context) => {
  const { service, tracker, start } = await trackedService(context);
  const unlock = locked(service, "waybeam.db");
  await until(async () => !(await isReady(service)));
  const answer = await fetch(`${service.url}/api/devices`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.token}`, "content-type": "application/json" },
    body: JSON.stringify({ id: "another" }),
  });
  assert.equal(answer.status, 503);
  assert.ok(answer.headers.get("retry-after"));
  const { success, error } = (await answer.json()) as { success: boolean; error: string };
  assert.deepEqual([success, error], [false, "Service Unavailable"]);
  const before = tracker.acked;
  await until(() => tracker.acked > before + 10);
  unlock();
  await until(() => isReady(service));
  await assertWhole(service, tracker, start);
});

test("a data folder that is moved away: nothing is acknowledged until it is back", options, async (context) => {
  const { service, tracker } = await trackedService(context);
  const moved = `${service.directory}-moved`;
  renameSync(service.directory, moved);
  const before = await acknowledgesNothing(service, tracker);
  renameSync(moved, service.directory);
  await until(() => tracker.acked > before);
});

test("a second process on the same folder says so and ends", options, async (context) => {
  const { directory } = await serviceOf(context);
  await assert.rejects(startService(directory), /is used by another|in use/);
});

test(
  "an unknown tracker gets no positive reply, nothing of it is stored, and it is listed",
  options,
  async (context) => {
    const service = await serviceOf(context);
    const { login, report } = teltonika.simulate ?? {};
    assert.ok(login && report);
    const peer = new Peer(service.devicePort);
    peer.send(login("352990000000999", 1));
    peer.send(report("352990000000999", [numberedReport(Date.now() - 60_000, 0)], 2));
    type Listed = { quarantine: { ids: string[]; protocol: string }[] };
    const listed = async () => (await call<Listed>(service, "GET", "/api/quarantine")).quarantine;
    await until(async () => (await listed()).length > 0);
    const [first] = await listed();
    assert.deepEqual([first?.ids, first?.protocol], [["352990000000999"], "teltonika"]);
    peer.end();
    assert.ok(!peer.received.includes("\x01"), "no login was accepted");
  },
);

test("a first start that finds its port taken tells nobody the key; the next one does", options, async (context) => {
  const directory = folderOf(context);
  const blocker = createServer().listen(0, "127.0.0.1");
  await once(blocker, "listening");
  const address = blocker.address();
  assert.ok(typeof address === "object" && address !== null);
  await assert.rejects(
    startService(directory, { WAYBEAM_HTTP_PORT: String(address.port), WAYBEAM_HTTP_HOST: "127.0.0.1" }),
  );
  blocker.close();
  // Stopped before its words are looked at: it is ready before it has told all, and must not outlive a failed test.
  const service = await startService(directory);
  assert.equal(await service.stop(), 0);
  assert.match(service.said(), /first start.*API key/);
  const again = await startService(directory);
  assert.equal(await again.stop(), 0);
  assert.doesNotMatch(again.said(), /first start|API key/);
});
