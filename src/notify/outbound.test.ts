import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer as createSecureServer } from "node:https";
import { createServer, Socket } from "node:net";
import { afterEach, beforeEach, describe, it } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { selfSigned } from "../../test/support/certificate.ts";
import { HttpPeer } from "../../test/support/http-peer.ts";
import type { Resolve } from "./names.ts";
import { createOutbound, type Outbound, type OutboundOptions } from "./outbound.ts";

let peer: HttpPeer;

beforeEach(async () => {
  peer = new HttpPeer();
  await peer.listen();
});

afterEach(() => peer.close());

function call(url: string, options: Partial<OutboundOptions> = {}): Promise<Outbound> {
  const outbound = createOutbound({ allowPrivate: true, timeoutMs: 2000, mostAnswer: 1000, ...options });
  return outbound({ method: "POST", url: new URL(url), headers: { "x-a": "b" }, body: "héllo" });
}

function resolvesTo(...addresses: string[]): Resolve {
  return (_host, found) =>
    found(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
}

describe("a call outward", () => {
  it("brings method, headers, body and its length, and gives the answer", async () => {
    peer.answer = (response) => void response.writeHead(201, { "x-c": "d" }).end("done");
    const answer = await call(`http://127.0.0.1:${peer.port}/x?y=z`);
    assert.ok(answer.outcome === "answered");
    assert.deepEqual(
      [answer.status, answer.headers["x-c"], answer.body.toString(), answer.whole],
      [201, "d", "done", true],
    );
    const [seen] = peer.seen;
    assert.deepEqual(
      [seen?.method, seen?.url, seen?.headers["x-a"], seen?.headers["content-length"], seen?.body],
      ["POST", "/x?y=z", "b", "6", "héllo"],
    );
  });

  it("reads no more of an endless answer than its bound", async () => {
    peer.answer = (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(10_000)));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    };
    const sockets: Socket[] = [];
    const opened = (message: unknown) => {
      const socket: unknown = Reflect.get(Object(message), "socket");
      if (socket instanceof Socket) sockets.push(socket);
    };
    subscribe("net.client.socket", opened);
    const answer = await call(`http://127.0.0.1:${peer.port}/`);
    unsubscribe("net.client.socket", opened);
    assert.ok(answer.outcome === "answered" && !answer.whole && answer.body.length === 1000);
    const [socket, ...others] = sockets;
    assert.ok(socket !== undefined && others.length === 0);
    assert.ok(socket.bytesRead >= 1000 && socket.bytesRead <= 8192, `${socket.bytesRead} octets were taken`);
  });

  it("gives the same of an answer in many pieces, and over TLS", async () => {
    const body = Array.from({ length: 10_000 }, (_, index) => `${index},`).join("");
    peer.answer = (response) => void response.end(body);
    const certificate = selfSigned();
    const trusted = getCACertificates("default");
    setDefaultCACertificates([...trusted, certificate.cert]);
    const secure = createSecureServer(certificate, (request, response) => {
      request.resume();
      response.end(body);
    });
    secure.listen(0, "127.0.0.1");
    await once(secure, "listening");
    const address = secure.address();
    assert.ok(typeof address === "object" && address !== null);
    for (const url of [`http://127.0.0.1:${peer.port}/`, `https://127.0.0.1:${address.port}/`]) {
      const answer = await call(url, { mostAnswer: 100_000 });
      assert.ok(answer.outcome === "answered" && answer.whole, url);
      assert.equal(answer.body.toString(), body);
    }
    setDefaultCACertificates(trusted);
    secure.close();
  });

  it("waits no longer than its time for the answer, and none of its connections stay", async () => {
    peer.answer = () => {};
    const silent = await call(`http://127.0.0.1:${peer.port}/`, { timeoutMs: 300 });
    assert.deepEqual(silent, { outcome: "unanswered", reason: "timeout", detail: "no answer in 300 ms" });
    peer.answer = (response) => {
      response.write("a");
      const drip = setInterval(() => response.write("a"), 10);
      response.on("close", () => clearInterval(drip));
    };
    const slow = await call(`http://127.0.0.1:${peer.port}/`, { timeoutMs: 300 });
    assert.ok(slow.outcome === "answered" && slow.status === 200 && !slow.whole);
    while ((await peer.connections) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it("tells a peer that can't be reached from one that breaks off", async () => {
    peer.answer = (response) => response.socket?.destroy();
    assert.equal((await call(`http://127.0.0.1:${peer.port}/`)).outcome, "unanswered");
    const other = new HttpPeer();
    await other.listen();
    await other.close();
    const away = await call(`http://127.0.0.1:${other.port}/`);
    assert.ok(away.outcome === "unreachable" && away.reason === "refused");
    assert.match(away.detail, /ECONNREFUSED/);
  });

  it("takes an answer that is no HTTP for none", async () => {
    const server = createServer((socket) => void socket.end("SSH-2.0-x\r\n"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(address !== null && typeof address === "object");
    assert.equal((await call(`http://127.0.0.1:${address.port}/`)).outcome, "unanswered");
    server.close();
  });

  it("does not follow a redirect", async () => {
    peer.answer = (response) => void response.writeHead(307, { location: `http://127.0.0.1:${peer.port}/inner` }).end();
    const answer = await call(`http://127.0.0.1:${peer.port}/`);
    assert.ok(answer.outcome === "answered" && answer.status === 307);
    assert.equal(peer.seen.length, 1);
  });
});

describe("a private address", () => {
  const guarded = { allowPrivate: false };

  it("is not called in whatever form it is written", async () => {
    for (const host of [
      "127.0.0.1",
      "2130706433",
      "0x7f.1",
      "0",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "localhost",
      "10.0.0.1",
    ])
      assert.equal((await call(`http://${host}:${peer.port}/`, guarded)).outcome, "forbidden", host);
    assert.equal((await call(`https://127.0.0.1:${peer.port}/`, guarded)).outcome, "forbidden");
    assert.equal(await peer.connections, 0);
  });

  it("is not called where a name leads to it, the second time either", async () => {
    for (const addresses of [["127.0.0.1"], ["::1"], ["169.254.169.254", "10.0.0.1"], []])
      assert.equal(
        (await call(`http://a.example:${peer.port}/`, { ...guarded, resolve: resolvesTo(...addresses) })).outcome,
        "forbidden",
      );
    assert.equal(await peer.connections, 0);
  });

  it("is called where the operator allows it", async () => {
    const answer = await call(`http://a.example:${peer.port}/`, { resolve: resolvesTo("127.0.0.1") });
    assert.equal(answer.outcome, "answered");
  });

  it("is not what an unknown name is", async () => {
    const resolve: Resolve = (_host, found) => found(Object.assign(new Error("no"), { code: "ENOTFOUND" }), []);
    assert.deepEqual(await call("http://a.example/", { ...guarded, resolve }), {
      outcome: "unreachable",
      reason: "unknown name",
      detail: "ENOTFOUND: no",
    });
  });
});
