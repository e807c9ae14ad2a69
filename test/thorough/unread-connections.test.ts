import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { duplexPair } from "node:stream";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { connect as connectSecure } from "node:tls";
import { queuedInSystem } from "../../src/http/plugins/system-queue.ts";
import { closeUnread } from "../../src/http/plugins/unread.ts";
import { selfSigned } from "../support/certificate.ts";

/** Far more than the buffers of both ends hold. */
const answer = Buffer.alloc(32 * 1024 * 1024);

/** Asks for an answer. */
const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/**
 * A client of a server that closes an unread answer after a second, or after `unreadMs`. The client reads only when the
 * test tells it to.
 */
async function setUp(
  context: TestContext,
  listener: RequestListener,
  secure = false,
  unreadMs = 1000,
  ask = queuedInSystem,
): Promise<Socket> {
  const pair = selfSigned();
  const server = secure ? createSecureServer(pair, listener) : createServer(listener);
  closeUnread(server, unreadMs, ask);
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
  client.write(request);
  return client;
}

/** Reads `bytes` bytes, or fewer if the connection ends before. */
async function take(client: Socket, bytes: number): Promise<void> {
  for (let taken = 0; taken < bytes && !client.destroyed; ) {
    const piece: Buffer | null = client.read();
    taken += piece?.length ?? 0;
    if (piece === null) await wait(5);
  }
}

/** They wait for most of a minute, each for a connection of its own. */
describe("answers that nobody reads", { concurrency: 4 }, () => {
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

  test("the system is asked once at a time, and not again before a third of the time has gone", async (context) => {
    const asked: { readonly from: number; readonly to: number }[] = [];
    let closed = 0;
    const server = createServer((_request, made) => {
      made.on("close", () => closed++);
      made.end(answer);
    });
    closeUnread(server, 3000, async (descriptors) => {
      const from = performance.now();
      // As in a system with very many connections.
      await wait(800);
      const queued = await queuedInSystem(descriptors);
      asked.push({ from, to: performance.now() });
      return queued;
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const clients: Socket[] = [];
    context.after(() => {
      for (const client of clients) client.destroy();
      server.closeAllConnections();
      server.close();
    });
    for (let index = 0; index < 5; index++) {
      const client = connect(port, "127.0.0.1", () => client.write(request)).pause();
      client.on("error", () => {});
      clients.push(client);
      await wait(600);
    }
    while (closed < clients.length) await wait(50);
    assert.ok(asked.length > 1);
    for (const [index, { from }] of asked.entries()) {
      const before = asked[index - 1];
      assert.ok(before === undefined || from - before.to > 900, JSON.stringify(asked));
    }
  });

  test("a connection that the system knows only late has all its time from then", async (context) => {
    const closed = Promise.withResolvers<void>();
    let asked = 0;
    const listener: RequestListener = (_request, made) => void made.on("close", closed.resolve).end(answer);
    await setUp(context, listener, false, 2000, async (descriptors) => {
      // Its time would be over.
      if (++asked === 1) await wait(3000);
      return new Map(descriptors.map((descriptor) => [descriptor, 1]));
    });
    await closed.promise;
    assert.equal(asked, 2);
  });

  test("what the system told of a connection from which more has left meanwhile counts as nothing", async (context) => {
    const told = Promise.withResolvers<void>();
    let asked = 0;
    let closed = false;
    const listener: RequestListener = (_request, made) => {
      made.on("close", () => {
        closed = true;
        told.resolve();
      });
      made.end(answer);
    };
    const client = await setUp(context, listener, false, 1000, async (descriptors) => {
      const bytes = ++asked === 1 ? 1 : 1000 - asked;
      if (asked === 1) {
        await take(client, 8 * 1024 * 1024);
        await wait(1000);
      }
      if (asked === 4) told.resolve();
      return new Map(descriptors.map((descriptor) => [descriptor, bytes]));
    });
    await told.promise;
    assert.equal(closed, false);
  });

  test("a slow client stays where the system does not tell of it once, and not where it does not tell of it again", async (context) => {
    const closed = Promise.withResolvers<void>();
    let asked = 0;
    const listener: RequestListener = (_request, made) => void made.on("close", closed.resolve).end(answer);
    await setUp(context, listener, false, 1000, async (descriptors) => {
      asked++;
      // As where the list can't be opened, or changes while it is read.
      if (asked === 2) throw new Error("too many open files");
      if (asked === 4 || asked > 5) return new Map();
      return new Map(descriptors.map((descriptor) => [descriptor, 1000 - asked]));
    });
    await closed.promise;
    assert.equal(asked, 7);
  });

  test("an answer that nobody reads ends its connection where the system can't be asked", async (context) => {
    const closed = Promise.withResolvers<void>();
    const listener: RequestListener = (_request, made) => void made.on("close", closed.resolve).end(answer);
    await setUp(context, listener, false, 1000, () => Promise.reject(new Error("no table")));
    await closed.promise;
  });

  test("an answer that nobody reads ends a connection that is not TCP, too", {
    skip: process.platform === "win32",
  }, async (context) => {
    const directory = mkdtempSync(join(tmpdir(), "unread-"));
    context.after(() => rmSync(directory, { recursive: true }));
    const closed: Promise<unknown>[] = [];
    const server = createServer((_request, made) => {
      closed.push(once(made, "close"));
      made.end(answer);
    });
    closeUnread(server, 1000);
    server.listen(join(directory, "socket"));
    await once(server, "listening");
    const client = connect(join(directory, "socket"), () => client.write(request)).pause();
    client.on("error", () => {});
    context.after(() => {
      client.destroy();
      server.close();
    });
    const [own, theirs] = duplexPair();
    server.emit("connection", theirs);
    own.write(request);
    while (closed.length < 2) await wait(10);
    await Promise.all(closed);
  });
});

// Alone: it tells the number of a file descriptor beforehand.
test("a connection that got the file descriptor of one that was being asked about is not taken for it", async (context) => {
  const sockets: (Socket & { readonly _handle?: { readonly fd?: number } | null })[] = [];
  const descriptorOf = (index: number) => sockets[index]?._handle?.fd;
  const server = createServer((_request, made) => void made.end(answer));
  server.on("connection", (socket: Socket) => sockets.push(socket));
  const clients: Socket[] = [];
  const open = async () => {
    const accepted = once(server, "connection");
    const client = connect((server.address() as AddressInfo).port, "127.0.0.1", () => client.write(request)).pause();
    client.on("error", () => {});
    clients.push(client);
    await accepted;
  };
  const told = Promise.withResolvers<void>();
  let times = 0;
  let again = false;
  closeUnread(server, 1000, async (descriptors) => {
    if (++times === 2) {
      const descriptor = descriptorOf(0);
      // The client takes a descriptor at once. The system gives the lowest that is free to the service's end.
      const opened = open();
      await new Promise<void>((resolve) => process.nextTick(resolve));
      sockets[0]?.destroy();
      await opened;
      again = descriptorOf(1) === descriptor;
      setTimeout(told.resolve, 100);
    }
    return new Map(descriptors.map((descriptor) => [descriptor, 1000]));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    for (const client of clients) client.destroy();
    server.closeAllConnections();
    server.close();
  });
  await open();
  await told.promise;
  assert.ok(again);
  assert.equal(sockets[1]?.destroyed, false);
});
