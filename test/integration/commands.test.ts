import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { SmsBody, SmsReceipt, SmsResult, SmsSender } from "../../src/ports/sms.ts";
import type { Store } from "../../src/ports/store.ts";
import { protocols } from "../../src/protocols/index.ts";
import { fixtureProtocol } from "../support/fixture-protocol.ts";
import { Peer, startGateway, until } from "../support/gateway.ts";
import { type Answer, endRest, type Rest, startRest } from "../support/rest.ts";

type World = Awaited<ReturnType<typeof startGateway>>;

const quick = { commandWaitSeconds: 0.2, tokenRequestsPerMinute: 1000 };

/** What a test does to the API as somebody. */
function as(rest: Rest, token: string) {
  const path = (id: string, rest = "") => `/api/devices/${id}${rest}`;
  return {
    send: (id: string, body: unknown, key?: string): Promise<Answer> =>
      rest.call("POST", path(id, "/sendCommand"), { token, body, ...(key && { headers: { "idempotency-key": key } }) }),
    commands: async (id: string, query = "") => (await rest.call("GET", path(id, `/commands${query}`), { token })).json,
    cancel: (id: string, command: string) => rest.call("DELETE", path(id, `/commands/${command}`), { token }),
    put: (id: string, body: object) => rest.call("PUT", path(id), { token, body }),
    limits: async (id: string) => (await rest.call("GET", path(id, "/limits"), { token })).json,
    setLimits: (id: string, body: object) => rest.call("PUT", path(id, "/limits"), { token, body }),
    create: (id: string, fields: object = {}) => rest.call("POST", "/api/devices", { token, body: { id, ...fields } }),
  };
}

