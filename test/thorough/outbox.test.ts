import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { Recipient } from "../../src/model/alert-rule.ts";
import type { NoticeTarget } from "../../src/model/notice.ts";
import { createSmsSender } from "../../src/notify/index.ts";
import { countParts } from "../../src/notify/sms-parts.ts";
import { createMetrics, systemClock } from "../../src/observe/index.ts";
import type { CommandRun, RuleCommand } from "../../src/ports/command-runner.ts";
import type { SmsResult, SmsSender } from "../../src/ports/sms.ts";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { command, email, person, sms } from "../contract/store/alert-values.ts";
import { HttpPeer } from "../support/http-peer.ts";
import { type BenchWays, OutboxBench } from "../support/outbox.ts";
import { silentLog } from "../support/silent-log.ts";
import { SmppPeer } from "../support/smpp-peer.ts";
import { smppSettings } from "../support/sms-settings.ts";
import { SmtpPeer } from "../support/smtp-peer.ts";

const mailTo = (to: string, wishes: Partial<Recipient> = {}): NoticeTarget => ({
  ...person,
  ...wishes,
  channel: "email",
  to,
});
const hook = (port: number, path = "/"): NoticeTarget => ({
  channel: "webhook",
  url: `http://127.0.0.1:${port}${path}`,
  secret: "0123456789abcdef",
});

/** A gateway that answers what it is told. */
class SmsPeer implements SmsSender {
  readonly binary = false;
  readonly sent: { readonly to: string; readonly text: string }[] = [];
  answer: (index: number) => SmsResult = () => ({ outcome: "accepted", ids: ["m1"] });
  parts(body: Parameters<SmsSender["send"]>[1]): number {
    return countParts(body);
  }
  async send(to: string, body: Parameters<SmsSender["send"]>[1]): Promise<SmsResult> {
    this.sent.push({ to, text: "text" in body ? body.text : "" });
    return this.answer(this.sent.length - 1);
  }
  onReceipt(): void {}
  async close(): Promise<void> {}
}

