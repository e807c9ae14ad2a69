import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Peer } from "../support/gateway.ts";
import { call, dataFolder, removeFolder, type Service, startService } from "../support/service.ts";

const directory = dataFolder();
let service: Service;

before(async () => {
  service = await startService(directory);
  await call(service, "POST", "/api/devices", { id: "phone-1", name: "Phone" });
});
after(async () => {
  await service?.stop();
  removeFolder(directory);
});

/** What the trackers' port answers to a request. */
async function asked(method: string, place: string): Promise<string> {
  const peer = new Peer(service.devicePort);
  peer.send(`${method} /?id=phone-1&${place} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  await peer.closed;
  return peer.received;
}

async function lastLocation(): Promise<unknown> {
  return (await call<{ lastLocation: unknown }>(service, "GET", "/api/devices/phone-1/lastLocation")).lastLocation;
}

test("only GET and POST report; any other method is answered 405 and stores nothing", async () => {
  const methods = ["PUT", "HEAD", "OPTIONS", "PATCH", "DELETE"];
  for (const answer of await Promise.all(methods.map((method) => asked(method, "lat=1&lon=2"))))
    assert.match(answer, /^HTTP\/1\.1 405 Method Not Allowed\r\nAllow: GET, POST\r\n/);
  assert.equal(await lastLocation(), null);
});

test("a position that is none on earth is taken, and kept as a refused report", async () => {
  assert.match(await asked("GET", "lat=95&lon=2&batt=80"), /^HTTP\/1\.1 200 /);
  assert.equal(await lastLocation(), null);
  const { refused } = await call<{ refused: readonly { cause: string; report: object }[] }>(
    service,
    "GET",
    "/api/devices/phone-1/refused",
  );
  assert.deepEqual(
    refused.map(({ cause }) => cause),
    ["position"],
  );
  assert.match(JSON.stringify(refused), /"latitude":95,/);
  assert.match(await asked("POST", "lat=1&lon=2"), /^HTTP\/1\.1 200 /);
  assert.notEqual(await lastLocation(), null);
});

test("a device's offset of time and unit of speed count for what it reports from then on", async () => {
  const report = (second: number) => `lat=1&lon=2&speed=10&timestamp=2026-01-15T12:00:0${second}Z`;
  const shown = async () => {
    type Answer = { lastLocation: { dateTime: string; speed: number } };
    const { lastLocation } = await call<Answer>(service, "GET", "/api/devices/phone-2/lastLocation");
    return [lastLocation.dateTime, lastLocation.speed];
  };
  const send = async (second: number) => {
    const peer = new Peer(service.devicePort);
    peer.send(`GET /?id=phone-2&${report(second)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    await peer.closed;
    assert.match(peer.received, /^HTTP\/1\.1 200 /);
  };
  await call(service, "POST", "/api/devices", { id: "phone-2", name: "Phone" });
  await send(1);
  assert.deepEqual(await shown(), ["2026-01-15T12:00:01.000Z", 18.52]);
  // Its clock is an hour slow, and it means m/s: 10 of them are 36 km/h.
  await call(service, "PUT", "/api/devices/phone-2", { name: "Phone", timeOffset: -3600, speedUnit: "m/s" });
  await send(2);
  assert.deepEqual(await shown(), ["2026-01-15T13:00:02.000Z", 36]);
});

test("a batch of Overland's default size, 200 locations of 600 bytes, is stored in one piece", async () => {
  await call(service, "POST", "/api/devices", { id: "phone-3", name: "Phone" });
  const start = Date.now() - 3_600_000;
  const locations = Array.from({ length: 200 }, (_, index) => ({
    type: "Feature",
    geometry: { type: "Point", coordinates: [13.7375, 51.125] },
    properties: { timestamp: new Date(start + index * 1000).toISOString(), wifi: "n".repeat(450) },
  }));
  const body = JSON.stringify({ locations });
  assert.ok(body.length > 110_000);
  const peer = new Peer(service.devicePort);
  peer.send(
    `POST /?id=phone-3 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
  await peer.closed;
  assert.match(peer.received, /^HTTP\/1\.1 200 [\s\S]*\{"result":"ok"\}$/);
  const { lastLocation: last } = await call<{ lastLocation: { dateTime: string } }>(
    service,
    "GET",
    "/api/devices/phone-3/lastLocation",
  );
  assert.equal(last.dateTime, new Date(start + 199_000).toISOString());
});

test("requests of OwnTracks and of OsmAnd over one connection, as a proxy brings them, are told apart", async () => {
  await call(service, "POST", "/api/devices", { id: "jane/phone", name: "OwnTracks" });
  await call(service, "POST", "/api/devices", { id: "phone-4", name: "OsmAnd" });
  const body = JSON.stringify({ _type: "location", lat: 51.125, lon: 13.7375, tst: Math.floor(Date.now() / 1000) });
  const own = `POST /pub HTTP/1.1\r\nX-Limit-U: jane\r\nX-Limit-D: phone\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const peer = new Peer(service.devicePort);
  peer.send(
    `GET /?id=phone-4&timestamp=1770113730&lat=1&lon=2 HTTP/1.1\r\n\r\n${own}GET /?id=phone-4&timestamp=1770113731&lat=1.0001&lon=2 HTTP/1.1\r\nConnection: close\r\n\r\n`,
  );
  await peer.closed;
  assert.deepEqual(
    peer.received
      .split("HTTP/1.1 ")
      .slice(1)
      .map((answer) => [answer.slice(0, 3), answer.split("\r\n\r\n")[1]]),
    [
      ["200", ""],
      ["200", "[]"],
      ["200", ""],
    ],
  );
  for (const [id, latitude] of [
    ["jane%2Fphone", 51.125],
    ["phone-4", 1.0001],
  ] as const) {
    const { lastLocation } = await call<{ lastLocation: { latitude: number } }>(
      service,
      "GET",
      `/api/devices/${id}/lastLocation`,
    );
    assert.equal(lastLocation.latitude, latitude);
  }
});
