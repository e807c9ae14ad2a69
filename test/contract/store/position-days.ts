import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RetainedDevice, Store } from "../../../src/ports/store.ts";
import { deviceFields, makeAccount, makeDevice, now } from "./harness.ts";

/** How long positions of devices are kept. */
export function positionDaysContract(store: () => Store): void {
  describe("position days", () => {
    it("are those of a device, or else those of its account", async () => {
      const [kept, forever] = [await makeAccount(store()), await makeAccount(store())];
      await store().accounts.replace(kept.key, { ...kept, positionDays: 30 });
      const [asAccount, own] = [
        await makeDevice(store(), kept.key),
        await makeDevice(store(), kept.key, { positionDays: 7 }),
      ];
      const [always, alone] = [
        await makeDevice(store(), forever.key),
        await makeDevice(store(), forever.key, { positionDays: 9 }),
      ];
      const found: RetainedDevice[] = [];
      for (let after = asAccount.key - 1; ; ) {
        const page = await store().devices.retained(after, 2);
        found.push(...page);
        const last = page.at(-1);
        if (last === undefined) break;
        after = last.key;
      }
      assert.deepEqual(found, [
        { key: asAccount.key, days: 30 },
        { key: own.key, days: 7 },
        { key: alone.key, days: 9 },
      ]);
      const days = await Promise.all([asAccount, own, always, alone].map(({ key }) => store().devices.daysOf(key)));
      assert.deepEqual(days, [30, 7, undefined, 9]);
      assert.equal(await store().devices.daysOf(alone.key + 1000), undefined);
      assert.deepEqual(await store().devices.withoutOwnDays(kept.key, 0, 10), [asAccount.key]);
      assert.deepEqual(await store().devices.withoutOwnDays(forever.key, 0, 10), [always.key]);
      assert.deepEqual(await store().devices.withoutOwnDays(forever.key, always.key, 10), []);
      const fields = deviceFields({ id: own.id, positionDays: null });
      const changed = await store().devices.replace(own.key, fields, now);
      assert.ok(typeof changed !== "string" && changed.positionDays === null);
      assert.deepEqual(await store().devices.withoutOwnDays(kept.key, 0, 1), [asAccount.key]);
    });
  });
}
