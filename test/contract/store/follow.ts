import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { DeviceKey } from "../../../src/model/device.ts";
import type { Day, DeviceHead } from "../../../src/model/follow.ts";
import type { TotalsSums } from "../../../src/model/location.ts";
import type { FollowCommit } from "../../../src/ports/follow.ts";
import type { Store } from "../../../src/ports/store.ts";
import { runs } from "../../support/runs.ts";
import { newAlert, newNotice } from "./alert-values.ts";
import { day, emptyHead, firstDay, someDay, someHead } from "./followed.ts";
import { makeAccount, makeDevice } from "./harness.ts";

const everything = { from: 0, to: 8e15, limit: 1000 };
const dayMs = 86_400_000;

const commitOf = (device: DeviceKey, days: readonly Day[] = [], head: DeviceHead = emptyHead): FollowCommit => ({
  device,
  head,
  days,
});

const sums = (odometerMm: number): TotalsSums => ({
  odometerMm,
  sensorMs: [odometerMm * 2, 0, 0, odometerMm * 5],
});

/** What follows from positions: heads, days, and what rules found. */
export function followContract(store: () => Store, reopen: () => Promise<void>): void {
  const device = async () => (await makeDevice(store(), (await makeAccount(store())).key)).key;

  describe("heads of devices", () => {
    it("come in the order asked, and none of a device that was never followed", async () => {
      const [one, other] = [await device(), await device()];
      const head = { ...emptyHead, rules: "one" };
      await store().follow.commit([commitOf(one, [], head)]);
      assert.deepEqual(await store().follow.heads([other, one, 999_999_999, one]), [undefined, head, undefined, head]);
      assert.deepEqual(await store().follow.heads([]), []);
    });

    it("tell which devices have late days, some at a time", async () => {
      const keys = [await device(), await device(), await device(), await device()];
      const before = Math.min(...keys) - 1;
      const late = (from: number) => [
        { day: firstDay, from, to: from },
        { day: firstDay + 2, from, to: from },
      ];
      const commits = keys.map((key, at) => commitOf(key, [], { ...emptyHead, late: at === 1 ? [] : late(at) }));
      await store().follow.commit(commits);
      const [one, , other, last] = keys;
      assert.deepEqual(await store().follow.lateDevices(before, 2), [one, other]);
      assert.deepEqual(await store().follow.lateDevices(other ?? 0, 2), [last]);
      await store().follow.commit(keys.map((key) => commitOf(key)));
      assert.deepEqual(await store().follow.lateDevices(before, 2), []);
    });

    it("are what was committed last, over a restart too, with all of their days", async () => {
      const account = await makeAccount(store(), 1_000_000);
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(someHead, fc.array(someDay, { maxLength: 5 })), { minLength: 1, maxLength: 4 }),
          async (commits) => {
            const { key } = await makeDevice(store(), account.key);
            const days = new Map<number, Day>();
            for (const [head, own] of commits) {
              const different = [...new Map(own.map((one) => [one.day, one])).values()];
              for (const one of different) days.set(one.day, one);
              await store().follow.commit([commitOf(key, different, head)]);
            }
            await reopen();
            assert.deepEqual(await store().follow.heads([key]), [commits.at(-1)?.[0]]);
            const sorted = [...days.values()].toSorted((a, b) => a.day - b.day);
            assert.deepEqual(await store().follow.days(key, { order: "first", limit: 100 }), sorted);
          },
        ),
        { numRuns: runs(30) },
      );
    });

    it("of many devices are committed together; devices that are gone are left out", async () => {
      const account = await makeAccount(store());
      const keys: number[] = [];
      for (let made = 0; made < 130; made++) keys.push((await makeDevice(store(), account.key)).key);
      const [gone = 0] = keys;
      await store().follow.commit([commitOf(gone, [day(0, 1)])]);
      await store().devices.remove(gone);
      const alert = newAlert(gone, 1);
      const commits = keys.map((key) => commitOf(key, [day(1, key)], { ...emptyHead, rules: `of ${key}` }));
      const notices = [newNotice(alert)];
      const ended = [{ ruleKey: 1, time: 1, foundAt: 1 }];
      await store().follow.commit(
        commits.map((one) => (one.device === gone ? { ...one, alerts: [alert], notices, ended } : one)),
      );
      const heads = await store().follow.heads(keys);
      assert.deepEqual(
        heads.map((head) => head?.rules),
        keys.map((key) => (key === gone ? undefined : `of ${key}`)),
      );
      assert.deepEqual(await store().follow.days(keys[129] ?? 0, { order: "last", limit: 1 }), [
        day(1, keys[129] ?? 0),
      ]);
      assert.equal(await store().alerts.find(alert.id), undefined);
      assert.equal(await store().notices.find(gone, notices[0]?.id ?? ""), undefined);
      assert.deepEqual((await store().follow.sumsBefore(gone, firstDay + 5)).odometerMm <= 1, true);
    });
  });

  describe("days", () => {
    it("are read from either end, some at a time, and one that is folded again takes the place of what was", async () => {
      const key = await device();
      await store().follow.commit([commitOf(key, [day(3, 30), day(1, 10), day(7, 70)])]);
      await store().follow.commit([commitOf(key, [day(3, 33), day(5, 50)])]);
      const read = async (ask: Parameters<Store["follow"]["days"]>[1]) =>
        (await store().follow.days(key, ask)).map((one) => [one.day - firstDay, one.end.totals.odometerMm]);
      assert.deepEqual(await read({ order: "first", limit: 3 }), [
        [1, 10],
        [3, 33],
        [5, 50],
      ]);
      assert.deepEqual(await read({ order: "last", limit: 2 }), [
        [7, 70],
        [5, 50],
      ]);
      const [from, to] = [firstDay + 3, firstDay + 5];
      assert.deepEqual(await read({ from, to, order: "last", limit: 9 }), [
        [5, 50],
        [3, 33],
      ]);
      assert.deepEqual(await read({ from: to + 1, order: "first", limit: 9 }), [[7, 70]]);
      assert.deepEqual(await read({ to: from - 3, order: "last", limit: 9 }), []);
      assert.deepEqual(await read({ order: "last", limit: 0 }), []);
    });

    it("add up, and their sums stay when they are deleted", async () => {
      const [key, other] = [await device(), await device()];
      const days = [1, 2, 3, 4].map((behind) => day(behind, 10 ** behind));
      await store().follow.commit([commitOf(key, days), commitOf(other, [day(2, 7)])]);
      const upTo = (behind: number) => store().follow.sumsBefore(key, firstDay + behind);
      assert.deepEqual(await upTo(1), sums(0));
      assert.deepEqual(await upTo(3), sums(110));
      assert.deepEqual(await upTo(9), sums(11_110));
      const [before] = await store().follow.daysBefore([key], firstDay + 3);
      assert.deepEqual(before, {
        records: 6,
        from: (firstDay + 1) * dayMs,
        to: (firstDay + 2) * dayMs + 3_600_000,
      });
      await store().follow.forgetDays(key, firstDay + 3);
      await store().follow.forgetDays(key, firstDay + 3);
      await store().follow.commit([commitOf(key, [day(3, 1)])]);
      await reopen();
      assert.deepEqual(await store().follow.days(key, { order: "first", limit: 9 }), [day(3, 1), day(4, 10_000)]);
      assert.deepEqual(await upTo(3), sums(110));
      assert.deepEqual(await upTo(9), sums(10_111));
      assert.deepEqual(await store().follow.daysBefore([other, key, 999_999_999], firstDay + 4), [
        { records: 3, from: (firstDay + 2) * dayMs, to: (firstDay + 2) * dayMs + 3_600_000 },
        { records: 3, from: (firstDay + 3) * dayMs, to: (firstDay + 3) * dayMs + 3_600_000 },
        { records: 0, from: 0, to: 0 },
      ]);
      assert.deepEqual(await store().follow.sumsBefore(other, firstDay + 9), sums(7));
      assert.deepEqual(await store().follow.heads([key]), [emptyHead]);
    });
  });

  describe("what rules found", () => {
    it("is written with the head, and once where the same commit comes again, as its answer was lost", async () => {
      const key = await device();
      const alert = newAlert(key, 1);
      const notice = newNotice(alert);
      const commit = { ...commitOf(key, [day(0, 1)]), alerts: [alert], notices: [notice] };
      await store().follow.commit([commit]);
      await store().follow.commit([commit]);
      const later = newAlert(key, 2);
      await store().follow.commit([{ ...commit, alerts: [alert, later], notices: [notice, newNotice(later)] }]);
      const found = await store().alerts.list(key, everything);
      assert.deepEqual(
        found.map(({ id }) => id),
        [alert.id, later.id],
      );
      assert.equal((await store().notices.list(key, { limit: 5 })).length, 2);
    });

    it("is left out with its notices where the same stands already; another subject of the same moment is not", async () => {
      const key = await device();
      const of = (zone: string) => newAlert(key, 1, { type: "controlZone", facts: { zone, value: zone.length } });
      const [one, again, other] = [of("north"), of("north"), of("south")];
      await store().follow.commit([{ ...commitOf(key), alerts: [one], notices: [newNotice(one)] }]);
      const over = newAlert(key, 1, { ...one, id: other.id.concat(" over"), phase: "over" });
      const alerts = [again, other, over, newAlert(key, 2, { facts: one.facts }), { ...one, id: "", ruleKey: 2 }];
      await store().follow.commit([
        { ...commitOf(key), alerts, notices: [again, other].map((alert) => newNotice(alert)) },
      ]);
      const found = new Set((await store().alerts.list(key, everything)).map(({ id }) => id));
      assert.deepEqual(
        [one, ...alerts].map(({ id }) => found.has(id)),
        [true, false, true, true, true, true],
      );
      const told = (await store().notices.list(key, { limit: 9 })).map(({ alertId }) => alertId);
      assert.deepEqual(told, [other.id, one.id]);
    });

    it("can be raised again at the moment at which it was withdrawn, as often as that happens", async () => {
      const key = await device();
      const ids: string[] = [];
      const facts = { value: 92 };
      for (let time = 0; time < 3; time++) {
        const raised = newAlert(key, 1, { facts });
        const line = newAlert(key, 1, { facts, phase: "withdrawn" });
        const ended = [{ ruleKey: 1, time: raised.time, foundAt: raised.raisedAt, withdrawn: raised.id }];
        await store().follow.commit([{ ...commitOf(key), alerts: [raised] }]);
        await store().follow.commit([{ ...commitOf(key), alerts: [line], ended }]);
        ids.push(raised.id, line.id);
      }
      const last = newAlert(key, 1, { facts });
      await store().follow.commit([{ ...commitOf(key), alerts: [last] }]);
      const found = await store().alerts.list(key, everything);
      assert.deepEqual(
        found.map(({ id }) => id),
        [...ids, last.id],
      );
      assert.deepEqual(
        found.map(({ handling }) => handling.state),
        [...ids.map(() => "closed"), "open"],
      );
    });

    it("is written with its head and its days, or nothing is", async () => {
      const key = await device();
      const broken = { ...newAlert(key, 1), time: Number.NaN };
      const commit = {
        ...commitOf(key, [day(1, 5)], { ...emptyHead, rules: "new" }),
        alerts: [newAlert(key, 2), broken],
      };
      await assert.rejects(store().follow.commit([commit]));
      assert.deepEqual(await store().follow.heads([key]), [undefined]);
      assert.deepEqual(await store().follow.days(key, { order: "first", limit: 9 }), []);
      assert.deepEqual(await store().alerts.list(key, everything), []);
    });
  });
}
