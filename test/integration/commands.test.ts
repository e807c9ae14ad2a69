import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { as, quick } from "../support/commands.ts";
import { fixtureProtocol } from "../support/fixture-protocol.ts";
import { Peer, startGateway, until, type World } from "../support/gateway.ts";
import { type Answer, endRest, type Rest, startRest } from "../support/rest.ts";

describe("over the data connection", () => {
  let world: World;
  let rest: Rest;
  let owner: ReturnType<typeof as>;
  let made = 0;
  /** The share of the time for a reply that is waited: all of it where the reply comes, however busy the machine is. */
  let waited = 1;
  before(async () => {
    world = await startGateway({}, [fixtureProtocol]);
    const { dispatcher } = world.gateway;
    rest = await startRest({
      limits: { ...quick, commandWaitSeconds: 60 },
      dispatcher: {
        dispatch: (id, outgoing, waitMs, beforeWrite) =>
          dispatcher.dispatch(id, outgoing, waitMs * waited, beforeWrite),
        onReachable: (listener) => dispatcher.onReachable(listener),
        where: (id) => dispatcher.where(id),
        onElsewhere: (listener) => dispatcher.onElsewhere(listener),
      },
    });
    owner = as(rest, await rest.ownerToken());
  });
  after(async () => {
    await world.gateway.stop();
    await endRest(rest);
  });

  /** A registered device that never connected. */
  async function device(fields: object = {}): Promise<string> {
    const id = `device${++made}`;
    world.intake.register(id);
    assert.equal((await owner.create(id, fields)).status, 201);
    return id;
  }

  async function connect(id: string): Promise<Peer> {
    const peer = new Peer(world.port);
    peer.send(`#I,${id}\n`);
    await peer.expect("#I\n");
    return peer;
  }

  const states = async (id: string) =>
    (await owner.commands(id)).commands.map(({ state }: { state: string }) => state).toReversed();

  test("Text, Hex and Base64 are written as their bytes and nothing else; the reply is the result", async () => {
    const id = await device();
    const peer = await connect(id);
    const cases = [
      [{ command: "á\u0001" }, "\xc3\xa1\u0001"],
      [{ command: "text", format: "Text" }, "text"],
      [{ command: "C3 a1-0 0", format: "Hex", sms: false }, "\xc3\xa1\0"],
      [{ command: "w6EA", format: "Base64" }, "\xc3\xa1\0"],
      [{ command: "wrapped", encode: true }, "!wrapped\n"],
      [{ command: "nulls", format: null, sms: null, encode: null, ttlSeconds: null }, "nulls"],
    ] as const;
    for (const [body, bytes] of cases) {
      const answer = owner.send(id, body);
      await Promise.race([peer.expect(bytes), answer]);
      peer.send("#C,it is done\n");
      const { status, json } = await answer;
      assert.equal(status, 200);
      assert.equal(json.success, true);
      assert.equal(json.result, "it is done");
    }
    const { commands } = await owner.commands(id);
    assert.equal(commands.length, cases.length);
    const { id: command, creation, expires, sentAt, finishedAt, ...record } = commands[1];
    assert.deepEqual(record, {
      state: "delivered",
      channel: "data",
      command: "wrapped",
      format: "Text",
      encode: true,
      user: "Owner@Example.com",
      reply: "it is done",
      failure: null,
    });
    assert.match(command, /^[0-9a-f-]{36}$/);
    assert.equal(Date.parse(expires) - Date.parse(creation), 86_400_000);
    assert.ok(creation <= sentAt && sentAt <= finishedAt);
    peer.end();
  });

  test("what is no command is a 400 that says why, and leaves no record", async () => {
    const id = await device();
    const peer = await connect(id);
    const bad = [
      {},
      { command: "" },
      { command: null },
      { command: 1 },
      { command: "x".repeat(4097) },
      { command: "x", format: "hex" },
      { command: "x", format: "Binary" },
      { command: "abc", format: "Hex" },
      { command: "zz", format: "Hex" },
      { command: " - ", format: "Hex" },
      { command: "QQ", format: "Base64" },
      { command: "Q Q=", format: "Base64" },
      { command: "x", sms: "true" },
      { command: "x", encode: 1 },
      { command: "00", format: "Hex", encode: true },
      { command: "x", encode: true, sms: true },
      { command: "x", ttlSeconds: -1 },
      { command: "x", ttlSeconds: 1.5 },
      { command: "x", ttlSeconds: 1e12 },
      [],
      "nonsense",
    ];
    for (const body of bad) {
      const { status, json } = await owner.send(id, body);
      assert.equal(status, 400, JSON.stringify(body));
      assert.equal(json.error, "Bad Request");
      assert.ok(json.details.length > 0);
    }
    assert.equal((await owner.send(id, '{"command":"\\ud800"}')).status, 400);
    assert.equal((await owner.send(id, { command: "x" }, "with space")).status, 400);
    assert.deepEqual(await states(id), []);
    assert.equal(peer.received, "");
    peer.end();
  });

  test("text that the device's protocol can't carry: 400 where it is connected, else a failed record", async () => {
    const id = await device();
    const peer = await connect(id);
    const refused = await owner.send(id, { command: "two\nlines", encode: true });
    assert.equal(refused.status, 400);
    assert.match(refused.json.details[0], /a line feed ends a command/);
    peer.end();
    await until(() => world.gateway.connections.devices === 0);
    assert.match((await owner.send(id, { command: "two\nlines", encode: true })).json.result, /^queued: /);
    assert.match((await owner.send(id, { command: "fine" })).json.result, /^queued: /);
    const again = await connect(id);
    await again.expect("fine");
    again.send("#C,ok\n");
    while ((await states(id)).at(-1) !== "delivered") await delay(5);
    assert.deepEqual(await states(id), ["failed", "failed", "delivered"]);
    const [, failed] = (await owner.commands(id)).commands;
    assert.match(failed.failure, /a line feed ends a command/);
    again.end();
  });

  test("no reply in time; a late one is recorded all the same", async () => {
    const id = await device();
    const peer = await connect(id);
    waited = 1 / 300;
    const { json } = await owner.send(id, { command: "x" });
    waited = 1;
    assert.equal(json.result, "sent, no reply came");
    assert.deepEqual(await states(id), ["sent"]);
    peer.send("#C,late\n");
    while ((await states(id))[0] !== "delivered") await delay(5);
    assert.equal((await owner.commands(id)).commands[0].reply, "late");
    peer.end();
  });

  test("while a reply is waited for the record tells no failure", async () => {
    const id = await device();
    const peer = await connect(id);
    for (const ttlSeconds of [60, 0]) {
      const answer = owner.send(id, { command: "x", ttlSeconds });
      await peer.expect("x");
      const [{ state, failure }] = (await owner.commands(id)).commands;
      assert.deepEqual([state, failure], ["sent", null]);
      peer.send("#C,ok\n");
      await answer;
    }
    peer.end();
  });

  test("the connection ends before a reply: nobody can tell, and it is not sent again", async () => {
    const id = await device();
    const peer = await connect(id);
    const answer = owner.send(id, { command: "x" });
    await peer.expect("x");
    peer.end();
    assert.match((await answer).json.result, /^sent: the connection ended before a reply came/);
    const again = await connect(id);
    again.send("#H\n");
    await again.expect("#H\n");
    assert.equal(again.received, "");
    assert.deepEqual(await states(id), ["sent"]);
    again.end();
  });

  test("not connected: queued, and sent in order on the next connection, before anything else", async () => {
    const id = await device();
    for (const text of ["one", "two", "three", "four"]) {
      const { json } = await owner.send(id, { command: text });
      assert.match(json.result, /^queued: the device is not connected; it is sent when it connects, until 20.*Z$/);
    }
    const [, third] = (await owner.commands(id)).commands;
    assert.equal((await owner.cancel(id, third.id)).status, 200);
    assert.equal((await owner.cancel(id, third.id)).json.error, "command already finished");
    assert.equal((await owner.cancel(id, "unknown")).json.error, "command not found");
    const peer = await connect(id);
    for (const text of ["one", "two", "four"]) {
      await peer.expect(text);
      peer.send(`#C,did ${text}\n`);
    }
    while ((await states(id)).at(-1) !== "delivered") await delay(5);
    assert.deepEqual(await states(id), ["delivered", "delivered", "cancelled", "delivered"]);
    assert.deepEqual(
      (await owner.commands(id)).commands.map(({ reply }: { reply: string }) => reply),
      ["did four", null, "did two", "did one"],
    );
    assert.equal((await owner.cancel(id, (await owner.commands(id)).commands[0].id)).status, 409);
    peer.end();
  });

  test("what a user queued is cancelled, with the reason, where the user lost the right before its turn", async () => {
    const id = await device();
    const admin = await rest.ownerToken();
    const sends = { privileges: ["sendCommands"], deviceId: id };
    const plain = { country: "CO", timeZone: "America/Bogota", name: "A", ...sends };
    const losses: [string, (url: string, email: string) => Promise<Answer>][] = [
      ["deleted", (url) => rest.call("DELETE", url, { token: admin })],
      ["disabled", (url, email) => rest.call("PUT", url, { token: admin, body: { ...plain, email, disabled: true } })],
      [
        "may not send",
        (url, email) => rest.call("PUT", url, { token: admin, body: { ...plain, email, privileges: [] } }),
      ],
      [
        "does not see",
        (url, email) => rest.call("PUT", url, { token: admin, body: { ...plain, email, deviceId: null } }),
      ],
      [
        "is over",
        (url, email) =>
          rest.call("PUT", url, { token: admin, body: { ...plain, email, expires: "2020-01-01T00:00:00Z" } }),
      ],
    ];
    const users: string[] = [];
    for (const [index] of losses.entries()) {
      const email = `loses${index}@example.com`;
      const token = await rest.userToken({ ...sends, email });
      assert.match((await as(rest, token).send(id, { command: `no ${index}` })).json.result, /^queued: /);
      users.push((await rest.store.users.findByEmail(email))?.id ?? "");
    }
    const keeps = await rest.userToken(sends);
    await as(rest, keeps).send(id, { command: "yes" });
    for (const [index, [, lose]] of losses.entries())
      assert.equal((await lose(`/api/users/${users[index]}`, `loses${index}@example.com`)).status, 200);
    const peer = await connect(id);
    await peer.expect("yes");
    peer.send("#C,ok\n");
    while ((await states(id)).at(-1) !== "delivered") await delay(5);
    assert.ok(!peer.received.includes("no "));
    const { commands } = await owner.commands(id);
    for (const [index, [reason]] of losses.entries()) {
      const { state, failure, sentAt, finishedAt } = commands.toReversed()[index];
      assert.deepEqual([state, sentAt], ["cancelled", null]);
      assert.ok(failure.includes(reason), failure);
      assert.notEqual(finishedAt, null);
    }
    peer.end();
  });

  test("ttlSeconds 0: never queued; others end at their moment, also when the clock jumps, and are never sent", async () => {
    const id = await device();
    assert.equal(
      (await owner.send(id, { command: "now", ttlSeconds: 0 })).json.result,
      "failed: the device is not connected",
    );
    await owner.send(id, { command: "soon", ttlSeconds: 1 });
    await owner.send(id, { command: "later", ttlSeconds: 7200 });
    while ((await states(id))[1] !== "expired") await delay(20);
    assert.deepEqual(await states(id), ["failed", "expired", "queued"]);
    rest.clock.pass(7_200_000);
    while ((await states(id))[2] !== "expired") await delay(20);
    const peer = await connect(id);
    peer.send("#H\n");
    await peer.expect("#H\n");
    assert.equal(peer.received, "");
    const atOnce = owner.send(id, { command: "now", ttlSeconds: 0 });
    await peer.expect("now");
    peer.send("#C,done\n");
    assert.equal((await atOnce).json.result, "done");
    peer.end();
  });

  test("a key makes a repeat harmless, one after the other and at once; with another body it is a conflict", async () => {
    const id = await device();
    const peer = await connect(id);
    const both = [owner.send(id, { command: "x" }, "k1"), owner.send(id, { command: "x" }, "k1")];
    await peer.expect("x");
    peer.send("#C,done\n");
    for (const answer of await Promise.all(both)) assert.equal(answer.json.result, "done");
    assert.equal((await owner.send(id, { command: "x" }, "k1")).json.result, "done");
    const conflict = await owner.send(id, { command: "y" }, "k1");
    assert.equal(conflict.status, 409);
    assert.equal(conflict.json.error, "idempotency key already used");
    assert.equal((await owner.send(id, { command: "x", ttlSeconds: 1 }, "k1")).status, 409);
    const atOnce = owner.send(id, { command: "z", ttlSeconds: 0 }, "k2");
    await peer.expect("z");
    peer.send("#C,once\n");
    assert.equal((await atOnce).json.result, "once");
    assert.equal((await owner.send(id, { command: "z", ttlSeconds: 0 }, "k2")).json.result, "once");
    assert.equal(peer.received, "");
    assert.equal((await states(id)).length, 2);
    const stranger = as(rest, await rest.userToken({ privileges: ["execute"], deviceId: id }));
    const other = stranger.send(id, { command: "y" }, "k1");
    await peer.expect("y");
    peer.send("#C,other\n");
    assert.equal((await other).json.result, "other");
    peer.end();
  });

  test("many at once: each is written once, in the order of their records, each with its own reply", async () => {
    const id = await device();
    const peer = await connect(id);
    const answers = Array.from({ length: 6 }, (_, index) => owner.send(id, { command: `<${index}>` }));
    for (let answered = 0; answered < answers.length; answered++) {
      await until(() => peer.received.includes(">"));
      const text = peer.received;
      assert.match(text, /^<\d+>$/);
      await peer.expect(text);
      peer.send(`#C,did ${text}\n`);
    }
    const results = await Promise.all(answers);
    assert.deepEqual(
      results.map(({ json }) => json.result),
      Array.from({ length: 6 }, (_, index) => `did <${index}>`),
    );
    peer.end();
  });

  test("as many as may wait wait; for a further one it is too early, and what must not wait is tried", async () => {
    const id = await device();
    for (let index = 0; index < 100; index++) await owner.send(id, { command: `<${index}>` }, `key${index}`);
    const full = await owner.send(id, { command: "x" });
    assert.equal(full.status, 429);
    assert.equal(full.json.error, "Too Many Requests");
    assert.match(full.json.details[0], /100 commands/);
    assert.ok(Number(full.headers["retry-after"]) > 0);
    assert.equal((await owner.send(id, { command: "<0>" }, "key0")).status, 200);
    assert.equal((await owner.send(id, { command: "x", ttlSeconds: 0 })).status, 200);
    const [, newest] = (await owner.commands(id)).commands;
    await owner.cancel(id, newest.id);
    assert.equal((await owner.send(id, { command: "x" })).status, 200);
  });

  test("the list has pages", async () => {
    const id = await device();
    for (let index = 0; index < 5; index++) await owner.send(id, { command: String(index) });
    const texts: string[] = [];
    let query = "?limit=2";
    for (;;) {
      const page = await owner.commands(id, query);
      texts.push(...page.commands.map(({ command }: { command: string }) => command));
      if (page.nextCursor === undefined) break;
      query = `?limit=2&cursor=${page.nextCursor}`;
    }
    assert.deepEqual(texts, ["4", "3", "2", "1", "0"]);
    const { nextCursor } = await owner.commands(id, "?limit=2");
    const other = await device();
    const { error, details } = await owner.commands(other, `?cursor=${nextCursor}`);
    assert.equal(error, "Bad Request");
    assert.deepEqual(details, ["querystring/cursor: must be the nextCursor of an answer with the same list"]);
    const forged = Buffer.from("c1").toString("base64url");
    assert.equal((await owner.commands(id, `?cursor=${forged}`)).error, "Bad Request");
    for (const bad of ["?limit=0", "?limit=10001", "?limit=x", "?limit=1&limit=2", "?cursor=x", "?cursor="])
      assert.equal((await owner.commands(id, bad)).error, "Bad Request", bad);
  });

  test("an expired device gets none; the privileges are asked for the channel", async () => {
    const id = await device({ expires: new Date(rest.clock.now() + 60_000).toISOString(), min: "+1" });
    const sms = { command: "x", sms: true };
    const allowed: [string[], number, number][] = [
      [["sendCommands"], 200, 403],
      [["sendSmsCommands"], 403, 503],
      [["execute"], 200, 503],
      [["admin"], 200, 503],
      [["read", "write", "sendSmsAlerts"], 403, 403],
    ];
    for (const [privileges, data, bySms] of allowed) {
      const user = as(rest, await rest.userToken({ privileges, deviceId: id }));
      assert.equal((await user.send(id, { command: "x", ttlSeconds: 0 })).status, data, privileges.join());
      const answer = await user.send(id, sms);
      assert.equal(answer.status, bySms, privileges.join());
      if (bySms === 503) {
        assert.equal(answer.json.error, "SMS gateway not configured");
        assert.ok(Number(answer.headers["retry-after"]) > 0);
      } else assert.equal(answer.json.error, "permission denied");
    }
    rest.clock.pass(60_000);
    const expired = await owner.send(id, { command: "x" });
    assert.equal(expired.status, 409);
    assert.equal(expired.json.error, "device expired");
  });
});