describe("the outbox", () => {
  let peer: SmtpPeer;
  let bench: OutboxBench;
  beforeEach(async () => {
    peer = new SmtpPeer();
    await peer.listen();
  });
  afterEach(async () => {
    await bench.close();
    await peer.close();
  });
  const start = async (ways: BenchWays = {}, fields = {}) => {
    bench = await OutboxBench.make({ mail: { port: peer.port }, ...ways }, fields);
    bench.outbox.start();
    return bench;
  };

  it("sends a mail to each recipient in its own words, and the record tells", async () => {
    await start();
    const [one, other] = await bench.commit([
      mailTo("ana@example.org", { language: "es", timeZone: "Europe/Madrid", units: "imperial" }),
      mailTo("bob@example.org"),
    ]);
    const notices = await bench.ended([one ?? "", other ?? ""]);
    for (const { state, reason, peerId, attempts } of notices)
      assert.deepEqual([state, reason, peerId, attempts], ["sent", null, "250 OK: message queued", 1]);
    const texts = new Map(peer.taken.map(({ to, raw }) => [to[0], raw]));
    assert.match(texts.get("ana@example.org") ?? "", /Velocidad 57,2 mph/);
    assert.match(texts.get("bob@example.org") ?? "", /Speed 92 km\/h over the limit of 80/);
    assert.match(texts.get("bob@example.org") ?? "", /map\.example/);
    assert.deepEqual(new Set(peer.taken.map(({ id }) => id)), new Set([one, other]));
    const alert = await bench.store.alerts.find(notices[0]?.alertId ?? "");
    assert.deepEqual(alert?.channels, ["email"]);
  });

  it("is refused one recipient of three, and the other two have their mail", async () => {
    await start();
    peer.recipient = (to) => (to === "bad@example.org" ? 550 : "take");
    const ids = await bench.commit(["a@example.org", "bad@example.org", "c@example.org"].map((to) => mailTo(to)));
    const notices = await bench.ended(ids);
    assert.deepEqual(
      notices.map(({ state }) => state),
      ["sent", "failed", "sent"],
    );
    assert.equal(notices[1]?.reason, "the mail server refused it: 550 not this one");
    assert.equal((await bench.store.daily.sent(bench.device.key, notices[0]?.countedDay ?? "")).email, 2);
  });

  it("tries again when the mail server is back, later each time, and gives up some time", async () => {
    await start();
    const { port } = peer;
    await peer.close();
    const [id] = await bench.commit([email]);
    const first = await bench.until(id, ({ attempts, state }) => attempts === 1 && state === "queued");
    assert.match(first.reason ?? "", /^the mail server can't be used/);
    const pauses: number[] = [];
    for (let tries = 1; tries < 7; tries++) {
      const { dueAt } = await bench.notice(id);
      pauses.push((dueAt - bench.clock.now()) / 1000);
      bench.pass(dueAt - bench.clock.now());
      await bench.until(id, ({ attempts, state }) => attempts === tries + 1 && state !== "sending");
    }
    for (const [index, seconds] of [10, 60, 300, 1800, 7200, 21_600].entries())
      assert.ok(Math.abs((pauses[index] ?? 0) - seconds) < seconds * 0.2 + 5, `${pauses}`);
    const given = await bench.notice(id);
    assert.equal(given.state, "failed");
    assert.match(given.reason ?? "", /^given up after 7 tries: the mail server can't be used/);
    peer = new SmtpPeer();
    await peer.listen(port);
    await bench.store.notices.resend(given.key, bench.clock.now(), 1);
    bench.wake();
    assert.equal((await bench.until(id, ({ state }) => state === "sent")).attempts, 1);
    assert.equal(peer.taken[0]?.id, id);
  });

  it("a mail server that hangs delays no webhook, and a webhook that hangs no other one", async (context) => {
    const [hanging, working] = [new HttpPeer(), new HttpPeer()];
    await Promise.all([hanging.listen(), working.listen()]);
    context.after(() => Promise.all([hanging.close(), working.close()]));
    hanging.answer = () => {};
    peer.mail = () => "silent";
    await start({ mail: { port: peer.port, timeoutSeconds: 2 }, webhookMs: 600_000 });
    const mails = await bench.commit(Array.from({ length: 20 }, () => email));
    const stuck = await bench.commit(Array.from({ length: 500 }, (_, index) => hook(hanging.port, `/${index % 50}`)));
    const quick = await bench.commit(Array.from({ length: 100 }, () => hook(working.port)));
    for (const { state } of await bench.ended(quick)) assert.equal(state, "sent");
    assert.equal(working.seen.length, 100);
    while (hanging.seen.length < 16) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(hanging.seen.length, 16);
    for (const id of [...mails, ...stuck]) assert.notEqual((await bench.notice(id)).state, "sent");
    hanging.drop();
    const tried = await bench.until(stuck[0], ({ reason }) => reason !== null);
    assert.equal(tried.state, "queued");
    assert.match(tried.reason ?? "", /^it did not answer/);
  });

  it("reads a notice that waits in memory once, however many come after it", async (context) => {
    const hanging = new HttpPeer();
    await hanging.listen();
    context.after(() => hanging.close());
    hanging.answer = () => {};
    await start({ webhookMs: 600_000 });
    const { notices } = bench.store;
    const due = notices.due.bind(notices);
    const times = new Map<number, number>();
    context.mock.method(notices, "due", async (...asked: Parameters<typeof due>) => {
      const found = await due(...asked);
      for (const { key } of found.notices) times.set(key, (times.get(key) ?? 0) + 1);
      return found;
    });
    const targets = Array.from({ length: 50 }, (_, index) => hook(hanging.port, `/${index % 10}`));
    for (let commit = 0; commit < 20; commit++) {
      await bench.commit(targets);
      while (times.size < (commit + 1) * targets.length) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.deepEqual(new Set(times.values()), new Set([1]));
    hanging.drop();
  });

  it("leaves a webhook alone that asks for it, and calls it then", async (context) => {
    const peerHook = new HttpPeer();
    await peerHook.listen();
    context.after(() => peerHook.close());
    await start();
    let busy = true;
    peerHook.answer = (response) =>
      void (busy ? response.writeHead(429, { "retry-after": "120" }) : response.writeHead(200)).end();
    const [first] = await bench.commit([hook(peerHook.port)]);
    const waits = await bench.until(first, ({ reason, state }) => reason !== null && state === "queued");
    assert.ok(waits.dueAt - bench.clock.now() > 110_000);
    const [second] = await bench.commit([hook(peerHook.port)]);
    await bench.until(second, ({ dueAt }) => dueAt - bench.clock.now() > 100_000);
    assert.equal(peerHook.seen.length, 1);
    busy = false;
    bench.pass(121_000);
    const notices = await bench.ended([first ?? "", second ?? ""]);
    assert.deepEqual(
      notices.map(({ state, attempts, peerId }) => [state, attempts, peerId]),
      [
        ["sent", 2, "200"],
        ["sent", 1, "200"],
      ],
    );
    assert.deepEqual(
      peerHook.seen.map(({ headers }) => headers["webhook-attempt"]),
      ["1", "2", "1"],
    );
  });

  it("sends an SMS of one part, and waits without counting tries where the gateway asks for less", async () => {
    const gateway = new SmsPeer();
    gateway.answer = (index) =>
      index < 9
        ? { outcome: "unavailable", reason: "slow down", retryAfterMs: 1, throttled: true }
        : { outcome: "accepted", ids: ["m7"] };
    await start({ sms: gateway });
    const [id] = await bench.commit([sms]);
    const waking = setInterval(() => bench.pass(2), 5);
    const notice = await bench.until(id, ({ finishedAt }) => finishedAt !== null);
    clearInterval(waking);
    assert.deepEqual([notice.state, notice.attempts, notice.peerId], ["sent", 1, "m7"]);
    assert.equal(gateway.sent.length, 10);
    const [{ to, text } = { to: "", text: "" }] = gateway.sent;
    assert.equal(to, "+573001112233");
    assert.ok(text.startsWith("Truck: Speed 92 km/h over the limit of 80") && text.length <= 160);
  });

  it("counts an SMS as its parts, where it may have more than one", async () => {
    const gateway = new SmsPeer();
    await start({ sms: gateway, smsParts: 3 }, { dailySmsLimit: 4, name: "x".repeat(270) });
    const [first, second] = [await bench.commit([sms]), await bench.commit([sms])];
    const notices = (await bench.ended([...first, ...second])).toSorted((a, b) => (a.state < b.state ? -1 : 1));
    assert.deepEqual(
      notices.map(({ state, reason }) => [state, reason]),
      [
        ["sent", null],
        ["suppressed", "daily SMS limit reached"],
      ],
    );
    assert.ok((gateway.sent[0]?.text.length ?? 0) > 2 * 153);
    assert.equal((await bench.store.daily.sent(bench.device.key, notices[0]?.countedDay ?? "")).sms, 3);
  });

  it("sends an SMS once more that the gateway may have taken, and not for ever", async () => {
    const gateway = new SmsPeer();
    gateway.answer = () => ({ outcome: "maybe", reason: "the connection broke" });
    await start({ sms: gateway });
    const [id] = await bench.commit([sms]);
    await bench.until(id, ({ attempts, state }) => attempts === 1 && state === "queued");
    bench.pass(13_000);
    const notice = await bench.until(id, ({ finishedAt }) => finishedAt !== null);
    assert.deepEqual([notice.state, notice.reason], ["sent", "the connection broke: it may or may not have been sent"]);
    assert.equal(gateway.sent.length, 2);
  });

  it("suppresses what has no way out, is over the limit, or tells of what is gone", async () => {
    await start({}, { dailyEmailLimit: 1 });
    const [noSms] = await bench.commit([sms]);
    assert.equal((await bench.ended([noSms ?? ""]))[0]?.reason, "no SMS gateway is configured");
    const [sent] = await bench.commit([email]);
    await bench.until(sent, ({ state }) => state === "sent");
    const [over] = await bench.commit([email]);
    assert.equal((await bench.ended([over ?? ""]))[0]?.reason, "daily e-mail limit reached");
    const [noRule] = await bench.commit([email], { ruleId: "another" });
    assert.equal((await bench.ended([noRule ?? ""]))[0]?.reason, "the rule was deleted");
    const [noAlert] = await bench.commit([email], {}, { alertId: "none" });
    assert.equal((await bench.ended([noAlert ?? ""]))[0]?.reason, "the alert was deleted");
    await bench.store.devices.replace(bench.device.key, { ...bench.device, expires: 1, dailyEmailLimit: 9 }, 1);
    const [expired] = await bench.commit([email]);
    assert.equal((await bench.ended([expired ?? ""]))[0]?.reason, "the device has expired");
    const [telling] = await bench.commit([email], { type: "expired", facts: { expires: 1, days: 0 } });
    assert.equal((await bench.ended([telling ?? ""]))[0]?.state, "sent");
    for (const id of [noSms, over, noRule, noAlert, expired])
      assert.deepEqual([(await bench.notice(id)).state, (await bench.notice(id)).attempts], ["suppressed", 0]);
    assert.equal(peer.taken.length, 2);
  });

  it("gives the commands of a rule to the one who sends them, unless the rule was disabled", async () => {
    const ran: RuleCommand[] = [];
    const answers: CommandRun[] = [
      { outcome: "accepted", peerId: "c1" },
      { outcome: "refused", reason: "permission denied" },
      { outcome: "suppressed", reason: "daily SMS limit reached" },
    ];
    await start({
      commands: {
        run: async (wish) => {
          ran.push(wish);
          return answers[ran.length - 1] ?? { outcome: "refused", reason: "no more" };
        },
      },
    });
    for (const [state, peerId] of [
      ["sent", "c1"],
      ["failed", null],
      ["suppressed", null],
    ]) {
      const [id] = await bench.commit([command]);
      const [notice] = await bench.ended([id ?? ""]);
      assert.deepEqual([notice?.state, notice?.peerId], [state, peerId]);
      assert.deepEqual([ran.at(-1)?.id, ran.at(-1)?.deviceId], [id, bench.device.id]);
    }
    await bench.store.alertRules.replace(bench.rule.key, 1, { ...bench.rule, enabled: false }, 1);
    const [id] = await bench.commit([command]);
    assert.equal((await bench.ended([id ?? ""]))[0]?.reason, "the rule was disabled");
    assert.equal(ran.length, 3);
  });

  it("sends by SMPP what the gateway throttled, each once and without losing a try", async () => {
    const gateway = new SmppPeer();
    const port = await gateway.listen();
    gateway.react = (_submit, index) => (index % 3 === 0 ? 0x58 : 0);
    const sender = createSmsSender(smppSettings(port), {
      clock: systemClock,
      log: silentLog,
      metrics: createMetrics({ processMetrics: false }),
    });
    assert.ok(sender);
    await start({ sms: sender });
    const ids = await bench.commit(
      Array.from({ length: 6 }, (_, index) => ({ ...person, channel: "sms", to: `+57300111000${index}` }) as const),
    );
    const waking = setInterval(() => bench.pass(100), 20);
    const notices = await bench.ended(ids);
    clearInterval(waking);
    for (const { state, attempts, peerId } of notices) {
      assert.deepEqual([state, attempts], ["sent", 1]);
      assert.match(peerId ?? "", /^m\d+$/);
    }
    assert.equal(new Set(notices.map(({ peerId }) => peerId)).size, 6);
    await sender.close();
    await gateway.close();
  });

  it("takes a place of the day on which the mail goes out, and gives the one before back", async () => {
    await start({}, { dailyEmailLimit: 1 });
    peer.mail = () => 451;
    const [id] = await bench.commit([email]);
    const first = await bench.until(id, ({ attempts, state }) => attempts === 1 && state === "queued");
    assert.equal(first.reason, "the mail server did not take it: 451 not this one");
    peer.mail = () => "take";
    bench.pass(86_400_000);
    const sent = await bench.until(id, ({ state }) => state === "sent");
    assert.notEqual(sent.countedDay, first.countedDay);
    const { store, device } = bench;
    assert.equal((await store.daily.sent(device.key, sent.countedDay ?? "")).email, 1);
    assert.equal((await store.daily.sent(device.key, first.countedDay ?? "")).email, 0);
  });

  it("sends what it claimed without hearing so from the store, once", async (context) => {
    await start();
    const { notices } = bench.store;
    const claim = notices.claim.bind(notices);
    const deaf = async (...claimed: Parameters<typeof claim>) => {
      await claim(...claimed);
      throw new StoreUnavailable("no answer");
    };
    context.mock.method(notices, "claim", deaf, { times: 1 });
    const [id] = await bench.commit([email]);
    const { state, attempts } = await bench.until(id, ({ finishedAt }) => finishedAt !== null);
    assert.deepEqual([state, attempts, peer.taken.length], ["sent", 1, 1]);
  });

  it("sends what tells of a device whose history is damaged, without the mileage", async (context) => {
    await start();
    const damaged = () => Promise.reject(new StoreUnavailable("a block is damaged", undefined, "damaged"));
    const { mock } = context.mock.method(bench.histories, "lastBefore", damaged);
    const [id] = await bench.commit([email]);
    while (mock.callCount() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const { state, attempts } = await bench.until(id, ({ finishedAt }) => finishedAt !== null);
    assert.deepEqual([state, attempts, mock.callCount()], ["sent", 1, 1]);
  });

  it("waits for what is under way when it stops, and begins nothing more", async () => {
    await start();
    peer.delayMs = () => 200;
    const ids = await bench.commit(Array.from({ length: 20 }, () => email));
    while (peer.open < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    await bench.outbox.stop();
    const states = await Promise.all(ids.map(async (id) => (await bench.notice(id)).state));
    assert.equal(peer.taken.length, states.filter((state) => state === "sent").length);
    assert.ok(states.every((state) => state === "sent" || state === "queued") && states.includes("queued"));
  });

  it("counts what it did and what waits", async () => {
    await start();
    await bench.ended(await bench.commit([email, sms]));
    // A try is counted when the store has answered, a little after readers see that it ended.
    const counted = async (series: string) => {
      for (;;) {
        const text = await bench.metrics.text();
        if (text.includes(`waybeam_notices_total{${series}} 1`)) return text;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    await counted('channel="email",outcome="sent"');
    const text = await counted('channel="sms",outcome="suppressed"');
    assert.match(text, /waybeam_notices_queued \d/);
    assert.match(text, /waybeam_notices_oldest_seconds \d/);
  });

  it("gives up the oldest notices of a device of which too many wait, and counts them", async () => {
    await start();
    const targets = Array.from({ length: 10_600 }, () => hook(9));
    const ids = await bench.commit(targets, {}, { dueAt: bench.clock.now() + 3_600_000 });
    const { reason } = await bench.until(ids[599], ({ state }) => state === "failed");
    assert.equal(reason, "too many notices of the device wait");
    assert.equal((await bench.notice(ids[600])).state, "queued");
    const failed = () =>
      bench.metrics.text().then((text) => /\{channel="webhook",outcome="failed"\} (\d+)/.exec(text)?.[1]);
    while ((await failed()) !== "600") await new Promise((resolve) => setTimeout(resolve, 5));
  });
});
