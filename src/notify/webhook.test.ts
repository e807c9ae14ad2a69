import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import type { LookupAddress } from "node:dns";
import { afterEach, beforeEach, describe, it } from "node:test";
import { HttpPeer } from "../../test/support/http-peer.ts";
import { createLog, systemClock } from "../observe/index.ts";
import type { WebhookCall } from "../ports/mailer.ts";
import { createWebhookSender, type WebhookOptions } from "./webhook.ts";

describe("webhooks", () => {
  let peer: HttpPeer;
  let logged: string[] = [];
  const log = createLog("info", { write: (line) => logged.push(line) });
  beforeEach(async () => {
    logged = [];
    peer = new HttpPeer();
    await peer.listen();
  });
  afterEach(() => peer.close());

  const call = (changes: Partial<WebhookCall> = {}): WebhookCall => ({
    url: `http://127.0.0.1:${peer.port}/hook?a=1`,
    secret: "0123456789abcdef",
    id: "notice-1",
    attempt: 3,
    type: "alert.raised",
    body: '{"text":"Camión ☂"}',
    ...changes,
  });
  const send = (changes: Partial<WebhookCall> = {}, options: Partial<WebhookOptions> = {}) =>
    createWebhookSender({ allowPrivate: true, timeoutMs: 2000, ...options }, { clock: systemClock, log }).send(
      call(changes),
    );

  it("get the body as it was signed, with id, time, attempt and type", async () => {
    peer.answer = (response) => void response.writeHead(204).end();
    assert.deepEqual(await send(), { outcome: "accepted", peerId: "204" });
    const [seen] = peer.seen;
    assert.ok(seen);
    const { headers } = seen;
    assert.deepEqual([seen.method, seen.url, seen.body], ["POST", "/hook?a=1", '{"text":"Camión ☂"}']);
    assert.deepEqual(
      ["content-type", "webhook-id", "webhook-attempt", "webhook-type", "user-agent"].map((name) => headers[name]),
      ["application/json", "notice-1", "3", "alert.raised", "Waybeam"],
    );
    const time = headers["webhook-timestamp"];
    assert.ok(Math.abs(Number(time) - Date.now() / 1000) < 60);
    const mac = createHmac("sha256", "0123456789abcdef").update(`notice-1.${time}.${seen.body}`).digest("base64");
    assert.equal(headers["webhook-signature"], `v1,${mac}`);
  });

  it("are signed by the key that a secret of the standard's form encodes", async () => {
    // The example of the Standard Webhooks specification.
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const clock = { now: () => 1_614_265_330_000, monotonic: () => 0 };
    const body = '{"test": 2432232314}';
    const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    await createWebhookSender({ allowPrivate: true }, { clock, log }).send(call({ secret, body, id }));
    assert.equal(peer.seen[0]?.headers["webhook-signature"], "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  });

  it("are done with 410, and tried again after all other answers that are no success", async () => {
    const answered = async (status: number, headers: Record<string, string> = {}) => {
      peer.answer = (response) => void response.writeHead(status, headers).end("x");
      return send();
    };
    assert.deepEqual(await answered(410), { outcome: "refused", reason: "it answered 410: it is gone" });
    assert.deepEqual(await answered(404), { outcome: "unavailable", reason: "it answered 404" });
    assert.deepEqual(await answered(429, { "retry-after": "7" }), {
      outcome: "unavailable",
      reason: "it answered 429",
      retryAfterMs: 7000,
    });
    for (const digits of [10, 30, 400]) {
      const { retryAfterMs } = { retryAfterMs: 0, ...(await answered(429, { "retry-after": "9".repeat(digits) })) };
      assert.ok(retryAfterMs > 1e9, `${digits} digits`);
    }
    assert.deepEqual(await answered(503, { "retry-after": "soon" }), {
      outcome: "unavailable",
      reason: "it answered 503",
    });
  });

  it("follow no redirect", async () => {
    const location = `http://127.0.0.1:${peer.port}/private`;
    peer.answer = (response) => void response.writeHead(307, { location }).end();
    assert.deepEqual(await send(), {
      outcome: "unavailable",
      reason: "it answered 307, a redirect; none is followed",
    });
    assert.equal(peer.seen.length, 1);
  });

  it("that never answer, or never end their answer, are let go", async () => {
    peer.answer = () => {};
    const result = await send({}, { timeoutMs: 50 });
    assert.deepEqual(result, { outcome: "unavailable", reason: "it did not answer (timeout)" });
    let written = 0;
    peer.answer = (response) => {
      response.writeHead(200);
      const more = () => {
        written += 1024;
        if (!response.destroyed) response.write("x".repeat(1024), () => setImmediate(more));
      };
      more();
    };
    assert.deepEqual(await send(), { outcome: "accepted", peerId: "200" });
    while ((await peer.connections) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.ok(written < 10_000_000);
  });

  it("at private addresses are not called, whatever their name says", async () => {
    const reason = "its address is private, which the configuration does not allow";
    const guarded = (url: string, addresses: readonly LookupAddress[] = []) =>
      send({ url }, { allowPrivate: false, resolve: (_host, found) => found(null, addresses) });
    const { port } = peer;
    for (const host of [
      "127.0.0.1",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "0x7f.1",
      "2130706433",
      "10.1.2.3",
      "169.254.169.254",
    ])
      assert.deepEqual(await guarded(`http://${host}:${port}/`), { outcome: "refused", reason }, host);
    const loopback = [{ address: "127.0.0.1", family: 4 }];
    assert.deepEqual(await guarded(`http://hook.example:${port}/`, loopback), { outcome: "refused", reason });
    assert.equal(peer.seen.length, 0);
  });

  it("whose name or port is wrong are tried again, and what is no URL is not", async () => {
    const failing: WebhookOptions["resolve"] = (_host, found) =>
      found(Object.assign(new Error("not found"), { code: "ENOTFOUND" }), []);
    assert.deepEqual(await send({ url: "http://hook.example/" }, { resolve: failing }), {
      outcome: "unavailable",
      reason: "it can't be reached (unknown name)",
    });
    await peer.close();
    assert.deepEqual(await send(), { outcome: "unavailable", reason: "it can't be reached (refused)" });
    await peer.listen();
    assert.equal((await send({ url: "hook" })).outcome, "refused");
  });

  it("tell the account the kind of a failure; where they lead, only the log has it", async () => {
    const resolve: WebhookOptions["resolve"] = (_host, found) => found(null, [{ address: "127.0.0.1", family: 4 }]);
    await peer.close();
    const refused = await send({ url: `http://hook.example:${peer.port}/` }, { resolve });
    await peer.listen();
    const tls = await send({ url: `https://hook.example:${peer.port}/` }, { resolve });
    peer.answer = (response) => void response.socket?.end("SSH-2.0-OpenSSH_9.9 build.internal\r\n");
    const ssh = await send({ url: `http://hook.example:${peer.port}/` }, { resolve });
    peer.answer = (response) => void response.writeHead(500, "db.internal is down").end("stack trace of 10.0.0.7");
    const broken = await send({ url: `http://hook.example:${peer.port}/` }, { resolve });
    const hidden = await send({ url: `http://hook.example:${peer.port}/` }, { resolve, allowPrivate: false });
    assert.deepEqual(
      [refused, tls, ssh, broken, hidden].map((told) => "reason" in told && told.reason),
      [
        "it can't be reached (refused)",
        "it can't be reached (tls)",
        "it did not answer (no HTTP)",
        "it answered 500",
        "its address is private, which the configuration does not allow",
      ],
    );
    assert.match(logged[0] ?? "", /127\.0\.0\.1/);
    assert.match(logged.at(-1) ?? "", /127\.0\.0\.1/);
  });

  it("never go to a cloud's metadata service, also where private addresses are allowed", async () => {
    const reason = "its address is for the metadata service of a cloud, which is never called";
    for (const address of ["169.254.169.254", "168.63.129.16", "fd00:ec2::254", "::ffff:169.254.169.254"]) {
      const host = address.includes(":") ? `[${address}]` : address;
      assert.deepEqual(await send({ url: `http://${host}/latest` }), { outcome: "refused", reason }, address);
      const resolve: WebhookOptions["resolve"] = (_host, found) =>
        found(null, [{ address, family: address.includes(":") ? 6 : 4 }]);
      const named = await send({ url: "http://metadata.google.internal/" }, { resolve });
      assert.deepEqual(named, { outcome: "refused", reason }, address);
    }
  });

  it("go to the other addresses of a name that leads to a metadata service, too", async () => {
    const addresses = ["169.254.169.254", "127.0.0.1"].map((address) => ({ address, family: 4 }));
    const url = `http://hook.example:${peer.port}/`;
    const sent = await send({ url }, { resolve: (_host, found) => found(null, addresses) });
    assert.equal(sent.outcome, "accepted");
  });
});
