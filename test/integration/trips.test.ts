import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Fix } from "../../src/model/effects.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

const start = Date.UTC(2026, 0, 15, 12);
const range = { from: "2026-01-15T00:00:00Z", to: "2026-01-16T23:59:59Z" };

/** A fix `minute` minutes after 12:00, `km` north of Bogota. */
function fix(minute: number, km: number, speed: number, ignition: boolean): Fix {
  return {
    type: "fix",
    time: start + minute * 60_000,
    valid: true,
    latitude: Math.round((4.711 + km / 111.2) * 1e6) / 1e6,
    longitude: -74.0721,
    speed,
    alarms: [],
    readings: { ignition },
    attributes: {},
  };
}

let rest: Rest;
let token: string;

before(async () => {
  rest = await startRest();
  token = await rest.ownerToken();
  await rest.call("POST", "/api/devices", { token, body: { id: "van", milleageStart: 500 } });
});
after(() => endRest(rest));

async function asked(what: "trips" | "days", body: object) {
  const { status, json } = await rest.call("POST", `/api/devices/van/${what}`, { token, body });
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

test("without a report there is neither trip nor stop nor day", async () => {
  const { trips, stops } = await asked("trips", range);
  assert.deepEqual([trips, stops], [[], []]);
  assert.deepEqual((await asked("days", range)).days, []);
});

test("a drive, its stops and its day; what comes late counts as if it had come in time", async () => {
  await rest.report(
    "van",
    fix(-50, 0, 0, false),
    fix(0, 0, 0, false),
    fix(1, 0, 0, true),
    fix(3, 1, 40, true),
    fix(13, 11, 60, true),
  );
  await rest.report("van", fix(14, 11, 0, true), fix(23, 11, 0, false));
  const { trips, stops } = await asked("trips", range);
  assert.equal(trips.length, 1);
  const { distance, averageSpeed, ...trip } = trips[0];
  assert.ok(Math.abs(distance - 11) < 0.05, String(distance));
  assert.equal(averageSpeed, Math.round(distance * 5 * 10) / 10);
  const place = { latitude: 4.711, longitude: -74.0721 };
  assert.deepEqual(trip, {
    start: { dateTime: "2026-01-15T12:01:00.000Z", ...place },
    end: { dateTime: "2026-01-15T12:13:00.000Z", ...place, latitude: fix(13, 11, 60, true).latitude },
    durationSeconds: 720,
    idlingSeconds: 0,
    openStart: false,
    openEnd: false,
    maxSpeed: 60,
  });
  type Stop = { durationSeconds: number; idlingSeconds: number; openStart: boolean; openEnd: boolean };
  const brief = stops.map((stop: Stop) => [stop.durationSeconds, stop.idlingSeconds, stop.openStart, stop.openEnd]);
  assert.deepEqual(brief, [
    [3060, 0, true, false],
    [600, 600, false, true],
  ]);
  await rest.report("van", fix(8, 6, 90, true));
  assert.equal((await asked("trips", range)).trips[0].maxSpeed, 90);
  const { days } = await asked("days", { ...range, timeZone: "America/Bogota" });
  assert.deepEqual(days, [
    {
      date: "2026-01-15",
      firstDateTime: "2026-01-15T11:10:00.000Z",
      lastDateTime: "2026-01-15T12:23:00.000Z",
      distance,
      tripSeconds: 720,
      trips: 1,
      idlingSeconds: 600,
      maxSpeed: 90,
    },
  ]);
});

test("a request says what makes a trip", async () => {
  assert.equal((await asked("trips", { ...range, leastMetres: 50_000 })).trips.length, 0);
  // Five minutes of silence end a trip then.
  const short = await asked("trips", { ...range, gapSeconds: 120, stopSeconds: 60 });
  assert.deepEqual(
    short.trips.map(({ start: { dateTime } }: { start: { dateTime: string } }) => dateTime),
    ["2026-01-15T12:03:00.000Z", "2026-01-15T12:08:00.000Z", "2026-01-15T12:13:00.000Z"],
  );
});

test("a wrong question is answered with what is wrong", async () => {
  for (const [what, body, details] of [
    ["trips", { from: range.to, to: range.from }, ["body/to: must not be before body/from"]],
    ["days", { ...range, timeZone: "Mars/Olympus" }, ["body/timeZone: must be an IANA time zone, Region/City"]],
  ] as const) {
    const { status, json } = await rest.call("POST", `/api/devices/van/${what}`, { token, body });
    assert.deepEqual([status, json.details], [400, details]);
  }
  assert.deepEqual((await asked("trips", { ...range, limit: 5 })).warnings, [
    "body/limit: not a field of this request; ignored",
  ]);
});
