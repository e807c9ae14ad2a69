import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { connect as connectSecure } from "node:tls";
import { selfSigned } from "../../../test/support/certificate.ts";
import { closeUnread } from "./unread.ts";

/** Far more than the buffers of both ends hold. */
const answer = Buffer.alloc(32 * 1024 * 1024);

/** A client of a server that closes an unread answer after a second, or after `unreadMs`. The client reads only when the test tells it to. */
async function setUp(
  context: TestContext,
  listener: RequestListener,
  secure = false,
  unreadMs = 1000,
): Promise<Socket> {
  const pair = selfSigned();
  const server = secure ? createSecureServer(pair, listener) : createServer(listener);
  closeUnread(server, unreadMs);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = secure ? connectSecure({ port, host: "127.0.0.1", ca: pair.cert }) : connect(port, "127.0.0.1");
  client.on("error", () => {});
  client.pause();
  context.after(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  return client;
}

/** Reads so many bytes, or all that come before the connection ends. */
async function take(client: Socket, bytes: number): Promise<void> {
  for (let taken = 0; taken < bytes && !client.destroyed; ) {
    const piece: Buffer | null = client.read();
    taken += piece?.length ?? 0;
    if (piece === null) await wait(5);
  }
}

for (const secure of [false, true]) {
  const over = secure ? " over TLS" : "";
  test(`an answer that nobody reads ends its connection${over}, also where the client goes on sending what is no request`, async (context) => {
    const response = Promise.withResolvers<Parameters<RequestListener>[1]>();
    const listener: RequestListener = (_request, made) => {
      made.end(answer);
      response.resolve(made);
    };
    const client = await setUp(context, listener, secure);
    const sending = setInterval(() => client.write("\r\n"), 100);
    context.after(() => clearInterval(sending));
    await once(await response.promise, "close");
  });

  test(`the bytes that nobody read are gone with their connection${over}: the system would keep some megabytes of each for minutes`, async (context) => {
    const response = Promise.withResolvers<Parameters<RequestListener>[1]>();
    const listener: RequestListener = (_request, made) => {
      made.end(answer);
      response.resolve(made);
    };
    const client = await setUp(context, listener, secure);
    await once(await response.promise, "close");
    const failed = once(client, "error");
    client.resume();
    const [error] = await failed;
    assert.equal(error.code, "ECONNRESET");
  });

  test(`an answer that nobody reads ends its connection${over}, also where more of it comes to wait all the time`, async (context) => {
    const response = Promise.withResolvers<Parameters<RequestListener>[1]>();
    const listener: RequestListener = (_request, made) => {
      made.write(answer);
      const more = setInterval(() => made.write("more"), 100);
      made.on("close", () => clearInterval(more));
      response.resolve(made);
    };
    await setUp(context, listener, secure);
    await once(await response.promise, "close");
  });

  test(`an answer that is read slowly stays${over}, a piece that is larger than all buffers too`, async (context) => {
    const client = await setUp(context, (_request, made) => void made.end(answer), secure);
    let bytes = 0;
    client.on("close", () => {
      bytes = Number.NEGATIVE_INFINITY;
    });
    for (let round = 0; round < 8; round++) {
      for (let taken = 0; taken < 1024 * 1024; ) {
        const piece: Buffer | null = client.read();
        taken += piece?.length ?? 0;
        if (piece === null) await once(client, "readable");
      }
      await wait(400);
    }
    client.on("data", (piece: Buffer) => {
      bytes += piece.length;
    });
    client.resume();
    while (bytes >= 0 && bytes < 16 * 1024 * 1024) await wait(20);
    assert.ok(bytes > 0, "the connection was closed");
  });

  test(`an answer that is read so slowly that the system takes no more of it for seconds stays${over}`, {
    skip: process.platform !== "linux",
  }, async (context) => {
    const client = await setUp(context, (_request, made) => void made.end(answer), secure, 2000);
    for (let round = 0; round < 25; round++) {
      await take(client, 64 * 1024);
      await wait(200);
    }
    // A client hears of a reset only behind what came before it.
    await take(client, 8 * 1024 * 1024);
    assert.equal(client.destroyed, false, "the connection was closed");
  });
}

test("an answer that is still being made is waited for", async (context) => {
  const client = await setUp(context, (_request, made) => {
    made.write("x");
    setTimeout(() => made.end("y"), 2500);
  });
  const chunks: Buffer[] = [];
  client.on("data", (chunk: Buffer) => chunks.push(chunk));
  client.resume();
  while (!Buffer.concat(chunks).includes("y")) {
    await wait(50);
    assert.equal(client.destroyed, false);
  }
});
