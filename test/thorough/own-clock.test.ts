import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { type App, startApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config/index.ts";
import { protocols } from "../../src/protocols/index.ts";
import { atEnd } from "../support/at-end.ts";
import { storeEnvironment } from "../support/engine.ts";
import { Peer, simulatedReport, until } from "../support/gateway.ts";
import { TestClock } from "../support/rest.ts";
import { anyPorts, dataFolder, removeFolder } from "../support/service.ts";

const hour = 3_600_000;
const metricsToken = "metrics-of-the-tests-and-no-others";
const teltonika = protocols.find(({ id }) => id === "teltonika")?.simulate;
const imei = (index: number) => String(350_000_000_000_000 + index);

/** The whole service in this process, by a clock of the test's. */
class Service {
  clock = new TestClock();
  readonly directory = dataFolder();
  #app: App | undefined;

  constructor() {
    atEnd(() => this.stop());
  }

  get app(): App {
    assert.ok(this.#app);
    return this.#app;
  }

  async start(): Promise<void> {
    const env = {
      ...anyPorts,
      ...(await storeEnvironment(this.directory)),
      WAYBEAM_DATA: this.directory,
      WAYBEAM_LOG_LEVEL: "silent",
    };
    const loaded = loadConfig({ env: { ...env, WAYBEAM_METRICS_TOKEN: metricsToken } });
    assert.ok("config" in loaded);
    this.#app = await startApp(loaded.config, process.pid, this.clock);
  }

  async stop(): Promise<void> {
    const app = this.#app;
    this.#app = undefined;
    await app?.stop();
  }

  /** What a call that succeeds is answered, in the form that the caller knows. */
  async call<T = unknown>(method: string, path: string, bearer?: string, body?: object): Promise<T> {
    const answer = await fetch(this.app.url + path, {
      method,
      headers: {
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const json: T = JSON.parse(await answer.text());
    assert.ok(answer.ok, `${method} ${path}: ${JSON.stringify(json)}`);
    return json;
  }

  async token(way: { readonly userName: string; readonly apiKey: string }): Promise<string> {
    return (await this.call<{ readonly token: string }>("POST", "/api/Auth/Token", undefined, way)).token;
  }

  async metric(name: string): Promise<number> {
    const answer = await fetch(`${this.app.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } });
    return Number(new RegExp(`^${name} (.*)$`, "m").exec(await answer.text())?.[1]);
  }

  /** What is said of the clock, and whether the service is ready: as it is told for a second. */
  async clockCheck(): Promise<readonly [boolean, string]> {
    this.clock.pass(1000);
    const { ready, checks } = await this.call<{ readonly ready: boolean; readonly checks: { readonly clock: string } }>(
      "GET",
      "/health/ready",
    );
    return [ready, checks.clock];
  }

  /** Reports as a phone does, over HTTP on the trackers' port. */
  async phone(id: string, time: number): Promise<Response> {
    const at = `http://127.0.0.1:${this.app.devicePort}/?id=${id}&timestamp=${time}&lat=48.1&lon=11.5&speed=3`;
    const answer = await fetch(at, { method: "POST" });
    await answer.arrayBuffer();
    return answer;
  }

  async stored(token: string, id: string): Promise<readonly number[]> {
    const range = { from: "2000-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" };
    const path = `/api/devices/${id}/locations`;
    const { locations } = await this.call<{ readonly locations: readonly { readonly dateTime: string }[] }>(
      "POST",
      path,
      token,
      range,
    );
    return locations.map(({ dateTime }) => Date.parse(dateTime));
  }

  async refused(token: string, id: string): Promise<number> {
    const path = `/api/devices/${id}/refused`;
    return (await this.call<{ readonly refused: readonly object[] }>("GET", path, token)).refused.length;
  }
}

let service: Service;
let owner: { readonly userName: string; readonly apiKey: string };
let token: string;

beforeEach(async () => {
  service = new Service();
  await service.start();
  assert.ok(service.app.created);
  owner = service.app.created;
  token = await service.token(owner);
  // Long enough after the start that one account alone is believed.
  service.clock.pass(11 * 60_000);
});
afterEach(async () => {
  await service.stop();
  removeFolder(service.directory);
});

/** A Teltonika tracker that is logged in. */
async function tracker(id: string): Promise<Peer> {
  assert.ok(teltonika?.login);
  const peer = new Peer(service.app.devicePort);
  peer.send(teltonika.login(id, 1));
  await peer.expect("\x01");
  return peer;
}

describe("a service whose clock is two hours slow", () => {
  const devices = [1, 2, 3, 4].map(imei);

  test("acknowledges nothing of it, says so, keeps the connections, and stores all of it once when the clock is right, also after a restart", async () => {
    for (const id of [...devices, "phone"]) await service.call("POST", "/api/devices", token, { id });
    service.clock.jump(-2 * hour);
    const time = Date.now();
    const report = teltonika?.report(devices[0] ?? "", [{ ...simulatedReport, time }], 1);
    assert.ok(report);
    let peers = await Promise.all(devices.map(tracker));
    const send = () => {
      for (const peer of peers) peer.send(report);
    };
    send();
    await until(async () => (await service.metric("waybeam_ingest_reports_withheld_total")) === 4);
    const answer = await service.phone("phone", time);
    assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "10"]);
    assert.deepEqual(await service.clockCheck(), [true, "slow"]);
    assert.equal(await service.metric("waybeam_own_clock_doubted"), 1);
    for (const peer of peers) assert.equal(peer.received, "");

    for (const peer of peers) peer.end();
    await service.stop();
    await service.start();
    peers = await Promise.all(devices.map(tracker));
    send();
    assert.equal((await service.phone("phone", time)).status, 503);
    await until(async () => (await service.metric("waybeam_ingest_reports_withheld_total")) === 5);

    service.clock.jump(2 * hour);
    send();
    for (const peer of peers) await peer.expect("\0\0\0\x01");
    assert.equal((await service.phone("phone", time)).status, 200);
    send();
    for (const peer of peers) await peer.expect("\0\0\0\x01");
    assert.deepEqual(await service.clockCheck(), [true, "ok"]);
    for (const id of [...devices, "phone"]) {
      assert.deepEqual(await service.stored(token, id), [time], id);
      assert.equal(await service.refused(token, id), 0, id);
    }
    for (const peer of peers) peer.end();
  });

  test("stores what is near its time of a message, and the rest when the clock is right", async () => {
    const [id = ""] = devices;
    await service.call("POST", "/api/devices", token, { id });
    service.clock.jump(-2 * hour);
    const time = Date.now();
    const times = [time - 3 * hour, time];
    const report = teltonika?.report(
      id,
      times.map((at) => ({ ...simulatedReport, time: at })),
      1,
    );
    assert.ok(report);
    // It has a history, so nobody takes it for an invention.
    assert.equal((await service.phone(id, time - 4 * hour)).status, 200);
    await service.stop();
    await service.start();
    const peer = await tracker(id);
    peer.send(report);
    await until(async () => (await service.stored(token, id)).length === 2);
    assert.equal(peer.received, "");
    service.clock.jump(2 * hour);
    peer.send(report);
    await peer.expect("\0\0\0\x02");
    assert.deepEqual(await service.stored(token, id), [time - 4 * hour, ...times]);
    assert.equal(await service.refused(token, id), 0);
    peer.end();
  });

  test("goes on for a tracker that is wrong alone: after an hour at most its reports are refused, and acknowledged", async () => {
    await service.call("POST", "/api/devices", token, { id: "phone" });
    assert.equal((await service.phone("phone", Date.now())).status, 200);
    await service.stop();
    await service.start();
    const ahead = () => service.phone("phone", service.clock.now() + 8 * hour);
    assert.equal((await ahead()).status, 503);
    service.clock.pass(hour / 2);
    assert.equal((await ahead()).status, 503);
    service.clock.pass(hour / 2);
    assert.equal((await ahead()).status, 200);
    assert.equal(await service.refused(token, "phone"), 1);
  });
});

test("a clock that is set back and forth under load: what is acknowledged is stored once, and nothing is refused", async () => {
  const ids = ["p1", "p2", "p3", "p4"];
  for (const id of ids) await service.call("POST", "/api/devices", token, { id });
  const time = Date.now() - 600_000;
  const acked = new Map(ids.map((id) => [id, 0]));
  let turnedAway = 0;
  let ended = false;
  const run = async (id: string) => {
    while (!ended) {
      const next = acked.get(id) ?? 0;
      const { status } = await service.phone(id, time + next * 1000);
      if (status === 200) acked.set(id, next + 1);
      else {
        assert.equal(status, 503);
        turnedAway++;
      }
    }
  };
  const running = ids.map(run);
  const goesOn = () => {
    const least = Math.min(...acked.values()) + 5;
    return until(() => Math.min(...acked.values()) >= least);
  };
  for (let turn = 0; turn < 4; turn++) {
    await goesOn();
    const before = turnedAway;
    service.clock.jump(-2 * hour);
    await until(() => turnedAway >= before + 20);
    service.clock.jump(2 * hour);
  }
  await goesOn();
  ended = true;
  await Promise.all(running);
  for (const id of ids) {
    const expected = Array.from({ length: acked.get(id) ?? 0 }, (_, index) => time + index * 1000);
    assert.deepEqual(await service.stored(token, id), expected, id);
    assert.equal(await service.refused(token, id), 0, id);
  }
  assert.deepEqual(await service.clockCheck(), [true, "ok"]);
});

test("ten wrong trackers of one account change nothing for others, right after a restart neither", async () => {
  type Made = { readonly owner: { readonly apiKey: string } };
  const account = await service.call<Made>("POST", "/api/admin/accounts", service.app.operatorKey, {
    ...{ name: "Wrong", timeZone: "Etc/UTC", licenses: 20 },
    owner: { name: "W", email: "wrong@example.com", country: "CO", timeZone: "Etc/UTC" },
  });
  const wrongToken = await service.token({ userName: "wrong@example.com", apiKey: account.owner.apiKey });
  const wrong = Array.from({ length: 10 }, (_, index) => `wrong-${index}`);
  for (const id of wrong) await service.call("POST", "/api/devices", wrongToken, { id });
  await service.call("POST", "/api/devices", token, { id: "good" });
  const now = () => service.clock.now();
  for (const id of [...wrong, "good"]) assert.equal((await service.phone(id, now())).status, 200, id);
  const future = () => Promise.all(wrong.map(async (id) => (await service.phone(id, now() + 9 * hour)).status));

  await service.stop();
  await service.start();
  assert.deepEqual(new Set(await future()), new Set([503]), "nobody has confirmed the clock yet");
  assert.deepEqual(await service.clockCheck(), [true, "ok"]);
  assert.equal((await service.phone("good", now())).status, 200);
  for (let round = 0; round < 20; round++) {
    assert.deepEqual(new Set(await future()), new Set([200]), "they are refused as ever");
    assert.equal((await service.phone("good", now())).status, 200);
    service.clock.pass(20_000);
  }
  assert.deepEqual(await service.clockCheck(), [true, "ok"]);
  assert.equal(await service.metric("waybeam_own_clock_doubted"), 0);
});
