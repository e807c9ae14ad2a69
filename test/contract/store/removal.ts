import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { DeviceKey } from "../../../src/model/device.ts";
import type { Store } from "../../../src/ports/store.ts";
import { readAll, said } from "../positions/said.ts";
import { commitAlerts, newAlert, newNotice } from "./alert-values.ts";
import { day, emptyHead } from "./followed.ts";
import { makeAccount, makeCommand, makeDevice, now, unique } from "./harness.ts";

/** What of a device goes with it. */
export function removalContract(store: () => Store, reopen: () => Promise<void>): void {
  const fill = async (key: DeviceKey) => {
    await store().positions.append([{ device: key, records: [said(1), said(2)] }]);
    await store().follow.commit([
      { device: key, head: { ...emptyHead, newest: said(2) }, days: [day(0, 7), day(1, 8)] },
    ]);
    await store().refused.add([{ device: key, receivedAt: now, time: 1, cause: "past", report: "{}" }]);
    const alert = newAlert(key, 1);
    await commitAlerts(store(), key, [alert], [newNotice(alert)]);
    await makeCommand(store(), key);
  };

  /** In the background, soon after the removal. */
  const gone = async (key: DeviceKey) => {
    const isGone = async () =>
      (await readAll(store().positions, key)).records.length === 0 &&
      (await store().follow.days(key, { order: "first", limit: 5 })).length === 0;
    while (!(await isGone())) await sleep(10);
  };

  describe("removed devices", () => {
    it("go with all that they have, and their keys never come back", async () => {
      const account = await makeAccount(store());
      const device = await makeDevice(store(), account.key, { aliases: [unique("alias-")] });
      const other = await makeDevice(store(), account.key);
      await fill(device.key);
      await fill(other.key);
      assert.equal(await store().devices.remove(device.key), true);
      assert.equal(await store().devices.remove(device.key), false);
      assert.equal(await store().devices.find(device.id), undefined);
      assert.equal(await store().devices.identify([device.id, ...device.aliases]), undefined);
      assert.deepEqual((await store().refused.page(device.key, 5)).reports, []);
      assert.deepEqual(await store().follow.heads([device.key]), [undefined]);
      assert.deepEqual(await store().alerts.list(device.key, { from: 0, to: 8e15, limit: 5 }), []);
      const again = await makeDevice(store(), account.key, { id: device.id, aliases: device.aliases });
      assert.notEqual(again.key, device.key);
      await gone(device.key);
      assert.deepEqual((await readAll(store().positions, again.key)).records, []);
      assert.equal((await readAll(store().positions, other.key)).records.length, 2);
      assert.equal((await store().follow.days(other.key, { order: "first", limit: 5 })).length, 2);
    });

    it("go on going after a start, and what comes of them later goes too", async () => {
      const account = await makeAccount(store());
      const devices = [];
      for (let made = 0; made < 10; made++) devices.push(await makeDevice(store(), account.key));
      for (const { key } of devices) await fill(key);
      await Promise.all(devices.map(({ key }) => store().devices.remove(key)));
      await reopen();
      for (const { key } of devices) await gone(key);
      const [first] = devices;
      assert.ok(first);
      await store().positions.append([{ device: first.key, records: [said(3)] }]);
      assert.deepEqual((await readAll(store().positions, first.key)).records, []);
    });
  });
}
