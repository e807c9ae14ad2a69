import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { Alert } from "../../src/model/alert.ts";
import type { NoticeTarget } from "../../src/model/notice.ts";
import { createSmsSender } from "../../src/notify/index.ts";
import { createMetrics, systemClock } from "../../src/observe/index.ts";
import type { SmsSender } from "../../src/ports/sms.ts";
import { person } from "../contract/store/alert-values.ts";
import { OutboxBench } from "../support/outbox.ts";
import { silentLog } from "../support/silent-log.ts";
import { SmppPeer } from "../support/smpp-peer.ts";
import { smppSettings } from "../support/sms-settings.ts";
import { SmtpPeer } from "../support/smtp-peer.ts";

const minute = 60_000;
const mail = (to: string): NoticeTarget => ({ ...person, channel: "email", to });
const text: NoticeTarget = { ...person, channel: "sms", to: "+573001112233" };

describe("pauses between messages about the same", () => {
  let peer: SmtpPeer;
  let gateway: SmppPeer;
  let bench: OutboxBench;
  let sms: SmsSender | undefined;
  beforeEach(async () => {
    peer = new SmtpPeer();
    gateway = new SmppPeer();
    await peer.listen();
    const port = await gateway.listen();
    sms = createSmsSender(smppSettings(port), {
      ...{ clock: systemClock, log: silentLog, metrics: createMetrics({ processMetrics: false }) },
    });
    assert.ok(sms !== undefined);
    bench = await OutboxBench.make(
      { mail: { port: peer.port }, sms, pauseMinutes: 2 },
      { dailyEmailLimit: 20, dailySmsLimit: 10 },
    );
    bench.outbox.start();
  });
  afterEach(async () => {
    await bench.close();
    await sms?.close();
    await peer.close();
    await gateway.close();
  });

  const zone = (phase: Alert["phase"], name = "Depot") =>
    ({ type: "allowedZone", phase, facts: { zone: name } }) as const;
  const tell = async (change: Partial<Alert>, ...targets: NoticeTarget[]) => {
    const [id] = await bench.commit(targets, change);
    return bench.until(id, ({ state, reason }) => state !== "sending" && (state !== "queued" || reason !== null));
  };
  /** A notice that waited is not sent, because a later one tells the present state. */
  const replaced = async (id: string) => {
    const { state, reason } = await bench.until(id, ({ finishedAt }) => finishedAt !== null);
    assert.deepEqual([state, reason], ["suppressed", "repeated: what came after it tells the present state"]);
  };

  it("end with the present state: nobody's last mail says that a vehicle is back that left again", async () => {
    assert.equal((await tell(zone("raised"), mail("a@example.org"))).state, "sent");
    bench.clock.pass(30_000);
    assert.equal((await tell(zone("over"), mail("a@example.org"))).state, "sent");
    bench.clock.pass(30_000);
    const again = await tell(zone("raised"), mail("a@example.org"));
    assert.deepEqual([again.state, again.reason, again.attempts], ["queued", "waits: at most one in 2 minutes", 0]);
    bench.pass(minute);
    assert.equal((await bench.until(again.id, ({ finishedAt }) => finishedAt !== null)).state, "sent");
    assert.equal(peer.taken.length, 3);
    const fourth = await tell(zone("over"), mail("a@example.org"));
    assert.equal(fourth.state, "queued");
    bench.clock.pass(10_000);
    const fifth = await tell(zone("raised"), mail("a@example.org"));
    assert.deepEqual([fifth.state, fifth.reason], ["suppressed", "repeated: at most one in 4 minutes"]);
    bench.pass(10 * minute);
    await replaced(fourth.id);
    assert.equal(peer.taken.length, 3);
  });

  it("let no older message out that says what is so no longer, where a day's limit kept the newer one back", async () => {
    const limit = (dailyEmailLimit: number) =>
      bench.store.devices.replace(bench.device.key, { ...bench.device, dailyEmailLimit }, 1);
    const send = async (phase: Alert["phase"]) =>
      assert.equal((await tell(zone(phase), mail("a@example.org"))).state, "sent");
    await send("raised");
    bench.clock.pass(30_000);
    await send("over");
    bench.clock.pass(30_000);
    // It repeats, so the next pause is of four minutes.
    const { id } = await tell(zone("raised"), mail("a@example.org"));
    bench.pass(minute);
    assert.equal((await bench.until(id, ({ finishedAt }) => finishedAt !== null)).state, "sent");
    bench.clock.pass(40_000);
    await send("over");
    bench.clock.pass(20_000);
    const left = await tell(zone("raised"), mail("a@example.org"));
    assert.deepEqual([left.state, left.reason], ["queued", "waits: at most one in 4 minutes"]);
    bench.clock.pass(2 * minute);
    await limit(4);
    const back = await tell(zone("over"), mail("a@example.org"));
    assert.deepEqual([back.state, back.reason], ["suppressed", "daily e-mail limit reached"]);
    await limit(20);
    bench.pass(4 * minute);
    await replaced(left.id);
    assert.equal(peer.taken.length, 4);
  });

  it("are of one recipient, zone and channel, SMS too; sending by hand is past them", async () => {
    const both = await bench.commit([mail("a@example.org"), mail("b@example.org"), text], zone("raised"));
    for (const { state } of await bench.ended(both)) assert.equal(state, "sent");
    assert.equal((await tell(zone("raised", "Port"), mail("a@example.org"))).state, "sent");
    const second = await tell(zone("raised"), text);
    assert.deepEqual([second.state, second.reason], ["suppressed", "repeated: at most one in 2 minutes"]);
    assert.equal(gateway.submits.length, 1);
    const resent = await bench.store.notices.resend(second.key, bench.clock.now(), 5);
    assert.ok(typeof resent === "object");
    bench.wake();
    assert.equal((await bench.until(second.id, ({ finishedAt }) => finishedAt !== null)).state, "sent");
  });

  it("are kept for each alarm: nobody misses a crash because the vehicle was towed a minute before", async () => {
    const alarm = (name: string, code = {}) => ({ type: "alarm", facts: { alarm: name, ...code } }) as const;
    const others = ["7", "8"].map((code) => alarm("general", { code }));
    for (const facts of [alarm("tow"), alarm("crash"), ...others])
      assert.equal((await tell(facts, mail("a@example.org"))).state, "sent");
    assert.equal((await tell(alarm("crash"), mail("a@example.org"))).state, "suppressed");
  });

  it("are not for calls for help: an SOS that is pressed again after a minute is sent", async () => {
    for (let press = 0; press < 3; press++) {
      assert.equal((await tell({ type: "sos", facts: {} }, mail("a@example.org"))).state, "sent");
      assert.equal((await tell({ type: "alarm", facts: { alarm: "accident" } }, mail("a@example.org"))).state, "sent");
      bench.clock.pass(minute);
    }
  });

  it("count nothing: what waits holds no place of the day", async () => {
    await tell(zone("raised"), mail("a@example.org"));
    await tell(zone("over"), mail("a@example.org"));
    assert.equal((await tell(zone("raised"), mail("a@example.org"))).countedDay, null);
    const [day] = new Date(bench.clock.now()).toISOString().split("T");
    const days = [day, new Date(bench.clock.now() - 86_400_000).toISOString().split("T")[0]];
    const sent = await Promise.all(days.map((one) => bench.store.daily.sent(bench.device.key, one ?? "")));
    assert.equal(
      sent.reduce((sum, { email }) => sum + email, 0),
      2,
    );
  });

  it("leave a fifth of a day's places to critical alerts", async () => {
    const states: string[] = [];
    for (let index = 0; index < 10; index++) states.push((await tell(zone("raised", `Zone ${index}`), text)).state);
    assert.deepEqual(states, [...Array(8).fill("sent"), "suppressed", "suppressed"]);
    const last = await tell(zone("raised", "More"), text);
    assert.equal(last.reason, "daily SMS limit reached; the rest is kept for critical alerts");
    for (const name of ["A", "B"])
      assert.equal((await tell({ ...zone("raised", name), critical: true }, text)).state, "sent");
    const over = await tell({ ...zone("raised", "C"), critical: true }, text);
    assert.deepEqual([over.state, over.reason], ["suppressed", "daily SMS limit reached"]);
  });
});
