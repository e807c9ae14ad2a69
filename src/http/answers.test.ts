import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { endRest, startRest } from "../../test/support/rest.ts";
import type { Store, UserStore } from "../ports/store.ts";
import { defaultLimits } from "./limits.ts";

const range = { from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z" };

test("requests under way are bounded for a user and for an account, and are free again when they were answered", async (t) => {
  const answers = { ...defaultLimits.answers, requestsAtOnce: 3, requestsAtOncePerAccount: 4 };
  const rest = await startRest({ limits: { answers } });
  t.after(() => endRest(rest));
  const admin = { privileges: ["admin"] };
  const [first, second] = [await rest.userToken(admin), await rest.userToken(admin)];
  const body = { id: "a", name: "a" };
  await rest.call("POST", "/api/devices", { token: first, body });
  const ask = (token: string) => rest.call("POST", "/api/devices/a/locations", { token, body: range });
  for (let round = 0; round < 3; round++) {
    const asked = await Promise.all(Array.from({ length: 5 }, () => ask(first)));
    assert.deepEqual(asked.map(({ status }) => status).toSorted(), [200, 200, 200, 429, 429]);
    const refused = asked.find(({ status }) => status === 429);
    assert.deepEqual([refused?.json.error, refused?.headers["retry-after"]], ["Too Many Requests", "1"]);
  }
  // So that it is known, and begins in the same turn as the others.
  await ask(second);
  const both = await Promise.all([first, first, first, second, second].map(ask));
  assert.equal(both.filter(({ status }) => status === 429).length, 1);
});

test("requests that wait behind another one's answer are free again when the connection ends", async (t) => {
  const rest = await startRest({ limits: { answers: { ...defaultLimits.answers, requestsAtOnce: 8 } } });
  t.after(() => endRest(rest));
  const token = await rest.ownerToken();
  const { port } = await rest.http.start();
  const request = `GET /api/devices HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  for (let round = 0; round < 5; round++) {
    const socket = connect(port, "127.0.0.1", () => socket.write(request.repeat(8)));
    await once(socket, "data");
    socket.destroy();
  }
  // The last one's end may not have been heard of yet.
  for (let tries = 0; ; tries++) {
    const { status } = await rest.call("GET", "/api/devices", { token });
    if (status === 200) break;
    assert.ok(tries < 100, "its requests are still counted");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

test("a client that is gone before its user was found leaves no request under way", async (t) => {
  const waiting: (() => void)[] = [];
  let held = false;
  const spoil = (store: Store): Store => {
    const findByKey: UserStore["findByKey"] = async (key) => {
      if (held) await new Promise<void>((resolve) => waiting.push(resolve));
      return store.users.findByKey(key);
    };
    const users = new Proxy(store.users, {
      get(target, name, self) {
        if (name === "findByKey") return findByKey;
        const value: unknown = Reflect.get(target, name, self);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return Object.assign(Object.create(store), { users });
  };
  const limits = { answers: { ...defaultLimits.answers, requestsAtOnce: 2 } };
  const rest = await startRest({ limits, spoil });
  t.after(() => endRest(rest));
  const token = await rest.ownerToken();
  const { port } = await rest.http.start();
  for (let round = 0; round < 3; round++) {
    // Users are read again now and then.
    rest.clock.pass(3_600_000);
    held = true;
    const socket = connect(port, "127.0.0.1", () =>
      socket.write(`GET /api/devices HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`),
    );
    for (let tries = 0; waiting.length === 0; tries++) {
      assert.ok(tries < 1000, "its user is not asked for");
      await wait(5);
    }
    socket.destroy();
    await wait(50);
    held = false;
    waiting.shift()?.();
    await wait(20);
  }
  assert.equal((await rest.call("GET", "/api/devices", { token })).status, 200);
});
