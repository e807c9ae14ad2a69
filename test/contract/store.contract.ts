import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Store } from "../../src/ports/store.ts";
import { runs } from "../support/runs.ts";
import { accountContract } from "./store/accounts.ts";
import { accountAlertContract, alertCommitContract, alertContract } from "./store/alerts.ts";
import { asReadContract } from "./store/as-read.ts";
import { commandContract } from "./store/commands.ts";
import { dailyContract } from "./store/daily.ts";
import { groupContract } from "./store/groups.ts";
import { makeAccount, makeDevice, now, type StoreHarness, unique, userFields } from "./store/harness.ts";
import { listContract } from "./store/lists.ts";
import { commitContract, historyContract, removalContract } from "./store/locations.ts";
import { muteContract } from "./store/mutes.ts";
import { noticeContract } from "./store/notices.ts";
import { oldPositionContract, positionDaysContract } from "./store/old-positions.ts";
import { propertyContract } from "./store/property.ts";
import { append, batchOf, readAll, record } from "./store/records.ts";
import { deviceContract } from "./store/rows.ts";
import { ruleContract } from "./store/rules.ts";
import { shareContract } from "./store/shares.ts";
import { signInContract } from "./store/sign-ins.ts";

/** What of the contract is asked. */
export interface ContractOptions {
  /** Why it can't run here. */
  readonly skip?: string | false;
  /** How many random histories are tried. Each is read after some starts. Unset: 40, or fewer in `npm test`. */
  readonly histories?: number;
}

/**
 * Everything that the port promises, for any engine. `make` gives a place without data; its stores are opened one after the other.
 * What only one engine can be brought to (a full disk, a lost connection) is in that engine's own tests.
 */
export function storeContract(
  engine: string,
  make: () => Promise<StoreHarness>,
  { skip = false, histories = runs(40) }: ContractOptions = {},
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
    alertCommitContract(store, reopen);
    removalContract(store);
    commitContract(store);
    historyContract(store);
    oldPositionContract(store, reopen);
    propertyContract(store, reopen, histories);
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
      const commit = append(device.key, 1, [record(1), record(2)]);
      await store().locations.commit({ devices: [commit, append(gone.key, 1, [record(1)])], refused });
      await store().devices.remove(gone.key);
      const before = await readAll(store(), device.key);
      await reopen();
      await store().check();
      assert.deepEqual(await store().accounts.find(account.key), account);
      assert.deepEqual(await store().devices.list(account.key), [device]);
      assert.deepEqual(await store().users.findByEmail(user.email), user);
      assert.deepEqual(await store().users.usage(user.key, "2026-11-21"), { total: 2, daily: 2 });
      assert.equal(await store().accounts.setting(setting, () => "other"), "kept");
      assert.deepEqual(await store().locations.states([device.key]), [commit.state]);
      assert.deepEqual((await store().refused.page(device.key, 5)).reports, refused);
      assert.deepEqual(await readAll(store(), device.key), before);
      assert.equal((await readAll(store(), gone.key)).count, 0);
      assert.equal(await store().locations.commit(batchOf(append(device.key, 2, [record(3)]))), undefined);
      assert.equal((await readAll(store(), device.key)).count, 3);
    });
  });
}