describe("over the data connection", () => {
  let world: World;
  let rest: Rest;
  let owner: ReturnType<typeof as>;
  let made = 0;
  before(async () => {
    world = await startGateway({}, [fixtureProtocol]);
    rest = await startRest({ limits: quick, dispatcher: world.gateway.dispatcher });
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
    const { json } = await owner.send(id, { command: "x" });
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
    const answers = Array.from({ length: 12 }, (_, index) => owner.send(id, { command: `<${index}>` }));
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
      Array.from({ length: 12 }, (_, index) => `did <${index}>`),
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
    assert.deepEqual(details, ["querystring/cursor: must be the nextCursor of an answer for this device"]);
    const forged = Buffer.from("c1").toString("base64url");
    assert.equal((await owner.commands(id, `?cursor=${forged}`)).error, "Bad Request");
    for (const bad of ["?limit=0", "?limit=1001", "?limit=x", "?limit=1&limit=2", "?cursor=x", "?cursor="])
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

test("queued commands survive a restart; what ran out meanwhile ends with it", { timeout: 20_000 }, async () => {
  const world = await startGateway();
  world.intake.register("d");
  let rest = await startRest({ limits: quick, dispatcher: world.gateway.dispatcher });
  const { directory } = rest;
  const token = await rest.ownerToken();
  await as(rest, token).create("d");
  await as(rest, token).send("d", { command: "short", ttlSeconds: 1 });
  await as(rest, token).send("d", { command: "long" });
  await rest.stop();
  await delay(1000);
  const second = await startGateway();
  second.intake.register("d");
  rest = await startRest({ limits: quick, dispatcher: second.gateway.dispatcher, directory });
  const peer = new Peer(second.port);
  peer.send("#I,d\n");
  await peer.expect("#I\nlong");
  peer.send("#C,ok\n");
  const user = as(rest, token);
  const states = async () => (await user.commands("d")).commands.map(({ state }: { state: string }) => state);
  while ((await states())[0] !== "delivered") await delay(5);
  while ((await states())[1] !== "expired") await delay(5);
  peer.end();
  for (const each of [world, second]) await each.gateway.stop();
  await endRest(rest);
});

/** The store's commands, a step of which fails. */
function failingAt(commands: Store["commands"], fails: () => boolean): Store["commands"] {
  return {
    create: (...input) => commands.create(...input),
    enqueue: (...input) => commands.enqueue(...input),
    find: (device, id) => commands.find(device, id),
    findByIdempotencyKey: (device, user, key) => commands.findByIdempotencyKey(device, user, key),
    list: (device, from, limit) => commands.list(device, from, limit),
    queued: (...input) => commands.queued(...input),
    step: (...input) => (fails() ? Promise.reject(new Error("no disk")) : commands.step(...input)),
    receipt: (...input) => commands.receipt(...input),
    waitingDevices: (limit) => commands.waitingDevices(limit),
    deleteEnded: (...input) => commands.deleteEnded(...input),
    expire: (now) => commands.expire(now),
    nextExpiry: () => commands.nextExpiry(),
  };
}

test("a store that fails at any step of a command: never written twice", { timeout: 20_000 }, async () => {
  for (let failing = 1; failing <= 4; failing++) {
    const world = await startGateway();
    world.intake.register("d");
    let steps = 0;
    const rest = await startRest({
      limits: quick,
      dispatcher: world.gateway.dispatcher,
      spoil: (store) => ({
        ...store,
        commands: failingAt(store.commands, () => ++steps === failing),
      }),
    });
    const user = as(rest, await rest.ownerToken());
    await user.create("d");
    const peer = new Peer(world.port);
    peer.send("#I,d\n");
    await peer.expect("#I\n");
    await user.send("d", { command: "cut" });
    const before = peer.received;
    peer.end();
    await until(() => world.gateway.connections.devices === 0);
    const again = new Peer(world.port);
    again.send("#I,d\n");
    await again.expect("#I\n");
    const written = failing === 1 ? "cut" : "";
    if (failing === 1) assert.equal(before, "");
    else assert.equal(before, "cut");
    await again.expect(written);
    again.send("#H\n");
    await again.expect("#H\n");
    const { state, failure } = (await user.commands("d")).commands[0];
    if (failing > 1) assert.equal(state, "sent");
    if (failing === 2) assert.match(failure ?? "", /^(no outcome was recorded.*)?$/);
    again.end();
    await world.gateway.stop();
    await endRest(rest);
  }
});

describe("by SMS", () => {
  /** A gateway that says what the test wants. */
  class Sender implements SmsSender {
    binary = true;
    readonly sent: (readonly [string, SmsBody])[] = [];
    result: SmsResult | undefined;
    /** What `send` waits for. */
    held: Promise<void> | undefined;
    #listener: (receipt: SmsReceipt) => void = () => {};
    async send(to: string, body: SmsBody): Promise<SmsResult> {
      this.sent.push([to, body]);
      await this.held;
      const ids = ["a", "b", "c"].slice(0, this.parts(body)).map((name) => `${name}${this.sent.length}`);
      return this.result ?? { outcome: "accepted", ids };
    }
    parts(body: SmsBody): number {
      return "text" in body ? Math.ceil(body.text.length / 10) : 1;
    }
    onReceipt(listener: (receipt: SmsReceipt) => void): void {
      this.#listener = listener;
    }
    receipt(id: string, delivered: boolean, state: string): void {
      this.#listener({ id, delivered, state });
    }
    async close(): Promise<void> {}
  }
  let sender: Sender;
  /** What a look for the command of a receipt waits for after it. */
  let slow: Promise<void> | undefined;
  /** How often giving back a counted SMS fails. */
  let failures = 0;
  let rest: Rest;
  let owner: ReturnType<typeof as>;
  before(async () => {
    sender = new Sender();
    rest = await startRest({
      limits: quick,
      sms: sender,
      spoil: (store) => {
        const plain = failingAt(store.commands, () => false);
        const receipt: typeof plain.receipt = async (...input) => {
          const found = await plain.receipt(...input);
          await slow;
          return found;
        };
        const { daily } = store;
        const giveBack: typeof daily.giveBack = (...input) =>
          failures-- > 0 ? Promise.reject(new Error("no disk")) : daily.giveBack(...input);
        return {
          ...store,
          commands: { ...plain, receipt },
          daily: { take: (...input) => daily.take(...input), giveBack, sent: (...input) => daily.sent(...input) },
        };
      },
    });
    owner = as(rest, await rest.ownerToken());
  });
  after(() => endRest(rest));

  const sms = (command: string, fields: object = {}) => ({ command, sms: true, ...fields });
  const last = async (id: string) => (await owner.commands(id)).commands[0];

  test("text as text, Hex and Base64 as bytes, to the device's number; receipts step the record", async () => {
    await owner.create("a", { min: "+573001234567" });
    assert.equal((await owner.send("a", sms("begin"))).json.result, "sent: the SMS gateway took it");
    await owner.send("a", sms("0a-FF", { format: "Hex" }));
    await owner.send("a", sms("Cv8=", { format: "Base64" }));
    const bytes = new Uint8Array([10, 255]);
    assert.deepEqual(sender.sent, [
      ["+573001234567", { text: "begin" }],
      ["+573001234567", { bytes }],
      ["+573001234567", { bytes }],
    ]);
    assert.equal((await last("a")).state, "sent");
    sender.receipt("a3", true, "DELIVRD");
    while ((await last("a")).state !== "delivered") await delay(5);
    sender.receipt("a2", false, "UNDELIV");
    const second = async () => (await owner.commands("a")).commands[1];
    while ((await second()).state !== "failed") await delay(5);
    assert.equal((await second()).failure, "the SMS gateway reports UNDELIV");
    assert.equal((await owner.limits("a")).smsSentToday, 3);
    sender.receipt("a4", true, "DELIVRD");
    await delay(20);
    assert.match((await owner.send("a", sms("early"))).json.result, /^delivered/);
    sender.binary = false;
    assert.equal((await owner.send("a", sms("00", { format: "Hex" }))).status, 400);
    sender.binary = true;
    await owner.create("b");
    const noPhone = await owner.send("b", sms("x"));
    assert.equal(noPhone.status, 409);
    assert.equal(noPhone.json.error, "device has no phone number");
  });

  test("a long message: counted as its parts, delivered with the last, failed with the first that is lost", async () => {
    await owner.create("long", { min: "+1" });
    const long = "x".repeat(25);
    const send = async () => {
      assert.equal((await owner.send("long", sms(long))).status, 200);
      return sender.sent.length;
    };
    let number = await send();
    assert.equal((await owner.limits("long")).smsSentToday, 3);
    for (const part of ["c", "a"]) sender.receipt(`${part}${number}`, true, "DELIVRD");
    await delay(20);
    assert.equal((await last("long")).state, "sent");
    sender.receipt(`b${number}`, true, "DELIVRD");
    while ((await last("long")).state !== "delivered") await delay(5);
    number = await send();
    sender.receipt(`a${number}`, true, "DELIVRD");
    sender.receipt(`b${number}`, false, "EXPIRED");
    while ((await last("long")).state !== "failed") await delay(5);
    assert.equal((await last("long")).failure, "the SMS gateway reports EXPIRED");
    // One that comes before the answer to the message, and the others after it.
    sender.receipt(`b${number + 1}`, true, "DELIVRD");
    await delay(20);
    await send();
    for (const part of ["a", "c"]) sender.receipt(`${part}${number + 1}`, true, "DELIVRD");
    while ((await last("long")).state !== "delivered") await delay(5);
    await owner.setLimits("long", { dailySmsLimit: 11 });
    const { status, json } = await owner.send("long", sms(long));
    assert.equal(status, 429);
    assert.deepEqual(json.details, ["the message needs 3 SMS; the device may be sent 11 a day"]);
    assert.equal((await owner.limits("long")).smsSentToday, 9);
  });

  test("parts that were handed over before the message failed stay counted", async () => {
    await owner.create("partly", { min: "+1" });
    sender.result = { outcome: "refused", reason: "invalid number", sent: 2 };
    assert.match((await owner.send("partly", sms("x".repeat(25)))).json.result, /^failed: /);
    assert.equal((await owner.limits("partly")).smsSentToday, 2);
    sender.result = { outcome: "unavailable", reason: "later" };
    assert.equal((await owner.send("partly", sms("x".repeat(25)))).status, 503);
    assert.equal((await owner.limits("partly")).smsSentToday, 2);
    sender.result = undefined;
  });

  test("a receipt that is looked up while its command is recorded is not lost", async () => {
    await owner.create("overtaken", { min: "+1" });
    const looked = Promise.withResolvers<void>();
    slow = looked.promise;
    sender.receipt(`a${sender.sent.length + 1}`, true, "DELIVRD");
    await delay(20);
    slow = undefined;
    const { json } = await owner.send("overtaken", sms("x"));
    looked.resolve();
    assert.match(json.result, /^delivered/);
  });

  test("a repeat tries again what the gateway could not take, until its time is out; nothing else", async () => {
    await owner.create("again", { min: "+1" });
    sender.result = { outcome: "unavailable", reason: "not connected" };
    const send = (key: string) => owner.send("again", sms("x", { ttlSeconds: 10 }), key);
    for (const key of ["a", "b"]) assert.equal((await send(key)).status, 503);
    const before = sender.sent.length;
    sender.result = { outcome: "accepted", ids: ["again-b"] };
    const both = await Promise.all([send("b"), send("b")]);
    assert.deepEqual(
      both.map(({ status }) => status),
      [200, 200],
    );
    assert.equal(sender.sent.length, before + 1);
    rest.clock.pass(10_000);
    assert.match((await send("a")).json.result, /^expired/);
    assert.equal(sender.sent.length, before + 1);
    assert.deepEqual((await owner.commands("again")).commands.at(-1).state, "expired");
    assert.equal((await owner.limits("again")).smsSentToday, 1);
    sender.result = undefined;
  });

  test("a repeat while the first one is at the gateway waits for its outcome; the record tells no failure meanwhile", async () => {
    await owner.create("held", { min: "+1" });
    for (const again of [false, true]) {
      const key = again ? "tried" : "fresh";
      if (again) {
        sender.result = { outcome: "unavailable", reason: "later" };
        assert.equal((await owner.send("held", sms("x"), key)).status, 503);
      }
      sender.result = { outcome: "refused", reason: "not today" };
      const gate = Promise.withResolvers<void>();
      sender.held = gate.promise;
      const before = sender.sent.length;
      const first = owner.send("held", sms("x"), key);
      await until(() => sender.sent.length === before + 1);
      const repeats = [1, 2].map(() => owner.send("held", sms("x"), key));
      await delay(30);
      const { state, failure } = await last("held");
      assert.deepEqual([state, failure], ["sent", null]);
      gate.resolve();
      const answers = await Promise.all([first, ...repeats]);
      for (const { json } of answers) {
        assert.equal(json.result, "failed: the SMS gateway refused it: not today");
        assert.equal(json.commandId, answers[0]?.json.commandId);
      }
      assert.equal(sender.sent.length, before + 1);
      assert.equal((await last("held")).state, "failed");
    }
    sender.result = undefined;
    sender.held = undefined;
  });

  test("a store that can't give back an SMS at once does so later, and the record says what became of it", async () => {
    await owner.create("back", { min: "+1" });
    sender.result = { outcome: "refused", reason: "invalid number" };
    for (const tries of [1, 2]) {
      failures = tries;
      assert.match((await owner.send("back", sms("x"))).json.result, /^failed: the SMS gateway refused it/);
      assert.equal((await last("back")).state, "failed");
      assert.equal((await owner.limits("back")).smsSentToday, 0);
    }
    failures = 1000;
    assert.match((await owner.send("back", sms("x"))).json.result, /^failed: the SMS gateway refused it/);
    failures = 0;
    sender.result = undefined;
  });

  test("counted to the device's day in its account's time zone; what is not sent is given back", async () => {
    await owner.create("c", { min: "+1" });
    await owner.setLimits("c", { dailySmsLimit: 2 });
    sender.result = { outcome: "refused", reason: "invalid number" };
    assert.equal((await owner.send("c", sms("x"))).json.result, "failed: the SMS gateway refused it: invalid number");
    sender.result = { outcome: "unavailable", reason: "not connected" };
    const unavailable = await owner.send("c", sms("x"), "key");
    assert.equal(unavailable.status, 503);
    assert.equal(unavailable.json.error, "Service Unavailable");
    assert.ok(Number(unavailable.headers["retry-after"]) > 0);
    assert.equal((await owner.limits("c")).smsSentToday, 0);
    sender.result = { outcome: "maybe", reason: "the connection broke" };
    assert.match((await owner.send("c", sms("x"), "key")).json.result, /^sent: the connection broke: it may/);
    assert.match((await owner.send("c", sms("x"), "key")).json.result, /^sent: the connection broke: it may/);
    sender.result = undefined;
    const answers = await Promise.all(Array.from({ length: 5 }, () => owner.send("c", sms("y"))));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 429, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429);
    assert.equal(refused?.json.error, "daily SMS limit reached");
    const wait = Number(refused?.headers["retry-after"]);
    assert.ok(wait > 0 && wait <= 86_400);
    assert.equal((await owner.limits("c")).smsSentToday, 2);
    assert.equal((await owner.commands("c")).commands.length, 3);
    rest.clock.pass(wait * 1000);
    owner = as(rest, await rest.ownerToken());
    assert.equal((await owner.limits("c")).smsSentToday, 0);
    const twice = await Promise.all([owner.send("c", sms("z"), "k"), owner.send("c", sms("z"), "k")]);
    assert.deepEqual(
      twice.map(({ status }) => status),
      [200, 200],
    );
    assert.equal((await owner.limits("c")).smsSentToday, 1);
    assert.equal((await owner.send("c", sms("other"), "k")).status, 409);
  });
});

test("real protocols wrap the text and read the reply", { timeout: 20_000 }, async () => {
  const imei = "100000000000001";
  const world = await startGateway({}, protocols);
  const rest = await startRest({ limits: quick, dispatcher: world.gateway.dispatcher });
  const user = as(rest, await rest.ownerToken());
  await user.create(imei);
  for (const [id, text, result] of [
    ["gt06", "RELAY,1#", "RELAY,1# OK"],
    ["teltonika", "getver", "getver OK"],
  ] as const) {
    const simulate = protocols.find((protocol) => protocol.id === id)?.simulate;
    assert.ok(simulate?.login && simulate.answer && simulate.obey);
    world.intake.register(imei);
    world.intake.register(`0${imei}`);
    const peer = new Peer(world.port);
    peer.send(simulate.login(imei, 1));
    await until(() => peer.received.length > 0 && world.gateway.connections.devices > 0);
    const before = peer.received.length;
    if (!world.gateway.connections.devices) continue;
    const answer = user.send(imei, { command: text, encode: true });
    await until(() => peer.received.length > before);
    const reply = simulate.obey(Buffer.from(peer.received.slice(before), "latin1"), imei, 2);
    assert.ok(reply);
    peer.send(reply);
    assert.equal((await answer).json.result, result);
    peer.end();
    await until(() => world.gateway.connections.devices === 0);
  }
  await world.gateway.stop();
  await endRest(rest);
});
