import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { SmsBody, SmsReceipt, SmsResult, SmsSender } from "../../src/ports/sms.ts";
import { as, failingAt, quick } from "../support/commands.ts";
import { until } from "../support/gateway.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

describe("by SMS", () => {
  /** A gateway that says what the test wants. */
  class Sender implements SmsSender {
    binary = true;
    readonly sent: (readonly [string, SmsBody])[] = [];
    result: SmsResult | undefined;
    /** What `send` waits for. */
    held: Promise<void> | undefined;
    #listener: (receipt: SmsReceipt) => Promise<void> = async () => {};
    async send(to: string, body: SmsBody): Promise<SmsResult> {
      this.sent.push([to, body]);
      await this.held;
      const ids = ["a", "b", "c"].slice(0, this.parts(body)).map((name) => `${name}${this.sent.length}`);
      return this.result ?? { outcome: "accepted", ids };
    }
    parts(body: SmsBody): number {
      return "text" in body ? Math.ceil(body.text.length / 10) : 1;
    }
    onReceipt(listener: (receipt: SmsReceipt) => Promise<void>): void {
      this.#listener = listener;
    }
    receipt(id: string, delivered: boolean, state: string): void {
      void this.#listener({ id, delivered, state });
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
          daily: {
            take: (...input) => daily.take(...input),
            takeOfAccount: (...input) => daily.takeOfAccount(...input),
            giveBack,
            sent: (...input) => daily.sent(...input),
            sentOfAccount: (...input) => daily.sentOfAccount(...input),
          },
        };
      },
    });
    owner = as(rest, await rest.ownerToken());
  });
  after(() => endRest(rest));

  const sms = (command: string, fields: object = {}) => ({ command, sms: true, ...fields });
  const last = async (id: string) => (await owner.commands(id)).commands[0];

  /** Sends a message whose receipt comes before the gateway's answer to it. */
  const overtaken = async (
    device: string,
    text: string,
    name: string,
    receipt = () => sender.receipt(name, true, "DELIVRD"),
  ) => {
    const answer = Promise.withResolvers<void>();
    sender.held = answer.promise;
    const before = sender.sent.length;
    const sent = owner.send(device, sms(text));
    await until(() => sender.sent.length > before);
    receipt();
    await delay(20);
    sender.held = undefined;
    answer.resolve();
    return sent;
  };

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
    assert.match((await overtaken("a", "early", "a4")).json.result, /^delivered/);
    sender.binary = false;
    assert.equal((await owner.send("a", sms("00", { format: "Hex" }))).status, 400);
    sender.binary = true;
    await owner.create("b");
    const noPhone = await owner.send("b", sms("x"));
    assert.equal(noPhone.status, 409);
    assert.equal(noPhone.json.error, "device has no phone number");
  });

  test("a receipt that another process got finds the one that sends the message", async () => {
    await owner.create("elsewhere", { min: "+573001234568" });
    const name = `a${sender.sent.length + 1}`;
    const receipt = { id: name, delivered: true, state: "DELIVRD" };
    const told = () => rest.bus.deliver({ type: "smsReceipt", receipt }, "another");
    assert.match((await overtaken("elsewhere", "early", name, told)).json.result, /^delivered/);
    // And this one tells of those that it can't name.
    const others: unknown[] = [];
    const stop = rest.bus.subscribe((event) => event.type === "smsReceipt" && others.push(event.receipt));
    sender.receipt("of-another", true, "DELIVRD");
    while (others.length === 0) await delay(5);
    stop();
    assert.deepEqual(others, [{ id: "of-another", delivered: true, state: "DELIVRD" }]);
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
    assert.equal((await overtaken("long", long, `b${number + 1}`)).status, 200);
    for (const part of ["a", "c"]) sender.receipt(`${part}${number + 1}`, true, "DELIVRD");
    while ((await last("long")).state !== "delivered") await delay(5);
    await owner.setLimits("long", { dailySmsLimit: 11 });
    const { status, json } = await owner.send("long", sms(long));
    assert.equal(status, 429);
    assert.deepEqual(json.details, ["the message needs 3 SMS; the device may be sent 11 a day"]);
    assert.equal((await owner.limits("long")).smsSentToday, 9);
  });

  test("a message of more parts than the device's limit is a bad request: no day has room for it", async () => {
    await owner.create("tooLong", { min: "+1" });
    await owner.setLimits("tooLong", { dailySmsLimit: 2 });
    const { status, json, headers } = await owner.send("tooLong", sms("x".repeat(25)));
    assert.deepEqual([status, json.error], [400, "Bad Request"]);
    assert.deepEqual(json.details, ["body/command: the message needs 3 SMS; the device may be sent 2 a day"]);
    assert.equal(headers["retry-after"], undefined);
    assert.equal((await owner.limits("tooLong")).smsSentToday, 0);
    assert.equal((await owner.send("tooLong", sms("x".repeat(20)))).status, 200);
    await owner.setLimits("tooLong", { dailySmsLimit: 0 });
    assert.equal((await owner.send("tooLong", sms("x"))).status, 429, "the limit is reached, whatever the message");
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
    // The look that comes after the answer does not wait.
    setTimeout(() => {
      slow = undefined;
    }, 15);
    const { json } = await overtaken("overtaken", "x", `a${sender.sent.length + 1}`);
    looked.resolve();
    assert.match(json.result, /^delivered/);
  });

  test("a gateway that gives its names anew: a receipt is that of the newest message of its name, and none from before it", async () => {
    await owner.create("anew", { min: "+1" });
    sender.result = { outcome: "accepted", ids: ["7"] };
    await owner.send("anew", sms("first"));
    sender.receipt("7", true, "DELIVRD");
    while ((await last("anew")).state !== "delivered") await delay(5);
    // The gateway repeats itself. One is of an SMS of somebody else.
    for (const name of ["7", "8"]) sender.receipt(name, true, "DELIVRD");
    await delay(20);
    await owner.send("anew", sms("second"));
    assert.equal((await last("anew")).state, "sent");
    sender.receipt("7", false, "EXPIRED");
    while ((await last("anew")).state !== "failed") await delay(5);
    sender.result = { outcome: "accepted", ids: ["8"] };
    await owner.send("anew", sms("third"));
    assert.equal((await last("anew")).state, "sent");
    sender.result = { outcome: "accepted", ids: ["7"] };
    assert.match((await overtaken("anew", "fourth", "7")).json.result, /^delivered/);
    sender.result = undefined;
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
