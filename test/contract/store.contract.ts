import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Store } from "../../src/ports/store.ts";
import { readAll, said } from "./positions/said.ts";
import { accountContract } from "./store/accounts.ts";
import { accountAlertContract, alertContract } from "./store/alerts.ts";
import { asReadContract } from "./store/as-read.ts";
import { commandContract } from "./store/commands.ts";
import { dailyContract } from "./store/daily.ts";
import { followContract } from "./store/follow.ts";
import { day, emptyHead } from "./store/followed.ts";
import { groupContract } from "./store/groups.ts";
import { makeAccount, makeDevice, now, type StoreHarness, unique, userFields } from "./store/harness.ts";
import { listContract } from "./store/lists.ts";
import { muteContract } from "./store/mutes.ts";
import { noticeContract } from "./store/notices.ts";
import { positionDaysContract } from "./store/position-days.ts";
import { refusedContract } from "./store/refused.ts";
import { removalContract } from "./store/removal.ts";
import { deviceContract } from "./store/rows.ts";
import { ruleContract } from "./store/rules.ts";
import { shareContract } from "./store/shares.ts";
import { signInContract } from "./store/sign-ins.ts";

/**
 * Everything that the port promises, for any engine. `make` gives a place without data; its stores are opened one after
 * the other. What only one engine can be brought to (a full disk, a lost connection) is in that engine's own tests.
 */
export function storeContract(
  engine: string,
  make: () => Promise<StoreHarness>,
  { skip = false }: { readonly skip?: string | false } = {},
): void {
  describe(`store contract: ${engine}`, { skip }, () => {
    let harness: StoreHarness | undefined;
    let opened: Store | undefined;
    const store = (): Store => {
      assert.ok(opened, "the store is open");
      return opened;
    };
    const reopen = async (): Promise<void> => {
      await opened?.close();
      opened = await harness?.open();
    };
    before(async () => {
      harness = await make();
      opened = await harness.open();
    });
    after(async () => {
      await opened?.close();
      await harness?.dispose();
    });

    accountContract(store);
    deviceContract(store);
    groupContract(store);
    asReadContract(store);
    listContract(store);
    commandContract(store, reopen);
    dailyContract(store);
    ruleContract(store, reopen);
    alertContract(store, reopen);
    accountAlertContract(store);
    noticeContract(store, reopen);
    muteContract(store, reopen);
    signInContract(store, reopen);
    shareContract(store, reopen);
    positionDaysContract(store);
    followContract(store, reopen);
    refusedContract(store);
    removalContract(store, reopen);
    restartContract(store, reopen);
  });
}

function restartContract(store: () => Store, reopen: () => Promise<void>): void {
  describe("a restart", () => {
    it("finds everything again", async () => {
      const account = await makeAccount(store());
      const device = await makeDevice(store(), account.key, { aliases: [unique("alias-")] });
      const gone = await makeDevice(store(), account.key);
      const user = await store().users.create(userFields(account.key), now);
      assert.ok(typeof user !== "string");
      const setting = unique("setting-");
      await store().accounts.setting(setting, () => "kept");
      await store().users.addUsage([{ userKey: user.key, day: "2026-11-21", requests: 2 }], []);
      const refused = [{ device: device.key, receivedAt: now, time: 1, cause: "future" as const, report: "{}" }];
      await store().refused.add(refused);
      const records = [said(1), said(2)];
      await store().positions.append([device, gone].map(({ key }) => ({ device: key, records })));
      const head = { ...emptyHead, newest: said(2), rules: "on" };
      await store().follow.commit([device, gone].map(({ key }) => ({ device: key, head, days: [day(1, 5)] })));
      await store().devices.remove(gone.key);
      await reopen();
      await store().check();
      assert.deepEqual(await store().accounts.find(account.key), account);
      assert.deepEqual(await store().devices.list(account.key), [device]);
      assert.deepEqual(await store().users.findByEmail(user.email), user);
      assert.deepEqual(await store().users.usage(user.key, "2026-11-21"), { total: 2, daily: 2 });
      assert.equal(await store().accounts.setting(setting, () => "other"), "kept");
      assert.deepEqual(await store().follow.heads([device.key, gone.key]), [head, undefined]);
      assert.deepEqual(await store().follow.days(device.key, { order: "first", limit: 5 }), [day(1, 5)]);
      assert.deepEqual((await store().refused.page(device.key, 5)).reports, refused);
      assert.deepEqual((await readAll(store().positions, device.key)).records, records);
      await store().positions.append([{ device: device.key, records: [said(3)] }]);
      assert.equal((await readAll(store().positions, device.key)).records.length, 3);
    });
  });
}
