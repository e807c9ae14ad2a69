import assert from "node:assert/strict";
import { test } from "node:test";
import { protocolById } from "../../src/protocols/index.ts";
import { AckedTracker, numberedReport } from "../support/acked-tracker.ts";
import { call, dataFolder, register, removeFolder, type Service, startService } from "../support/service.ts";

/** How each round of a test ends the service: SIGKILL as a crash does, SIGTERM as Ctrl-C does. */
const endings = {
  "killed at random moments under load": ["SIGKILL", "SIGKILL", "SIGKILL", "SIGKILL", "SIGKILL", "SIGKILL"],
  "stopped and killed in turn under load": ["SIGTERM", "SIGKILL", "SIGTERM"],
} as const;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Location {
  readonly dateTime: string;
  readonly latitude: number;
  readonly longitude: number;
}

function fleet(): readonly AckedTracker[] {
  const start = Math.floor(Date.now() / 1000) * 1000 - 20 * 86_400_000;
  const trackers: AckedTracker[] = [];
  for (const [id, count, perMessage] of [
    ["teltonika", 20, 1],
    ["teltonika", 10, 15],
    ["gt06", 10, 1],
    ["osmand", 6, 1],
  ] as const) {
    const protocol = protocolById(id);
    assert.ok(protocol, `protocol ${id}`);
    for (let index = 0; index < count; index++) {
      const device = `35299000${String(trackers.length).padStart(7, "0")}`;
      trackers.push(new AckedTracker(protocol, device, start, perMessage));
    }
  }
  return trackers;
}

async function stored(service: Service, tracker: AckedTracker): Promise<readonly Location[]> {
  const body = { from: "2000-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" };
  const answer = await call<{ locations: Location[]; nextCursor?: string | null }>(
    service,
    "POST",
    `/api/devices/${tracker.device}/locations`,
    body,
  );
  assert.equal(answer.nextCursor ?? null, null, "the whole history came in one answer");
  return answer.locations;
}

function check(tracker: AckedTracker, locations: readonly Location[]): void {
  const byTime = new Map(locations.map((location) => [Date.parse(location.dateTime), location]));
  assert.equal(byTime.size, locations.length, `${tracker.device}: a position is stored twice`);
  for (let number = 0; number < tracker.acked; number++) {
    const report = numberedReport(tracker.start, number);
    const location = byTime.get(report.time);
    assert.ok(location, `${tracker.device}: position ${number} of ${tracker.acked} was acknowledged and is not stored`);
    assert.ok(
      Math.abs(location.latitude - report.latitude) < 1e-5 && Math.abs(location.longitude - report.longitude) < 1e-5,
    );
    byTime.delete(report.time);
  }
  for (const time of byTime.keys()) {
    const number = (time - tracker.start) / 1000;
    assert.ok(number >= tracker.acked && number < tracker.sent, `${tracker.device}: position ${number} was never sent`);
  }
}

async function round(
  service: Service,
  trackers: readonly AckedTracker[],
  signal: "SIGKILL" | "SIGTERM",
): Promise<string> {
  for (const tracker of trackers) tracker.run(service.devicePort);
  const moment = 150 + Math.random() * 1200;
  await wait(moment);
  if (signal === "SIGKILL") await service.kill();
  else assert.equal(await service.stop(), 0, "a clean stop ends with exit code 0");
  // What the kernel still holds of an acknowledgement may arrive now; it was sent by the service, so it counts.
  await wait(50);
  for (const tracker of trackers) tracker.drop();
  const acked = trackers.reduce((sum, tracker) => sum + tracker.acked, 0);
  return `${signal} after ${moment.toFixed(0)} ms; ${acked} acknowledged`;
}

for (const [how, signals] of Object.entries(endings))
  test(`${how}, every acknowledged position is stored, and none twice`, async (context) => {
    const directory = dataFolder();
    const trackers = fleet();
    context.after(() => removeFolder(directory));
    for (const [index, signal] of signals.entries()) {
      const service = await startService(directory);
      if (index === 0)
        await register(
          service,
          trackers.map((tracker) => tracker.device),
        );
      context.diagnostic(await round(service, trackers, signal));
    }
    const service = await startService(directory);
    try {
      let total = 0;
      for (const tracker of trackers) {
        check(tracker, await stored(service, tracker));
        total += tracker.acked;
      }
      assert.ok(total > 100, `only ${total} positions were acknowledged: the load did not run`);
      context.diagnostic(`${total} acknowledged positions compared with what is stored`);
    } finally {
      await service.stop();
    }
  });
