import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../errors/catalogue.ts";
import type { Device } from "../model/device.ts";
import type { AlertRange } from "../ports/alerts.ts";
import type { HistoryChunk } from "../ports/store.ts";
import { noAlerts } from "./alerts.ts";
import { createHistory, type OpenHistory } from "./history.ts";
import { Tally } from "./tally.ts";

const now = Date.UTC(2026, 10, 21, 12);
const asked = { from: "2026-11-21T00:00:00Z", to: "2026-11-22T00:00:00Z" };
const device: Device = {
  key: 7,
  accountKey: 1,
  id: "d",
  aliases: [],
  name: "d",
  description: null,
  min: null,
  tags: {},
  expires: null,
  dailyEmailLimit: 50,
  dailySmsLimit: 10,
  odometerStart: 0,
  creation: 0,
  modification: 0,
};

/** Records at 0, 1, 2 ... seconds of the day, one a chunk. */
async function* records(count: number, { from, after, limit }: AlertRange): AsyncGenerator<HistoryChunk> {
  const first = after === undefined ? 0 : (after.time - from) / 1000 + 1;
  for (let index = first; index < Math.min(count, first + limit); index++)
    yield { json: Buffer.from(String(index)), count: 1, last: { time: from + index * 1000, hash: index } };
}

/** Histories of so many locations and alerts; notes what alerts are asked for. */
function build({ locations = 0, alerts = 0, dailyResults = 1000 }) {
  const named: (string | undefined)[] = [];
  const history = createHistory({
    locations: { history: (_key, range) => records(locations, range) },
    alerts: {
      alerts: (_key, range) => {
        named.push(range.name);
        return records(alerts, range);
      },
    },
    results: new Tally(async () => ({ total: 0, daily: 0 })),
    clock: { now: () => now, monotonic: () => 0 },
    dailyResults,
  });
  return { history, named };
}

async function read(opened: Promise<OpenHistory>) {
  const { start, rest } = await opened;
  let text = start;
  for await (const piece of rest) text += piece.toString();
  return JSON.parse(`{${text}}`) as { alerts?: number[]; locations?: number[]; nextCursor?: string };
}

test("alerts come in pages, and the source hears whose are asked for", async () => {
  const { history, named } = build({ alerts: 5 });
  const first = await read(history.alerts(device, { ...asked, limit: 3, alertName: "Speed" }));
  assert.deepEqual(first.alerts, [0, 1, 2]);
  assert.ok(first.nextCursor);
  const second = await read(history.alerts(device, { ...asked, limit: 3, cursor: first.nextCursor }));
  assert.deepEqual(second, { alerts: [3, 4] });
  assert.deepEqual(named, ["Speed", "Speed", undefined]);
});

test("locations and alerts share the device's daily results", async () => {
  const { history } = build({ locations: 10, alerts: 10, dailyResults: 14 });
  assert.equal((await read(history.locations(device, asked))).locations?.length, 10);
  const rest = await read(history.alerts(device, asked));
  assert.equal(rest.alerts?.length, 4);
  assert.ok(rest.nextCursor);
  for (const opened of [history.alerts(device, asked), history.locations(device, asked)])
    await assert.rejects(opened, (error) => error instanceof ApiError && error.code === "dailyResults");
});

test("without an alert engine there are no alerts", async () => {
  const history = createHistory({
    locations: { history: (_key, range) => records(1, range) },
    alerts: noAlerts,
    results: new Tally(async () => ({ total: 0, daily: 0 })),
    clock: { now: () => now, monotonic: () => 0 },
    dailyResults: 10,
  });
  assert.deepEqual(await read(history.alerts(device, asked)), { alerts: [] });
});
