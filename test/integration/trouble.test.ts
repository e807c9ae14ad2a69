import assert from "node:assert/strict";
import { once } from "node:events";
import { renameSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { protocolById } from "../../src/protocols/index.ts";
import { AckedTracker, numberedReport } from "../support/acked-tracker.ts";
import { call, dataFolder, register, removeFolder, startService } from "../support/service.ts";

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await holds()) return;
    await wait(50);
  }
  assert.fail(`never came: ${what}`);
}

test("a locked file: no acknowledgement, 503, and it goes on by itself when that ends", async (context) => {
  const directory = dataFolder();
  const service = await startService(directory, { WAYBEAM_LOG_LEVEL: "silent" });
  context.after(async () => {
    await service.stop();
    removeFolder(directory);
  });
  const device = "352990000000901";
  await register(service, [device]);
  const teltonika = protocolById("teltonika");
  assert.ok(teltonika);
  const tracker = new AckedTracker(teltonika, device, Math.floor(Date.now() / 1000) * 1000 - 86_400_000, 1);
  tracker.run(service.devicePort);
  await until("the first acknowledgement", () => tracker.acked > 0);

  const other = new DatabaseSync(join(directory, "waybeam.db"), { timeout: 10_000 });
  other.exec("BEGIN IMMEDIATE");
  await until("readiness ends", async () => (await fetch(`${service.url}/health/ready`)).status === 503);
  const before = tracker.acked;
  await wait(300);
  assert.equal(tracker.acked, before, "nothing is acknowledged while nothing can be stored");
  const answer = await fetch(`${service.url}/api/devices`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.token}`, "content-type": "application/json" },
    body: JSON.stringify({ id: "another" }),
  });
  assert.equal(answer.status, 503);
  assert.ok(answer.headers.get("retry-after"));
  const body = (await answer.json()) as { success: boolean; error: string };
  assert.equal(body.success, false);
  assert.equal(body.error, "Service Unavailable");

  other.exec("ROLLBACK");
  other.close();
  await until("acknowledgements again", () => tracker.acked > before);
  await until("readiness again", async () => (await fetch(`${service.url}/health/ready`)).ok);
  tracker.drop();
  const { locations } = await call<{ locations: { dateTime: string }[] }>(
    service,
    "POST",
    `/api/devices/${device}/locations`,
    { from: "2000-01-01", to: "2100-01-01" },
  );
  assert.ok(locations.length >= tracker.acked);
  assert.equal(Date.parse(locations[0]?.dateTime ?? ""), numberedReport(tracker.start, 0).time);
});

test("a second process on the same folder says so and ends", async (context) => {
  const directory = dataFolder();
  const service = await startService(directory);
  context.after(async () => {
    await service.stop();
    removeFolder(directory);
  });
  await assert.rejects(startService(directory), /is used by another|in use/);
});

test("an unknown tracker gets no positive reply, nothing of it is stored, and it is listed", async (context) => {
  const directory = dataFolder();
  const service = await startService(directory);
  context.after(async () => {
    await service.stop();
    removeFolder(directory);
  });
  const teltonika = protocolById("teltonika");
  assert.ok(teltonika?.simulate?.login);
  const { login, report } = teltonika.simulate;
  const socket = connect(service.devicePort, "127.0.0.1");
  const answers: Buffer[] = [];
  socket.on("data", (chunk) => answers.push(Buffer.from(chunk)));
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(login("352990000000999", 1));
  socket.write(report("352990000000999", [numberedReport(Date.now() - 60_000, 0)], 2));
  const listed = await (async () => {
    for (let tries = 0; tries < 100; tries++) {
      const { quarantine } = await call<{ quarantine: { ids: string[]; protocol: string }[] }>(
        service,
        "GET",
        "/api/quarantine",
      );
      if (quarantine.length > 0) return quarantine;
      await wait(50);
    }
    return [];
  })();
  assert.deepEqual(listed[0]?.ids, ["352990000000999"]);
  assert.equal(listed[0]?.protocol, "teltonika");
  socket.destroy();
  assert.ok(!Buffer.concat(answers).includes(1), "no login was accepted");
});

test("a data folder that is moved away: nothing is acknowledged until it is back", async (context) => {
  const directory = dataFolder();
  const service = await startService(directory, { WAYBEAM_LOG_LEVEL: "silent" });
  context.after(async () => {
    await service.stop();
    removeFolder(directory);
  });
  const device = "352990000000902";
  await register(service, [device]);
  const teltonika = protocolById("teltonika");
  assert.ok(teltonika);
  const tracker = new AckedTracker(teltonika, device, Math.floor(Date.now() / 1000) * 1000 - 86_400_000, 1);
  tracker.run(service.devicePort);
  await until("the first acknowledgement", () => tracker.acked > 0);
  renameSync(directory, `${directory}-moved`);
  await until("readiness ends", async () => (await fetch(`${service.url}/health/ready`)).status === 503);
  const before = tracker.acked;
  await wait(300);
  assert.equal(tracker.acked, before);
  renameSync(`${directory}-moved`, directory);
  await until("acknowledgements again", () => tracker.acked > before);
  tracker.drop();
});

test("a first start that finds its port taken tells nobody the key; the next one does", async (context) => {
  const directory = dataFolder();
  context.after(() => removeFolder(directory));
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
  assert.match(service.said(), /wbk_/);
  const again = await startService(directory);
  assert.equal(await again.stop(), 0);
  assert.doesNotMatch(again.said(), /wbk_/);
});
