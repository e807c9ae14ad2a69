import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { endRest, startRest } from "../../test/support/rest.ts";
import type { GroupStore } from "../ports/groups.ts";
import type { Store } from "../ports/store.ts";

/** A store whose pages of groups wait until they are let go. */
function heldGroups() {
  const begun: (() => void)[] = [];
  const spoil = (store: Store): Store => {
    const page: GroupStore["page"] = async (...ask) => {
      await new Promise<void>((resolve) => begun.push(resolve));
      return store.groups.page(...ask);
    };
    const groups: GroupStore = Object.assign(Object.create(store.groups), { page });
    return Object.assign(Object.create(store), { groups });
  };
  return { begun, spoil };
}

test("of the requests of a connection that is gone nothing is begun, and what was begun holds nothing", async (t) => {
  const { begun, spoil } = heldGroups();
  const rest = await startRest({ spoil });
  t.after(() => endRest(rest));
  const token = await rest.ownerToken();
  const { port } = await rest.http.start();
  const head = `Host: x\r\nAuthorization: Bearer ${token}\r\n`;
  const body = `{"name":"of a client that is gone"}`;
  const change = `POST /api/groups HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const socket = connect(port, "127.0.0.1", () =>
    socket.write(`${`GET /api/groups HTTP/1.1\r\n${head}\r\n`.repeat(3)}${change}`),
  );
  while (begun.length === 0) await wait(5);
  await wait(50);
  assert.equal(begun.length, 1);
  socket.resetAndDestroy();
  await wait(50);
  for (const go of begun) go();
  await wait(50);
  assert.equal(begun.length, 1);
  const asked = rest.call("GET", "/api/groups", { token });
  while (begun.length === 1) await wait(5);
  begun[1]?.();
  assert.deepEqual((await asked).json.groups, []);
});

test("requests that are sent ahead are answered in their order, and refused where too many wait", async (t) => {
  const rest = await startRest();
  t.after(() => endRest(rest));
  const token = await rest.ownerToken();
  const { port } = await rest.http.start();
  const head = `Host: x\r\nAuthorization: Bearer ${token}\r\n`;
  const create = (name: string) => {
    const body = JSON.stringify({ name });
    return `POST /api/groups HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  const asked = Array.from({ length: 20 }, (_, index) => create(`g${index}`)).join("");
  socket.write(`${asked}GET /api/groups HTTP/1.1\r\n${head}\r\n`);
  while (!text.includes('"groups":[')) await wait(5);
  const listed: { readonly groups: readonly { readonly name: string }[] } = JSON.parse(
    text.slice(text.lastIndexOf('{"success"')),
  );
  assert.deepEqual(
    listed.groups.map(({ name }) => name),
    Array.from({ length: 20 }, (_, index) => `g${index}`),
  );
  text = "";
  socket.write(`GET /api/account HTTP/1.1\r\n${head}\r\n`.repeat(60));
  while ((text.match(/HTTP\/1\.1 /g) ?? []).length < 60) await wait(5);
  const refused = (text.match(/HTTP\/1\.1 429 /g) ?? []).length;
  assert.ok(refused > 0 && refused < 60, `${refused} of 60 refused`);
  assert.match(text, /"details":\["32 requests wait on this connection"\]/);
  socket.destroy();
});

/** What comes back where these bytes are sent at once, and the sender's side perhaps ended behind them. */
async function answersTo(port: number, text: string, ended: boolean): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  if (ended) socket.end(text);
  else socket.write(text);
  let got = "";
  for await (const chunk of socket) got += chunk;
  return got;
}

const statuses = (text: string) => (text.match(/HTTP\/1\.1 \d+/g) ?? []).map((line) => Number(line.slice(9)));

test("who has ended its side gets its answers; what breaks off is refused behind the answers before it, and none is cut", async (t) => {
  const rest = await startRest();
  t.after(() => endRest(rest));
  const token = await rest.ownerToken();
  const { port } = await rest.http.start();
  const head = `Host: x\r\nAuthorization: Bearer ${token}\r\n`;
  const devices = Array.from({ length: 10_000 }, (_, index) => `device-${index}`);
  for (let index = 0; index < 4; index++)
    await rest.call("POST", "/api/groups", { token, body: { name: `large ${index}`, devices } });
  const ok = (count: number) => Array.from({ length: count }, () => 200);
  const cut = `POST /api/groups HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`;
  const broken = ["no request\r\n\r\n", "GET /api/acc", cut];
  for (const path of ["/api/account", "/api/devices", "/api/groups"]) {
    const request = `GET ${path} HTTP/1.1\r\n${head}\r\n`;
    for (const count of [1, 2, 20]) {
      const asked = request.repeat(count);
      assert.deepEqual(statuses(await answersTo(port, asked, true)), ok(count), `${count} of ${path}`);
      for (const behind of broken) {
        const got = await answersTo(port, asked + behind, true);
        assert.deepEqual(statuses(got), [...ok(count), 400], `${count} of ${path}, ${behind}`);
        assert.equal(got.split('"success":true').length - 1, count);
        assert.match(got, /connection: close\r\n\r\n\{"success":false,"error":"Bad Request"\}$/);
      }
    }
    assert.deepEqual(statuses(await answersTo(port, `${request}no request\r\n\r\n`, false)), [200, 400], path);
    const last = `GET ${path} HTTP/1.1\r\n${head}Connection: close\r\n\r\n\r\nno request`;
    assert.deepEqual(statuses(await answersTo(port, last, false)), [200], path);
  }
});

test("requests that are sent ahead are counted in their order, those of unknown paths too", async (t) => {
  const rest = await startRest();
  t.after(() => endRest(rest));
  const token = await rest.ownerToken();
  const { port } = await rest.http.start();
  const paths = ["/api/groups", "/nothing", "/api/devices/%zz", "/api/devices", "/api/nothing", "/api/account"];
  const asked = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  const got = await answersTo(port, asked.join(""), true);
  assert.deepEqual(statuses(got), [200, 404, 400, 200, 404, 200]);
  const counts = [...got.matchAll(/"apiUsage":(\d+)/g)].map(([, count]) => Number(count));
  const [first = 0] = counts;
  assert.deepEqual(
    counts,
    paths.map((_, index) => first + index),
  );
});
