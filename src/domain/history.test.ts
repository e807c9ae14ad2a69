import assert from "node:assert/strict";
import { test } from "node:test";
import type { Alert as AlertView } from "../contract/alert.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { Device } from "../model/device.ts";
import { noIdentityRules } from "../model/device.ts";
import type { AlertRange, StoredAlert } from "../ports/alert-store.ts";
import type { HistoryChunk, HistoryRange } from "../ports/history.ts";
import { createHistory, type OpenHistory } from "./history.ts";
import { ListCursors } from "./list-cursors.ts";
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
  identity: noIdentityRules,
  positionDays: null,
  timeOffset: 0,
  speedUnit: null,
  spoken: [],
  creation: 0,
  modification: 0,
};

/** Records at 0, 1, 2 ... seconds of the day, one a chunk. */
async function* records(count: number, { from, after, limit }: HistoryRange): AsyncGenerator<HistoryChunk> {
  const first = after === undefined ? 0 : (after.time - from) / 1000 + 1;
  for (let index = first; index < Math.min(count, first + limit); index++)
    yield { json: Buffer.from(String(index)), count: 1, last: { time: from + index * 1000, nth: index + 1 } };
}

const handling = { state: "open", endedAt: null, acknowledged: null, closed: null } as const;

/** Alerts at the same times, two at each. */
function alertsOf(count: number, { from, after, limit }: AlertRange): readonly StoredAlert[] {
  const all = Array.from({ length: count }, (_, index) => ({
    ...{ key: index + 1, id: `alert ${index}`, device: 7, ruleKey: 3, ruleId: "rule", name: "Speed" },
    ...{
      type: "speedOver" as const,
      phase: "raised" as const,
      time: from + Math.floor(index / 2) * 1000,
      raisedAt: now,
    },
    ...{ latitude: 4.5, longitude: -74.1, speed: 92, critical: false, late: false, facts: { value: 92 } },
    ...{ text: "fast", channels: ["email" as const, "command" as const], handling },
  }));
  const follows = (alert: StoredAlert) =>
    after === undefined || alert.time > after.time || (alert.time === after.time && alert.key > after.key);
  return all.filter(follows).slice(0, limit);
}

/** Histories of so many locations and alerts; notes what alerts are asked for. */
function build({ locations = 0, alerts = 0, dailyResults = 1000, shownFrom = Number.NEGATIVE_INFINITY }) {
  const named: (string | undefined)[] = [];
  const history = createHistory({
    histories: { history: (_key, range) => records(locations, range) },
    alerts: {
      list: async (_key, range) => {
        named.push(range.name);
        return alertsOf(alerts, range);
      },
    },
    cursors: new ListCursors("a secret"),
    results: new Tally(async () => ({ total: 0, daily: 0 })),
    shownFrom: async () => shownFrom,
    clock: { now: () => now, monotonic: () => 0 },
    dailyResults,
  });
  return { history, named };
}

function ids(alerts: readonly AlertView[] | undefined): readonly string[] {
  return (alerts ?? []).map(({ id }) => id);
}

async function read(opened: Promise<OpenHistory>) {
  const { start, rest } = await opened;
  let text = start;
  for await (const piece of rest) text += piece.toString();
  return JSON.parse(`{${text}}`) as { alerts?: AlertView[]; locations?: number[]; nextCursor?: string };
}

test("alerts come in pages, and the source hears whose are asked for", async () => {
  const { history, named } = build({ alerts: 5 });
  const first = await read(history.alerts(device, { ...asked, limit: 3, alertName: "Speed" }));
  assert.deepEqual(ids(first.alerts), ["alert 0", "alert 1", "alert 2"]);
  assert.ok(first.nextCursor);
  const second = await read(history.alerts(device, { ...asked, limit: 3, cursor: first.nextCursor }));
  assert.deepEqual(ids(second.alerts), ["alert 3", "alert 4"]);
  assert.equal(second.nextCursor, undefined);
  assert.deepEqual(named, ["Speed", "Speed", undefined]);
});

test("a cursor tells nothing of its place: an alert's key would say how many all accounts have", async () => {
  const { history } = build({ alerts: 5, locations: 5 });
  for (const opened of [
    history.alerts(device, { ...asked, limit: 3 }),
    history.locations(device, { ...asked, limit: 3 }),
  ]) {
    const { nextCursor = "" } = await read(opened);
    assert.doesNotMatch(Buffer.from(nextCursor, "base64url").toString("latin1"), /\d{10}/);
  }
});

test("a cursor holds for its list, device and range alone", async () => {
  const { history } = build({ alerts: 5, locations: 5 });
  const { nextCursor: cursor = "" } = await read(history.alerts(device, { ...asked, limit: 3 }));
  assert.ok(cursor);
  const refused = (error: unknown) => error instanceof ApiError && error.code === "badRequest";
  await assert.rejects(history.locations(device, { ...asked, cursor }), refused);
  await assert.rejects(history.alerts({ ...device, key: 8 }, { ...asked, cursor }), refused);
  await assert.rejects(history.alerts(device, { ...asked, to: "2026-11-22T00:00:01Z", cursor }), refused);
  await assert.rejects(history.alerts(device, { ...asked, cursor: `${cursor}A` }), refused);
});

test("many alerts are read step by step, each once", async () => {
  const { history } = build({ alerts: 1250, dailyResults: 5000 });
  const { alerts } = await read(history.alerts(device, asked));
  assert.equal(new Set(ids(alerts)).size, 1250);
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

test("what is older than what is shown is not read, in whatever range; a cursor of before goes on", async () => {
  const shownFrom = Date.parse(asked.from) + 5000;
  const froms: number[] = [];
  const make = (from: number) =>
    createHistory({
      histories: {
        history: (_key, range) => {
          froms.push(range.from);
          return records(8, range);
        },
      },
      alerts: { list: async () => alertsOf(2, { from: Date.parse(asked.from), to: 0, limit: 2 }) },
      cursors: new ListCursors("a secret"),
      results: new Tally(async () => ({ total: 0, daily: 0 })),
      shownFrom: async () => from,
      clock: { now: () => now, monotonic: () => 0 },
      dailyResults: 1000,
    });
  const before = await read(make(Number.NEGATIVE_INFINITY).locations(device, { ...asked, limit: 2 }));
  const cursor = before.nextCursor;
  assert.ok(cursor !== undefined);
  for (const list of ["locations", "readings"] as const) await read(make(shownFrom)[list](device, asked));
  await read(make(shownFrom).locations(device, { ...asked, limit: 2, cursor }));
  const begin = Date.parse(asked.from);
  assert.deepEqual(new Set(froms), new Set([begin, shownFrom]));
  assert.ok(froms.slice(-3).every((from) => from === shownFrom));
  // Alerts have days of their own.
  assert.equal((await read(make(shownFrom).alerts(device, asked))).alerts?.length, 2);
});
