import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import type { Fix } from "../../src/model/effects.ts";
import { type Store, StoreUnavailable } from "../../src/ports/store.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

const range = { from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z" };
const fix = (index: number): Fix => ({
  type: "fix",
  time: Date.UTC(2026, 0, 1) + index * 1000,
  valid: true,
  latitude: 1,
  longitude: 2,
  alarms: [],
  readings: {},
  attributes: {},
});

/** The bytes of a request for a device's history. */
function requestOf(token: string, device: string): string {
  const body = JSON.stringify(range);
  const head = `POST /api/devices/${device}/locations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;
  return `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Sends raw bytes, and gives all that comes back until the server closes. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.on("data", (bytes) => {
      answer += bytes.toString();
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}

/** The store with another one in place of a part's methods. */
function spoiled(store: Store, devices: Partial<Store["devices"]>): Store {
  const real = store.devices;
  return {
    ...store,
    devices: {
      create: (...input) => real.create(...input),
      find: (...input) => real.find(...input),
      findByKey: (...input) => real.findByKey(...input),
      nextExpiry: (...input) => real.nextExpiry(...input),
      expiredBetween: (...input) => real.expiredBetween(...input),
      identify: (...input) => real.identify(...input),
      list: (...input) => real.list(...input),
      page: (...input) => real.page(...input),
      some: (...input) => real.some(...input),
      named: (...input) => real.named(...input),
      existing: (...input) => real.existing(...input),
      identifiersUsed: (...input) => real.identifiersUsed(...input),
      replace: (...input) => real.replace(...input),
      changeId: (...input) => real.changeId(...input),
      retained: (...input) => real.retained(...input),
      daysOf: (...input) => real.daysOf(...input),
      withoutOwnDays: (...input) => real.withoutOwnDays(...input),
      spoke: (...input) => real.spoke(...input),
      remove: (...input) => real.remove(...input),
      ...devices,
    },
  };
}

describe("when things fail", () => {
  test("the store is down: 503 with Retry-After; it goes on by itself", async () => {
    let down = false;
    const rest = await startRest({
      spoil: (store) =>
        spoiled(store, {
          find: async (id) => {
            if (down) throw new StoreUnavailable("disk full", { cause: new Error("secret cause") });
            return store.devices.find(id);
          },
        }),
    });
    const token = await rest.ownerToken();
    await rest.call("POST", "/api/devices", { token, body: { id: "d" } });
    down = true;
    const answer = await rest.call("GET", "/api/devices/d", { token });
    assert.equal(answer.status, 503);
    assert.equal(answer.json.error, "Service Unavailable");
    assert.ok(Number(answer.headers["retry-after"]) > 0);
    assert.ok(!answer.body.includes("disk") && !answer.body.includes("secret"));
    down = false;
    assert.equal((await rest.call("GET", "/api/devices/d", { token })).status, 200);
    await endRest(rest);
  });

  test("an unforeseen error: 500 with nothing of its cause, which is in the log under the request's id", async () => {
    const rest = await startRest({
      spoil: (store) => spoiled(store, { find: () => Promise.reject(new Error("secret cause")) }),
    });
    const token = await rest.ownerToken();
    const answer = await rest.call("GET", "/api/devices/d/lastLocation", {
      token,
      headers: { "x-request-id": "find-me" },
    });
    assert.equal(answer.status, 500);
    assert.equal(answer.json.error, "Internal Server Error");
    assert.deepEqual(Object.keys(answer.json).toSorted(), ["apiDailyUsage", "apiUsage", "error", "success"]);
    const line = rest.logged.find((text) => text.includes("find-me"));
    assert.ok(line?.includes("secret cause"), rest.logged.join());
    assert.ok(!rest.logged.join().includes(token));
    await endRest(rest);
  });

  test("what takes too long: 408", async () => {
    // The token may take longer than that on a busy machine.
    const patient = await startRest();
    const token = await patient.ownerToken();
    await patient.stop();
    const rest = await startRest({
      directory: patient.directory,
      limits: { timeoutSeconds: 1 },
      spoil: (store) => spoiled(store, { page: () => new Promise(() => {}) }),
    });
    const answer = await rest.call("GET", "/api/devices", { token });
    assert.equal(answer.status, 408);
    assert.equal(answer.json.error, "Request Timeout");
    await endRest(rest);
  });

  test("not ready: 503", async () => {
    const rest = await startRest({ ready: false });
    assert.equal((await rest.call("GET", "/health/ready")).status, 503);
    assert.equal((await rest.call("GET", "/health/live")).status, 200);
    await endRest(rest);
  });
});

test("a reader that goes away before its history begins is no failure", async () => {
  let asked: (() => void) | undefined;
  const gone = Promise.withResolvers<void>();
  const rest = await startRest({
    spoil: (store) =>
      spoiled(store, {
        find: async (id) => {
          asked?.();
          if (asked !== undefined) await gone.promise;
          return store.devices.find(id);
        },
      }),
  });
  const { port } = await rest.http.start();
  const token = await rest.ownerToken();
  await rest.call("POST", "/api/devices", { token, body: { id: "a" } });
  await rest.report("a", fix(1));
  const waits = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const socket = connect(port, "127.0.0.1", () => socket.write(requestOf(token, "a")));
  await waits;
  socket.destroy();
  // The service sees it.
  await new Promise((resolve) => setTimeout(resolve, 100));
  gone.resolve();
  assert.equal((await rest.call("GET", "/api/devices", { token })).status, 200);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual(rest.logged, []);
  await endRest(rest);
});

test("a history that breaks off is cut, so that no part is taken for the whole, and the log says why", async () => {
  const rest = await startRest({
    spoil: (store) => {
      const { positions } = store;
      let given = 0;
      return {
        ...store,
        positions: {
          append: (batch) => positions.append(batch),
          unfollowed: (how) => positions.unfollowed(how),
          pending: (devices) => positions.pending(devices),
          left: (...asked) => positions.left(...asked),
          readEach: (...asked) => positions.readEach(...asked),
          followed: (place) => positions.followed(place),
          deleteBefore: (device, moment) => positions.deleteBefore(device, moment),
          figures: () => positions.figures(),
          close: () => positions.close(),
          read: (...asked) => positions.read(...asked),
          async render(...asked) {
            if (given++ > 0) throw new Error("secret cause");
            return positions.render(...asked);
          },
        },
      };
    },
  });
  const { port } = await rest.http.start();
  const token = await rest.ownerToken();
  await rest.call("POST", "/api/devices", { token, body: { id: "a" } });
  await rest.report("a", ...Array.from({ length: 5000 }, (_, index) => fix(index)));
  const answer = await raw(port, requestOf(token, "a"));
  assert.ok(answer.startsWith("HTTP/1.1 200 ") && !answer.endsWith("0\r\n\r\n"), answer.slice(-100));
  assert.equal(rest.logged.filter((line) => line.includes("secret cause")).length, 1, rest.logged.join());
  await endRest(rest);
});

describe("on a socket", () => {
  let rest: Rest;
  let port: number;
  let token: string;
  before(async () => {
    rest = await startRest();
    port = (await rest.http.start()).port;
    token = await rest.ownerToken();
  });
  after(() => endRest(rest));

  const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));

  test("what is no HTTP, too much of it, or never complete is answered in the envelope", async () => {
    const hasty = await startRest({ limits: { timeoutSeconds: 1 } });
    const hastyPort = (await hasty.http.start()).port;
    const cases: [string, number, string][] = [
      ["nonsense\r\n\r\n", 400, "Bad Request"],
      [`GET /api/devices HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 400, "Bad Request"],
      [
        "POST /api/Auth/Token HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        400,
        "Bad Request",
      ],
      ["CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "Not Found"],
      [
        "POST /api/Auth/Token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
        408,
        "Request Timeout",
      ],
      ["GET /api/devices HTTP/1.1\r\nHos", 408, "Request Timeout"],
      ["GET /api/devices HTTP/1.1\r\nConnection: close\r\n\r\n", 401, "authentication failed, invalid token"],
      ["GET /api/devices/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400, "Bad Request"],
      ["PROPFIND /api/devices HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404, "Not Found"],
      [
        "GET /api/devices HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n",
        401,
        "authentication failed, invalid token",
      ],
    ];
    const answers = await Promise.all(cases.map(([text]) => raw(hastyPort, text)));
    for (const [index, [text, code, error]] of cases.entries()) {
      const answer = answers[index] ?? "";
      assert.ok(answer.startsWith(`HTTP/1.1 ${code} `), `${text.slice(0, 60)}: ${answer.slice(0, 200)}`);
      assert.deepEqual({ success: bodyOf(answer).success, error: bodyOf(answer).error }, { success: false, error });
    }
    await endRest(hasty);
  });

  test("a reader that goes away in the middle of a history ends it, and the service goes on", async () => {
    await rest.call("POST", "/api/devices", { token, body: { id: "long" } });
    for (let part = 0; part < 10; part++)
      await rest.report("long", ...Array.from({ length: 2000 }, (_, index) => fix(part * 2000 + index)));
    await new Promise<void>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => socket.write(requestOf(token, "long")));
      socket.once("data", () => socket.destroy());
      socket.on("close", () => resolve());
    });
    const whole = await fetch(`http://127.0.0.1:${port}/api/devices/long/locations`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(range),
    });
    const { locations } = (await whole.json()) as { locations: unknown[] };
    assert.equal(locations.length, 20_000);
  });

  test("readers of a history that are slow, or many at once, get what it is", async () => {
    await rest.call("POST", "/api/devices", { token, body: { id: "read" } });
    // More than the system keeps of a connection.
    const long = (index: number) => ({ ...fix(index), attributes: { note: `${index} `.repeat(300) } });
    for (let part = 0; part < 10; part++)
      await rest.report("read", ...Array.from({ length: 1000 }, (_, index) => long(part * 1000 + index)));
    const read = async (afterMs: number) => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/devices/read/locations`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(range),
      });
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      const { locations } = (await answer.json()) as { locations: { attributes: { note: string } }[] };
      return locations.map(({ attributes }) => attributes.note).join();
    };
    const expected = Array.from({ length: 10_000 }, (_, index) => long(index).attributes.note).join();
    for (const notes of await Promise.all([read(300), read(0), read(0)])) assert.ok(notes === expected);
  });
});
