import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { HttpPeer } from "../../test/support/http-peer.ts";
import { silentLog } from "../../test/support/silent-log.ts";
import type { Log } from "../ports/log.ts";
import { type HttpOptions, HttpSender } from "./http-sender.ts";

let peer: HttpPeer;

beforeEach(async () => {
  peer = new HttpPeer();
  await peer.listen();
});

afterEach(() => peer.close());

function sender(options: Partial<HttpOptions> = {}, allowPrivate = true, log: Log = silentLog): HttpSender {
  const settings: HttpOptions = {
    method: "POST",
    url: `http://127.0.0.1:${peer.port}/send`,
    headers: "",
    format: "json",
    body: '{"to":"{to}","text":"{text}"}',
    binaryUrl: "",
    binaryBody: "",
    secret: "",
    success: "200-299",
    idPath: "",
    idPattern: "",
    ...options,
  };
  return new HttpSender(settings, { allowPrivate, timeoutMs: 500 }, log);
}

const to = "+57 300 1234567";

describe("an HTTP gateway", () => {
  it("gets a text as JSON, each value within its string", async () => {
    const text = 'a"b\\c\n{to}é😀';
    assert.deepEqual(await sender().send(to, { text }), { outcome: "accepted", ids: [] });
    const [seen] = peer.seen;
    assert.equal(seen?.headers["content-type"], "application/json");
    assert.deepEqual(JSON.parse(seen?.body ?? ""), { to: "+573001234567", text });
  });

  it("gets a text as a form or in the query, with the key from its own setting", async () => {
    const text = "a&b=c d+é%";
    const options = { secret: "k/1", headers: '{"Authorization":"Bearer {secret}","X-A":"b"}' };
    await sender({ ...options, format: "form", body: "n={digits}&t={text}" }).send(to, { text });
    const [form] = peer.seen;
    assert.deepEqual(
      [...new URLSearchParams(form?.body)],
      [
        ["n", "573001234567"],
        ["t", text],
      ],
    );
    assert.deepEqual([form?.headers.authorization, form?.headers["x-a"]], ["Bearer k/1", "b"]);
    const url = `http://127.0.0.1:${peer.port}/{secret}/send?n={to}&t={text}`;
    await sender({ ...options, method: "GET", url, body: "" }).send(to, { text });
    const seen = peer.seen[1];
    const asked = new URL(seen?.url ?? "", "http://a.example");
    assert.deepEqual(
      [seen?.method, seen?.body, asked.pathname, asked.searchParams.get("n"), asked.searchParams.get("t")],
      ["GET", "", "/k%2F1/send", "+573001234567", text],
    );
  });

  it("gets bytes by a template of their own, and none without one", async () => {
    const bytes = Uint8Array.of(0, 0xab, 0xff);
    assert.equal(sender().binary, false);
    assert.equal((await sender().send(to, { bytes })).outcome, "refused");
    assert.equal(peer.seen.length, 0);
    const able = sender({
      binaryUrl: `http://127.0.0.1:${peer.port}/binary`,
      binaryBody: '{"h":"{hex}","b":"{base64}"}',
    });
    assert.equal(able.binary, true);
    assert.equal((await able.send(to, { bytes })).outcome, "accepted");
    assert.equal(peer.seen[0]?.url, "/binary");
    assert.deepEqual(JSON.parse(peer.seen[0]?.body ?? ""), { h: "00ABFF", b: "AKv/" });
  });

  it("names the message where the configuration says how", async () => {
    peer.answer = (response) => void response.end('{"messages":[{"id":"x9"}]}');
    assert.deepEqual(await sender({ idPath: "messages.0.id" }).send(to, { text: "a" }), {
      outcome: "accepted",
      ids: ["x9"],
    });
    peer.answer = (response) => void response.end("ERR 301 no credit");
    assert.equal((await sender({ idPattern: "^OK (\\S+)" }).send(to, { text: "a" })).outcome, "maybe");
  });

  it("is understood by its status", async () => {
    for (const [status, outcome] of [
      [200, "accepted"],
      [202, "accepted"],
      [302, "refused"],
      [400, "refused"],
      [401, "refused"],
      [429, "unavailable"],
      [503, "unavailable"],
      [500, "maybe"],
      [502, "maybe"],
    ] as const) {
      peer.answer = (response) => void response.writeHead(status, { location: "http://127.0.0.1/" }).end();
      assert.equal((await sender().send(to, { text: "a" })).outcome, outcome, String(status));
    }
    peer.answer = (response) => void response.writeHead(200).end();
    assert.equal((await sender({ success: "201,202" }).send(to, { text: "a" })).outcome, "refused");
  });

  it("is tried again when it says so", async () => {
    peer.answer = (response) => void response.writeHead(429, { "retry-after": "7" }).end();
    const result = await sender().send(to, { text: "a" });
    assert.deepEqual(result, {
      outcome: "unavailable",
      reason: "the SMS gateway answered 429",
      retryAfterMs: 7000,
      throttled: true,
    });
  });

  it("leaves a doubt where it never answers, and none where it is not there", async () => {
    peer.answer = () => {};
    assert.equal((await sender().send(to, { text: "a" })).outcome, "maybe");
    peer.answer = (response) => response.socket?.destroy();
    assert.equal((await sender().send(to, { text: "a" })).outcome, "maybe");
    const away = new HttpPeer();
    await away.listen();
    await away.close();
    assert.equal(
      (await sender({ url: `http://127.0.0.1:${away.port}/` }).send(to, { text: "a" })).outcome,
      "unavailable",
    );
  });

  it("has taken the message also where its answer has no end", async () => {
    peer.answer = (response) => {
      response.write("x".repeat(70_000));
    };
    assert.equal((await sender().send(to, { text: "a" })).outcome, "accepted");
  });

  it("at a private address gets nothing unless allowed", async () => {
    for (const host of ["127.0.0.1", "localhost"]) {
      const url = `http://${host}:${peer.port}/`;
      assert.equal((await sender({ url }, false).send(to, { text: "a" })).outcome, "refused");
    }
    assert.equal(peer.seen.length, 0);
  });

  it("may repeat the key in its answer without it coming into the log", async () => {
    const lines: unknown[] = [];
    const keep = (...line: unknown[]) => void lines.push(line);
    const log: Log = { debug: keep, info: keep, warn: keep, error: keep, child: () => log };
    peer.answer = (response, seen) => void response.writeHead(401).end(`no: ${seen.body} ${seen.url}`);
    const url = `http://127.0.0.1:${peer.port}/?k={secret}`;
    const result = await sender({ url, secret: "hunter/2", body: '["{secret}"]' }, true, log).send(to, { text: "a" });
    assert.equal(result.outcome, "refused");
    assert.equal(lines.length, 2);
    assert.doesNotMatch(JSON.stringify([result, lines]), /hunter/);
  });

  it("is waited for at the end", async () => {
    peer.answer = (response) => void setTimeout(() => response.end(), 50);
    const gateway = sender();
    const result = gateway.send(to, { text: "a" });
    await gateway.close();
    assert.equal((await result).outcome, "accepted");
    assert.equal((await gateway.send(to, { text: "a" })).outcome, "unavailable");
  });

  it("gets at most sixteen requests at a time", async () => {
    let open = 0;
    let most = 0;
    peer.answer = (response) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open--;
        response.end();
      }, 20);
    };
    const gateway = sender();
    const results = await Promise.all(Array.from({ length: 40 }, () => gateway.send(to, { text: "a" })));
    assert.ok(results.every(({ outcome }) => outcome === "accepted"));
    assert.ok(most <= 16, String(most));
  });
});
