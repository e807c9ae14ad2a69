import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Fix } from "../../src/model/effects.ts";
import { type Store, StoreUnavailable } from "../../src/ports/store.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

const start = Date.UTC(2026, 0, 1);
const count = 5000;
const fix = (index: number): Fix => ({
  type: "fix",
  time: start + index * 1000,
  valid: true,
  latitude: 4.711 + index / 100_000,
  longitude: -74.0721,
  speed: 42.5,
  course: 181,
  alarms: [],
  readings: { battery: 85, driverName: "=cmd()" },
  attributes: { note: 'a "quoted", <marked> text' },
});

let rest: Rest;
let token: string;
/** Pieces of a history that the store still gives. */
let pieces = Number.POSITIVE_INFINITY;

/** Positions of a store that fails after some pieces of a history. */
function failing({ positions: real }: Store): Store["positions"] {
  return {
    append: (batch) => real.append(batch),
    unfollowed: (how) => real.unfollowed(how),
    pending: (devices) => real.pending(devices),
    left: (...asked) => real.left(...asked),
    readEach: (...asked) => real.readEach(...asked),
    followed: (place) => real.followed(place),
    deleteBefore: (device, moment) => real.deleteBefore(device, moment),
    figures: () => real.figures(),
    close: () => real.close(),
    read: (...asked) => real.read(...asked),
    async render(...asked) {
      if (pieces-- <= 0) throw new StoreUnavailable("down");
      return real.render(...asked);
    },
  };
}

before(async () => {
  rest = await startRest({
    limits: { requestsPerMinute: 100_000, dailyResults: 6 * count },
    spoil: (store) => ({ ...store, check: () => store.check(), close: () => store.close(), positions: failing(store) }),
  });
  token = await rest.ownerToken();
  for (const id of ["van", "few"]) await rest.call("POST", "/api/devices", { token, body: { id, name: `${id} <1>` } });
  await rest.report("van", ...Array.from({ length: count }, (_, index) => fix(index)));
});
after(() => endRest(rest));

const range = "from=2026-01-01T00:00:00Z&to=2026-01-01T23:59:59Z";
const exported = (query: string, id = "van") => rest.call("GET", `/api/devices/${id}/export?${query}`, { token });

test("each format has its type, a name of letters and days, and every location", async () => {
  const marks = { csv: "\r\n", gpx: "<trkpt ", kml: "<when>", geojson: '"type":"Feature",' };
  const types = ["text/csv", "application/gpx+xml", "application/vnd.google-earth.kml+xml", "application/geo+json"];
  for (const [index, [format, mark]] of Object.entries(marks).entries()) {
    const { status, headers, body } = await exported(`${range}&format=${format}&timeZone=America/Bogota`);
    assert.equal(status, 200);
    assert.equal(headers["content-type"], `${types[index]}; charset=utf-8`);
    assert.equal(headers["content-disposition"], `attachment; filename="van_2025-12-31_2026-01-01.${format}"`);
    assert.match(body, /America\/Bogota/);
    assert.ok(body.split(mark).length - 1 >= count, format);
    assert.equal(
      body.match(/2026-01-01T00:41:39|2025-12-31T19:41:39/g)?.length,
      1 + Number(format === "gpx" || format === "geojson"),
    );
  }
  assert.match((await exported(`${range}&format=csv`)).body, /""driverName"":""=cmd\(\)""/);
});

test("without a location it is an empty file of its kind", async () => {
  const { body } = await exported(`${range}&format=geojson`, "few");
  const { features, complete, device } = JSON.parse(body);
  assert.deepEqual([features, complete, device], [[], true, { id: "few", name: "few <1>" }]);
  assert.equal((await exported(`${range}&format=csv`, "few")).body.split("\r\n").length, 2);
});

test("HEAD tells of the file and reads nothing", async () => {
  const { status, headers } = await rest.call("HEAD", `/api/devices/van/export?${range}&format=gpx`, { token });
  assert.deepEqual([status, headers["content-type"]], [200, "application/gpx+xml; charset=utf-8"]);
});

test("a wrong question is answered with what is wrong", async () => {
  for (const [query, detail] of [
    [range, "querystring/format: is required"],
    [`${range}&format=xls`, "querystring/format: must be one of csv, gpx, kml, geojson"],
    [`${range}&format=csv&units=feet`, "querystring/units: must be one of metric, us, metricGallons"],
    [`${range}&format=csv&timeZone=Mars/Olympus`, "querystring/timeZone: must be an IANA time zone, Region/City"],
    ["format=csv&from=2026-01-02&to=2026-01-01", "querystring/to: must not be before querystring/from"],
    ["format=csv&from=2026-01-02", "querystring/to: is required"],
  ] as const) {
    const { status, json } = await exported(query);
    assert.deepEqual([status, json.details], [400, [detail]], query);
  }
});

test("where the store fails on the way the connection is cut", async () => {
  const { port } = await rest.http.start();
  const ask = () =>
    fetch(`http://127.0.0.1:${port}/api/devices/van/export?${range}&format=csv`, {
      headers: { authorization: `Bearer ${token}` },
    });
  pieces = 1;
  const cut = await ask();
  assert.equal(cut.status, 200);
  await assert.rejects(cut.text());
  assert.ok(rest.logged.some((line) => line.includes("an answer broke off")));
  pieces = 0;
  assert.equal((await ask()).status, 503);
  pieces = Number.POSITIVE_INFINITY;
});

test("an end by the daily results is told in the file; the next one is refused", async () => {
  rest.clock.pass(86_400_000);
  token = await rest.ownerToken();
  for (let run = 0; run < 5; run++) await exported(`${range}&format=csv`);
  await exported(`from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:09Z&format=csv`);
  const { features, complete, next } = JSON.parse((await exported(`${range}&format=geojson`)).body);
  assert.equal(complete, false);
  assert.equal(next, features.at(-1).properties.dateTime);
  assert.equal(features.length, count - 10);
  const refused = await exported(`${range}&format=csv`);
  assert.deepEqual([refused.status, refused.json.error], [429, "daily results limit reached"]);
});
