import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { Alert } from "../../src/model/alert.ts";
import type { MuteTarget, NewMute } from "../../src/model/mute.ts";
import type { NoticeTarget } from "../../src/model/notice.ts";
import { command, person } from "../contract/store/alert-values.ts";
import { OutboxBench } from "../support/outbox.ts";
import { SmtpPeer } from "../support/smtp-peer.ts";

const minute = 60_000;
const mail: NoticeTarget = { ...person, channel: "email", to: "a@example.org" };

describe("notices of muted devices and rules", () => {
  let peer: SmtpPeer;
  let bench: OutboxBench;
  beforeEach(async () => {
    peer = new SmtpPeer();
    await peer.listen();
    const commands = { run: async () => ({ outcome: "accepted" as const, peerId: "1" }) };
    bench = await OutboxBench.make({ mail: { port: peer.port }, commands, pauseMinutes: 2 });
    bench.outbox.start();
  });
  afterEach(async () => {
    await bench.close();
    await peer.close();
  });

  const mute = async (target: MuteTarget, minutes: number, changes: Partial<NewMute> = {}) => {
    const since = bench.clock.now();
    const { accountKey } = bench.device;
    const until = since + minutes * minute;
    const made = { accountKey, target, since, until, user: "ana@example.org", note: null, critical: false };
    await bench.store.mutes.set({ ...made, ...changes });
    return new Date(until).toISOString();
  };
  const tell = async (change: Partial<Alert> = {}, target: NoticeTarget = mail) => {
    const [id] = await bench.commit([target], change);
    const { state, reason } = await bench.until(
      id,
      (notice) => notice.state !== "sending" && (notice.state !== "queued" || notice.reason !== null),
    );
    return [state, reason];
  };
  const zone = (phase: Alert["phase"]) => ({ type: "allowedZone", phase, facts: { zone: "Depot" } }) as const;

  it("are suppressed until the mute ends, with the reason; commands go out", async () => {
    const until = await mute({ device: bench.device.key }, 10);
    assert.deepEqual(await tell(), ["suppressed", `the device is muted until ${until}, by ana@example.org`]);
    assert.deepEqual(await tell({}, command), ["sent", null]);
    bench.clock.pass(10 * minute);
    assert.deepEqual(await tell(), ["sent", null]);
    const later = await mute({ rule: bench.rule.id }, 10);
    assert.deepEqual(await tell(), ["suppressed", `the rule is muted until ${later}, by ana@example.org`]);
    await bench.store.mutes.remove({ rule: bench.rule.id });
    assert.equal(peer.taken.length, 1);
  });

  it("of critical alerts go out unless the mute includes them", async () => {
    await mute({ device: bench.device.key }, 10);
    assert.deepEqual(await tell({ critical: true }), ["sent", null]);
    const until = await mute({ rule: bench.rule.id }, 10, { critical: true });
    assert.deepEqual(await tell({ critical: true }), [
      "suppressed",
      `the rule is muted until ${until}, by ana@example.org`,
    ]);
  });

  it("that waited in the queue are suppressed too, and give back their places of the day", async () => {
    peer.mail = () => 451;
    const [id] = await bench.commit([mail]);
    const waiting = await bench.until(id, ({ state, attempts }) => state === "queued" && attempts === 1);
    assert.notEqual(waiting.countedDay, null);
    await mute({ device: bench.device.key }, 600);
    bench.pass(5 * minute);
    const ended = await bench.until(id, ({ finishedAt }) => finishedAt !== null);
    assert.deepEqual([ended.state, ended.countedDay], ["suppressed", null]);
  });

  it("let no older message go out that no longer tells the present state", async () => {
    assert.deepEqual(await tell(zone("raised")), ["sent", null]);
    assert.deepEqual(await tell(zone("over")), ["sent", null]);
    const [id] = await bench.commit([mail], zone("raised"));
    await bench.until(id, ({ reason }) => reason !== null);
    bench.clock.pass(1000);
    await mute({ device: bench.device.key }, 1);
    assert.equal((await tell(zone("over")))[0], "suppressed");
    bench.pass(2 * minute);
    const ended = await bench.until(id, ({ finishedAt }) => finishedAt !== null);
    assert.deepEqual(
      [ended.state, ended.reason],
      ["suppressed", "repeated: what came after it tells the present state"],
    );
    assert.equal(peer.taken.length, 2);
  });
});
