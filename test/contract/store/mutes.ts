import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { MuteTarget, NewMute } from "../../../src/model/mute.ts";
import type { Store } from "../../../src/ports/store.ts";
import { ruleFields } from "./alert-values.ts";
import { makeAccount, makeDevice, now, unique } from "./harness.ts";

const hour = 3_600_000;

/** Mutes of devices and rules. */
export function muteContract(store: () => Store, reopen: () => Promise<void>): void {
  describe("mutes", () => {
    const world = async () => {
      const { key } = await makeAccount(store());
      const { key: device } = await makeDevice(store(), key);
      const rule = await store().alertRules.create(key, 5, unique("rule-"), ruleFields(), now);
      return { account: key, device: { device }, rule: { rule: rule.id }, ruleKey: rule.key };
    };
    const mute = (accountKey: number, target: MuteTarget, changes: Partial<NewMute> = {}): NewMute => ({
      ...{ accountKey, target, since: now, until: now + hour, user: "ana@example.org", note: null, critical: false },
      ...changes,
    });
    const some = async (...targets: readonly MuteTarget[]) =>
      (await store().mutes.some(targets)).map(({ key: _key, ...rest }) => rest);

    it("keep every field, even over a restart; a second mute of a target replaces the first", async () => {
      const { account, device, rule } = await world();
      const other = await world();
      const full = mute(account, device, { note: "in the workshop ñ", critical: true });
      await store().mutes.set(full);
      await store().mutes.set(mute(account, rule));
      await reopen();
      assert.deepEqual(await some(device, rule, other.device, other.rule), [full, mute(account, rule)]);
      const longer = mute(account, device, { since: now + 1, until: now + 2 * hour, user: "eva@example.org" });
      await store().mutes.set(longer);
      assert.deepEqual(await some(device), [longer]);
      await store().mutes.remove(device);
      await store().mutes.remove(device);
      assert.deepEqual(await some(device, rule), [mute(account, rule)]);
      assert.deepEqual(await some(), []);
    });

    it("are listed by account until they end, in pages", async () => {
      const { account, device, rule } = await world();
      const more = { device: (await makeDevice(store(), account)).key };
      const other = await world();
      for (const each of [
        mute(account, device),
        mute(account, more, { until: now }),
        mute(account, rule, { until: now + 1 }),
        mute(other.account, other.device),
      ])
        await store().mutes.set(each);
      const page = await store().mutes.page(account, now, { limit: 1, bytes: 1_000_000 });
      assert.deepEqual([page.rows.map(({ target }) => target), page.more], [[device], true]);
      const after = page.rows[0]?.key ?? 0;
      const rest = await store().mutes.page(account, now, { limit: 5, bytes: 1_000_000, after });
      assert.deepEqual([rest.rows.map(({ target }) => target), rest.more], [[rule], false]);
    });

    it("are deleted with their device or rule, and some time after their end", async () => {
      const { account, device, rule, ruleKey } = await world();
      const second = await world();
      for (const each of [mute(account, device), mute(account, rule), mute(second.account, second.rule)])
        await store().mutes.set(each);
      await store().devices.remove(device.device);
      await store().alertRules.remove(ruleKey);
      await store().alertRules.exchange(second.account, 5, { remove: [second.ruleKey], replace: [], create: [] }, now);
      assert.deepEqual(await some(device, rule, second.rule), []);
      const third = await world();
      await store().mutes.set(mute(third.account, third.device, { until: 1000 }));
      await store().mutes.set(mute(third.account, third.rule, { until: 2000 }));
      assert.equal(await store().mutes.prune(1001, 10), 1);
      assert.equal(await store().mutes.prune(1001, 10), 0);
      assert.deepEqual(await some(third.device, third.rule), [mute(third.account, third.rule, { until: 2000 })]);
    });
  });
}
