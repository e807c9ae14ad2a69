import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { NoticeTarget } from "../../src/model/notice.ts";
import { commitAlerts, email, newAlert, newNotice, ruleFields } from "../contract/store/alert-values.ts";
import { makeAccount, makeDevice, unique } from "../contract/store/harness.ts";
import { OutboxBench } from "../support/outbox.ts";
import { SmtpPeer } from "../support/smtp-peer.ts";

describe("the mails of one account", () => {
  let peer: SmtpPeer;
  let bench: OutboxBench;
  before(async () => {
    peer = new SmtpPeer();
    await peer.listen();
    peer.delayMs = () => 20;
    bench = await OutboxBench.make({ mail: { port: peer.port } }, { dailyEmailLimit: 10_000 });
  });
  after(async () => {
    await bench.close();
    await peer.close();
  });

  /** Notices of another account, which are due a moment later than all that were made before. */
  async function commitOfAnother(targets: readonly NoticeTarget[]): Promise<readonly string[]> {
    const { store, clock } = bench;
    const account = await makeAccount(store);
    await store.accounts.replace(account.key, { ...account, caps: { ...account.caps, unconfirmedRecipients: true } });
    const device = await makeDevice(store, account.key);
    const rule = await store.alertRules.create(account.key, 1, unique("rule-"), ruleFields(), 0);
    const now = clock.now();
    const names = { ruleKey: rule.key, ruleId: rule.id, name: rule.name };
    const alert = newAlert(device.key, 1, { ...names, time: now, raisedAt: now });
    const notices = targets.map((target) => newNotice(alert, { target, creation: now, dueAt: now }));
    await commitAlerts(store, device.key, [alert], notices);
    bench.wake();
    return notices.map(({ id }) => id);
  }

  it("leave the next connection to another account's, however many wait", async () => {
    await bench.commit(Array.from({ length: 2000 }, () => email));
    bench.outbox.start();
    await peer.until(() => peer.taken.length >= 30);
    const ids = new Set(await commitOfAnother([email, email, email]));
    const before = peer.taken.length;
    const sentOf = () => peer.taken.filter(({ id }) => ids.has(id)).length;
    await peer.until(() => sentOf() === 3 || peer.taken.length >= before + 1000);
    assert.equal(sentOf(), 3);
    const last = peer.taken.findLastIndex(({ id }) => ids.has(id));
    assert.ok(last - before < 100, `${last - before} were sent before`);
    assert.ok(peer.mostOpen <= 5);
  });
});
