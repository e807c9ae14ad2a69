import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Fix, ReadingsReport } from "../../src/model/effects.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

const start = Date.UTC(2026, 0, 1);
const minute = 60_000;
const sensor = (index: number): ReadingsReport => ({
  type: "readings",
  time: start + index * minute,
  alarms: index % 10 === 0 ? ["sos"] : [],
  readings: { battery: 100 - index, temperature: index / 2, input1: index % 2 === 0 },
  attributes: { note: `n${index}` },
});
const fix = (index: number): Fix => ({
  ...sensor(index),
  type: "fix",
  time: start + index * minute,
  valid: true,
  latitude: 4.711,
  longitude: -74.0721 + index / 1000,
  speed: 42.5,
});

const range = { from: "2026-01-01T00:00:00Z", to: "2026-01-01T23:59:59.999Z" };
let rest: Rest;
let token: string;

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000, dailyResults: 500 } });
  token = await rest.ownerToken();
});
after(() => endRest(rest));

const register = (id: string) => rest.call("POST", "/api/devices", { token, body: { id } });
const read = async (id: string, list: "locations" | "readings", more: object = {}) =>
  (await rest.call("POST", `/api/devices/${id}/${list}`, { token, body: { ...range, ...more } })).json;

describe("a sensor without GPS", () => {
  const expected = (index: number) => ({
    dateTime: new Date(start + index * minute).toISOString(),
    battery: 100 - index,
    temperature: index / 2,
    inputs: [index % 2 === 0],
    attributes: {
      note: `n${index}`,
      ...(index % 10 === 0 && { alarms: "sos" }),
    },
  });
  const withoutArrival = ({
    attributes: { receivedAt, ...attributes },
    ...reading
  }: {
    attributes: { receivedAt: string };
  }) => ({
    ...reading,
    attributes,
  });

  test("has a history: all that it reported, in order and once, and no locations", async () => {
    await register("fridge");
    const reports = Array.from({ length: 60 }, (_, index) => sensor(index));
    for (const part of [reports.slice(30), reports.slice(0, 30), reports.slice(20, 40)])
      await rest.report("fridge", ...part);
    const { readings, nextCursor } = await read("fridge", "readings");
    assert.deepEqual(
      readings.map(withoutArrival),
      reports.map((_, index) => expected(index)),
    );
    assert.equal(nextCursor, undefined);
    assert.deepEqual((await read("fridge", "locations")).locations, []);
    assert.equal((await rest.call("GET", "/api/devices/fridge/lastLocation", { token })).json.lastLocation, null);
  });

  test("is read in pages, of which each cursor holds for this list alone", async () => {
    const pages: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await read("fridge", "readings", { limit: 25, ...(cursor === undefined ? {} : { cursor }) });
      pages.push(...page.readings);
      cursor = page.nextCursor ?? undefined;
      if (cursor !== undefined) assert.equal((await read("fridge", "locations", { cursor })).error, "Bad Request");
    } while (cursor !== undefined);
    assert.deepEqual(pages, (await read("fridge", "readings")).readings);
  });

  test("shares the results of its day with the locations", async () => {
    await register("greedy");
    await rest.report("greedy", ...Array.from({ length: 300 }, (_, index) => fix(index)));
    assert.equal((await read("greedy", "readings")).readings.length, 300);
    assert.equal((await read("greedy", "locations")).locations.length, 200);
    assert.equal((await read("greedy", "readings")).error, "daily results limit reached");
  });
});

test("refused reports are read in pages, newest first, of which a cursor holds for its device alone", async () => {
  for (const id of ["clockless", "other"]) await register(id);
  const past = Date.UTC(1999, 0, 1);
  const reports = Array.from({ length: 25 }, (_, index) => ({ ...fix(0), time: past + index * 1000 }));
  await rest.report("clockless", ...reports);
  const page = async (id: string, query: string) =>
    rest.call("GET", `/api/devices/${id}/refused?limit=10${query}`, { token });
  const seen: string[] = [];
  const sizes: number[] = [];
  let query = "";
  do {
    const { status, json } = await page("clockless", query);
    assert.equal(status, 200);
    sizes.push(json.refused.length);
    seen.push(...json.refused.map(({ dateTime }: { dateTime: string }) => dateTime));
    query = json.nextCursor === undefined ? "" : `&cursor=${json.nextCursor}`;
    if (query !== "") assert.equal((await page("other", query)).status, 400);
  } while (query !== "");
  assert.deepEqual(sizes, [10, 10, 5]);
  assert.deepEqual(seen, reports.map(({ time }) => new Date(time).toISOString()).toReversed());
  assert.equal((await page("clockless", "&cursor=nonsense")).status, 400);
});

test("readings before a position stay readings; those after it are locations too, whatever came first", async () => {
  const reports = [sensor(0), sensor(1), fix(2), sensor(3), { ...fix(4), valid: false, latitude: 0 }, sensor(5)];
  const orders = [reports, reports.toReversed(), [5, 0, 3, 2, 1, 4].flatMap((at) => reports[at] ?? [])];
  const seen: unknown[] = [];
  for (const [index, order] of orders.entries()) {
    const id = `mixed-${index}`;
    await register(id);
    for (const report of order) await rest.report(id, report);
    await rest.followed();
    const { readings } = await read(id, "readings");
    const { locations } = await read(id, "locations");
    const last = (await rest.call("GET", `/api/devices/${id}/lastLocation`, { token })).json.lastLocation;
    assert.deepEqual(
      readings.map(({ latitude }: { latitude?: number }) => latitude),
      [undefined, undefined, 4.711, undefined, 0, undefined],
    );
    assert.deepEqual(
      locations.map(({ latitude, attributes }: { latitude: number; attributes: { positionTime?: string } }) => [
        latitude,
        attributes.positionTime,
      ]),
      [
        [4.711, undefined],
        [4.711, "2026-01-01T00:02:00.000Z"],
        [0, undefined],
        [4.711, "2026-01-01T00:02:00.000Z"],
      ],
    );
    seen.push(JSON.stringify([readings, locations, last]).replaceAll(/"receivedAt":"[^"]*"/g, ""));
  }
  assert.equal(new Set(seen).size, 1);
});
