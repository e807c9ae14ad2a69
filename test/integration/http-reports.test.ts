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
