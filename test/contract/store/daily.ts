import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { DailyKind } from "../../../src/ports/daily.ts";
import type { Store } from "../../../src/ports/store.ts";
import { makeAccount, makeDevice, today } from "./harness.ts";

const someKind = fc.constantFrom<DailyKind>("sms", "email");
const someStep = fc.record({
  take: fc.boolean(),
  kind: someKind,
  day: fc.constantFrom("2026-11-20", today),
  limit: fc.integer({ min: -1, max: 4 }),
});

/** Counters of what is sent from devices. */
export function dailyContract(store: () => Store): void {
  describe("daily counters", () => {
    const took = async (key: number, day: string, kind: DailyKind, limit: number, count?: number) =>
      (await store().daily.take(key, day, kind, { device: limit, account: 1e9 }, count)) === "taken";
    const device = async () => (await makeDevice(store(), (await makeAccount(store())).key)).key;

    it("end at the limit, however many take at once", async () => {
      const key = await device();
      const take = (kind: DailyKind) => took(key, today, kind, 7);
      const taken = await Promise.all(Array.from({ length: 50 }, () => take("sms")));
      assert.equal(taken.filter(Boolean).length, 7);
      assert.deepEqual(await store().daily.sent(key, today), { sms: 7, email: 0 });
      await store().daily.giveBack(key, today, "sms");
      const again = await Promise.all(Array.from({ length: 50 }, (_, index) => take(index % 2 ? "sms" : "email")));
      assert.equal(again.filter(Boolean).length, 8);
      assert.deepEqual(await store().daily.sent(key, today), { sms: 7, email: 7 });
    });

    it("count each device, day and kind apart, and never below nothing", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(someStep, { maxLength: 25 }), async (steps) => {
          const key = await device();
          const other = await device();
          const counted = new Map<string, number>();
          for (const { take, kind, day, limit } of steps) {
            const count = counted.get(day + kind) ?? 0;
            if (take) {
              assert.equal(await took(key, day, kind, limit), count < limit);
              if (count < limit) counted.set(day + kind, count + 1);
            } else {
              await store().daily.giveBack(key, day, kind);
              counted.set(day + kind, Math.max(0, count - 1));
            }
          }
          for (const day of ["2026-11-20", today]) {
            const expected = { sms: counted.get(`${day}sms`) ?? 0, email: counted.get(`${day}email`) ?? 0 };
            assert.deepEqual(await store().daily.sent(key, day), expected);
            assert.deepEqual(await store().daily.sent(other, day), { sms: 0, email: 0 });
          }
        }),
        { numRuns: 25 },
      );
    });

    it("take and give back several at once, all or none", async () => {
      const key = await device();
      const sent = async () => (await store().daily.sent(key, today)).sms;
      assert.equal(await took(key, today, "sms", 2, 3), false);
      assert.equal(await took(key, today, "sms", 3, 3), true);
      assert.equal(await took(key, today, "sms", 5, 3), false);
      assert.equal(await took(key, today, "sms", 5, 2), true);
      assert.equal(await sent(), 5);
      await store().daily.giveBack(key, today, "sms", 4);
      assert.equal(await sent(), 1);
    });

    it("are kept for a day and the one before", async () => {
      const key = await device();
      for (const day of ["2026-11-01", "2026-11-20", today]) await took(key, day, "sms", 5);
      const sent = async (day: string) => (await store().daily.sent(key, day)).sms;
      assert.deepEqual([await sent("2026-11-01"), await sent("2026-11-20"), await sent(today)], [0, 1, 1]);
    });

    it("end at the limit of the account, however many of its devices take at once, and count what is gone", async () => {
      const account = await makeAccount(store());
      const keys = await Promise.all(
        Array.from({ length: 5 }, async () => (await makeDevice(store(), account.key)).key),
      );
      const other = await device();
      const limits = { device: 4, account: 7 };
      // For what comes after: which devices had the places is the engine's affair, and some may be at their own limit.
      const wide = { ...limits, device: 40 };
      const take = (key: number, count?: number) => store().daily.take(key, today, "sms", wide, count);
      const taken = await Promise.all(
        Array.from({ length: 40 }, (_, at) => store().daily.take(keys[at % 5] ?? 0, today, "sms", limits)),
      );
      assert.equal(taken.filter((each) => each === "taken").length, 7);
      assert.ok(taken.includes("account"));
      assert.deepEqual(await store().daily.sentOfAccount(account.key, today), { sms: 7, email: 0 });
      const sent = await Promise.all(keys.map(async (key) => (await store().daily.sent(key, today)).sms));
      assert.equal(
        sent.reduce((sum, each) => sum + each),
        7,
        "what the account may not send is not its device's",
      );
      // Four places at most for each of five devices: seven places are had by two devices at least.
      const [gone = 0, giving = 0] = keys.filter((_, at) => (sent[at] ?? 0) > 0);
      await store().devices.remove(gone);
      assert.equal(await take(giving), "account", "a device that is gone gives nothing back");
      await store().daily.giveBack(giving, today, "sms");
      assert.equal(await take(giving, 2), "account");
      assert.equal(await store().daily.takeOfAccount(account.key, today, "sms", 7), true);
      assert.equal(await store().daily.takeOfAccount(account.key, today, "sms", 7), false);
      assert.equal(await take(other), "taken");
    });

    it("go with their device", async () => {
      const key = await device();
      await took(key, today, "sms", 5);
      await store().devices.remove(key);
      assert.deepEqual(await store().daily.sent(key, today), { sms: 0, email: 0 });
      assert.equal(await took(key, today, "sms", 5), false);
      assert.deepEqual(await store().daily.sent(key, today), { sms: 0, email: 0 });
    });
  });
}
