import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { dataFolder, removeFolder, startService } from "../../../test/support/service.ts";

test("a client that asks for a tunnel and breaks the connection off does not end the service", async (t) => {
  const service = await startService(dataFolder());
  t.after(async () => {
    await service.stop();
    removeFolder(service.directory);
  });
  const port = Number(new URL(service.url).port);
  for (let round = 0; round < 100 && service.child.exitCode === null; round++) {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write("CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n");
      setTimeout(() => socket.resetAndDestroy(), round % 3);
    });
    socket.on("error", () => {});
    await once(socket, "close");
  }
  await wait(50);
  assert.equal(service.child.exitCode, null, service.said());
  assert.equal((await fetch(`${service.url}/health/live`)).status, 200);
});

test("a connection whose request was refused unread is closed, also where the client keeps its side open", async (t) => {
  const service = await startService(dataFolder());
  t.after(async () => {
    await service.stop();
    removeFolder(service.directory);
  });
  const port = Number(new URL(service.url).port);
  const open = async () => Number(/^waybeam_http_connections (\d+)/m.exec(await service.metrics())?.[1]);
  for (const [text, status] of [
    ["CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", 404],
    ["no request\r\n\r\n", 400],
  ] as const) {
    const before = await open();
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () => socket.write(text));
    socket.on("error", () => {});
    const [answer]: Buffer[] = await once(socket, "data");
    assert.match(String(answer), new RegExp(`^HTTP/1.1 ${status} `));
    for (let tries = 0; (await open()) > before; tries++) {
      assert.ok(tries < 300, `${text}: its connection stays open`);
      await wait(50);
    }
    socket.destroy();
  }
});
