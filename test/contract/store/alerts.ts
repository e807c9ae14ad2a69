import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Alert } from "../../../src/model/alert.ts";
import type { AlertKey, AlertsWanted, StoredAlert } from "../../../src/ports/alert-store.ts";
import type { Store } from "../../../src/ports/store.ts";
import { commitAlerts, newAlert } from "./alert-values.ts";
import { makeAccount, makeDevice, now } from "./harness.ts";

const everything = { from: 0, to: 8e15, limit: 1000 };

/** As it is stored before anybody was told. */
function stored(alert: Alert, found: StoredAlert | undefined): StoredAlert {
  const state = alert.phase === "raised" ? "open" : "closed";
  const handling = { state, endedAt: null, acknowledged: null, closed: null } as const;
  return { ...alert, key: found?.key ?? 0, channels: [], handling };
}

/** Alerts: in the commits of their fixes, and read by time. */
export function alertContract(store: () => Store, reopen: () => Promise<void>): void {
  describe("alerts", () => {
    const device = async () => (await makeDevice(store(), (await makeAccount(store())).key)).key;

    it("keep every field, over a restart too", async () => {
      const key = await device();
      const plain = newAlert(key, 1);
      const full = newAlert(key, 2, {
        ruleKey: 2 ** 40,
        name: "Señora 'x'",
        type: "controlZone",
        phase: "over",
        latitude: null,
        longitude: null,
        speed: null,
        critical: true,
        late: true,
        facts: { zone: "☂", minutes: 1.25, arrived: false },
        text: "Left ☂\n",
      });
      await commitAlerts(store(), key, [plain, full]);
      await reopen();
      const found = await store().alerts.list(key, everything);
      assert.deepEqual(found, [stored(plain, found[0]), stored(full, found[1])]);
      assert.deepEqual(await store().alerts.find(full.id), found[1]);
      assert.equal(await store().alerts.find("nobody's"), undefined);
    });

    it("are read by time, then in the order of their commits, page by page", async () => {
      const [key, other] = [await device(), await device()];
      const some = fc.array(fc.record({ seconds: fc.integer({ min: 0, max: 9 }), named: fc.boolean() }), {
        minLength: 1,
        maxLength: 12,
      });
      const range = fc.record({ from: fc.integer({ min: 0, max: 9 }), to: fc.integer({ min: 0, max: 9 }) });
      const all: { readonly alert: Alert; readonly place: number }[] = [];
      await fc.assert(
        fc.asyncProperty(some, range, fc.integer({ min: 1, max: 5 }), async (wishes, { from, to }, limit) => {
          const alerts = wishes.map(({ seconds, named }) => newAlert(key, seconds, named ? { name: "Other" } : {}));
          await commitAlerts(store(), key, alerts);
          await commitAlerts(store(), other, [newAlert(other, from)]);
          for (const alert of alerts) all.push({ alert, place: all.length });
          const asked = { from: now + from * 1000, to: now + to * 1000, limit };
          for (const name of [undefined, "Other"]) {
            const expected = all
              .filter(({ alert: { time } }) => time >= asked.from && time <= asked.to)
              .filter(({ alert }) => name === undefined || alert.name === name)
              .sort((a, b) => a.alert.time - b.alert.time || a.place - b.place);
            const read: string[] = [];
            let after: AlertKey | undefined;
            for (;;) {
              const named = name === undefined ? {} : { name };
              const page = await store().alerts.list(key, { ...asked, ...named, ...(after && { after }) });
              assert.ok(page.length <= limit);
              for (const { id } of page) read.push(id);
              after = page.at(-1);
              if (after === undefined) break;
            }
            assert.deepEqual(
              read,
              expected.map(({ alert }) => alert.id),
            );
          }
        }),
        { numRuns: 15 },
      );
    });

    it("go with their device at once, however many", async () => {
      const key = await device();
      const alerts = Array.from({ length: 1100 }, (_, index) => newAlert(key, index));
      await commitAlerts(store(), key, alerts);
      await store().devices.remove(key);
      const gone = async () => {
        assert.deepEqual(await store().alerts.list(key, everything), []);
        assert.equal(await store().alerts.find(alerts[0]?.id ?? ""), undefined);
      };
      await gone();
      await reopen();
      await gone();
    });

    it("that are old are deleted, oldest first, some at a time", async () => {
      const key = await device();
      const ages = [5, 1, 4, 2, 3];
      await commitAlerts(
        store(),
        key,
        ages.map((age) => newAlert(key, age, { raisedAt: age })),
      );
      const left = async () => (await store().alerts.list(key, everything)).map(({ raisedAt }) => raisedAt);
      assert.equal(await store().alerts.prune(4, 2), 2);
      assert.deepEqual(await left(), [3, 4, 5]);
      assert.equal(await store().alerts.prune(4, 2), 1);
      assert.equal(await store().alerts.prune(4, 2), 0);
      assert.deepEqual(await left(), [4, 5]);
    });
  });
}

/** Alerts of a whole account. */
export function accountAlertContract(store: () => Store): void {
  describe("alerts of an account", () => {
    it("are found as they are wanted, in both orders, page by page", async () => {
      const { key: account } = await makeAccount(store());
      const devices = await Promise.all([1, 2, 3].map(async () => (await makeDevice(store(), account)).key));
      const stranger = (await makeDevice(store(), (await makeAccount(store())).key)).key;
      const all: Alert[] = [];
      const one = fc.record({
        device: fc.nat({ max: 2 }),
        seconds: fc.nat({ max: 9 }),
        ruleKey: fc.integer({ min: 70_001, max: 70_003 }),
        type: fc.constantFrom("sos", "speedOver", "idling"),
        critical: fc.boolean(),
        phase: fc.constantFrom("raised", "over"),
      });
      const wanted = fc.record(
        {
          from: fc.integer({ min: now, max: now + 9000 }),
          to: fc.integer({ min: now, max: now + 9000 }),
          ruleKey: fc.integer({ min: 70_001, max: 70_004 }),
          type: fc.constantFrom("sos", "speedOver", "route"),
          state: fc.constantFrom("open", "closed", "acknowledged"),
          critical: fc.boolean(),
        },
        { requiredKeys: [] },
      );
      const some = fc.option(fc.uniqueArray(fc.nat({ max: 2 })), { nil: undefined });
      await fc.assert(
        fc.asyncProperty(
          fc.array(one, { maxLength: 6 }),
          wanted,
          some,
          fc.integer({ min: 1, max: 4 }),
          async (made, ask, chosen, limit) => {
            for (const { device, seconds, phase, ...fields } of made) {
              const alert = newAlert(devices[device] ?? 0, seconds, { ...fields, phase });
              // Of the phase `over` and of another rule: nothing is ended by it.
              const raised = phase === "over" ? { ...alert, ruleKey: 70_009 } : alert;
              await commitAlerts(store(), alert.device, [raised]);
              await commitAlerts(store(), stranger, [newAlert(stranger, seconds)]);
              all.push(raised);
            }
            const keys = chosen?.map((index) => devices[index] ?? 0);
            for (const order of ["newest", "found"] as const) {
              const own = order === "newest" ? keys : undefined;
              const expected = all.filter((alert) => isWanted(alert, ask) && own?.includes(alert.device) !== false);
              const sorted = order === "found" ? expected : expected.toReversed().toSorted((a, b) => b.time - a.time);
              const read: string[] = [];
              for (let after: AlertKey | undefined; ; ) {
                const asked = { order, wanted: ask, limit, after, ...(own !== undefined && { devices: own }) };
                const { places, next } = await store().alerts.places(account, asked);
                assert.ok(places.length <= limit);
                const found = await store().alerts.read(
                  places.map(({ key }) => key),
                  1e6,
                );
                for (const { id } of found.rows) read.push(id);
                if (next === undefined) break;
                after = next;
              }
              assert.deepEqual(
                read,
                sorted.map(({ id }) => id),
              );
            }
          },
        ),
        { numRuns: 25 },
      );
    });

    it("end with what they tell, are acknowledged, and are closed, each once", async () => {
      const { key: account } = await makeAccount(store());
      const { key } = await makeDevice(store(), account);
      const rules = [81, 82, 83, 84].map((ruleKey) => newAlert(key, 5, { ruleKey, critical: ruleKey > 82 }));
      const newer = newAlert(key, 50, { ruleKey: 81 });
      await commitAlerts(store(), key, [...rules, newer]);
      const placed = await store().alerts.ofAccount(
        account,
        rules.map(({ id }) => id),
      );
      const keys = placed.map((alert) => alert.key);
      const act = { at: now, user: "ana@example.com", note: "mine" };
      await store().alerts.acknowledge([keys[1] ?? 0, keys[3] ?? 0], act);
      await store().alerts.acknowledge([keys[1] ?? 0], { ...act, note: "another" });
      const ended = [81, 82, 83, 84].map((ruleKey) => ({ ruleKey, time: now + 20_000, foundAt: now + 21_000 }));
      await commitAlerts(store(), key, [], [], [...ended, ...ended]);
      const standing = async (ids: readonly string[]) =>
        (await store().alerts.ofAccount(account, ids)).map(({ handling }) => handling);
      const [closed, acknowledged] = [{ at: now + 21_000, user: null, note: null }, act];
      const endedAt = now + 20_000;
      const ids = rules.map(({ id }) => id);
      assert.deepEqual(await standing(ids), [
        { state: "closed", endedAt, acknowledged: null, closed },
        { state: "closed", endedAt, acknowledged, closed },
        { state: "open", endedAt, acknowledged: null, closed: null },
        { state: "closed", endedAt, acknowledged, closed },
      ]);
      assert.equal((await standing([newer.id]))[0]?.state, "open");
      await store().alerts.acknowledge(keys, { ...act, at: now + 1 });
      const [, , third] = await standing(ids);
      assert.deepEqual(third?.closed, { at: now + 1, user: null, note: null });
      const newerKey = (await store().alerts.ofAccount(account, [newer.id]))[0]?.key ?? 0;
      await store().alerts.close([...keys, newerKey], { ...act, at: now + 2 });
      await store().alerts.close([newerKey], { ...act, at: now + 3 });
      assert.deepEqual((await standing([newer.id]))[0]?.closed, { ...act, at: now + 2 });
      assert.deepEqual((await standing(ids))[0]?.closed, closed);
      assert.deepEqual(await store().alerts.ofAccount(account + 1000, ids), []);
    });

    it("close when they are withdrawn, even critical ones, and no others close with them", async () => {
      const { key: account } = await makeAccount(store());
      const { key } = await makeDevice(store(), account);
      const raised = (age: number, critical = false) => newAlert(key, age, { ruleKey: 91, critical });
      const [before, gone, critical, ended] = [raised(5), raised(6), raised(6, true), raised(7, true)];
      await commitAlerts(store(), key, [before, gone, critical, ended]);
      const foundAt = now + 21_000;
      const end = { ruleKey: 91, time: now + 20_000, foundAt };
      const line = newAlert(key, 6, { ruleKey: 91, phase: "withdrawn" });
      const withdrawn = [gone, critical].map(({ id, time }) => ({ ruleKey: 91, time, foundAt, withdrawn: id }));
      await commitAlerts(store(), key, [line], [], withdrawn);
      const standing = async () => {
        const found = await store().alerts.ofAccount(
          account,
          [before, gone, critical, ended, line].map(({ id }) => id),
        );
        return found.map(({ handling }) => [handling.state, handling.endedAt, handling.closed?.at]);
      };
      assert.deepEqual(await standing(), [
        ["open", null, undefined],
        ["closed", null, foundAt],
        ["closed", null, foundAt],
        ["open", null, undefined],
        ["closed", null, undefined],
      ]);
      const gone2 = { ...end, time: ended.time, withdrawn: ended.id };
      await commitAlerts(store(), key, [], [], [end, gone2, gone2]);
      const last = await standing();
      assert.deepEqual(last[0], ["closed", end.time, foundAt]);
      assert.deepEqual([last[3]?.[0], last[3]?.[2]], ["closed", foundAt]);
      assert.deepEqual(last.slice(1, 3), [
        ["closed", null, foundAt],
        ["closed", null, foundAt],
      ]);
    });

    it("end at the first of the ends in one commit, whatever their order", async () => {
      const { key: account } = await makeAccount(store());
      const { key } = await makeDevice(store(), account);
      const [first, second] = [newAlert(key, 1), newAlert(key, 3)];
      const over = newAlert(key, 4, { phase: "over" });
      const end = (seconds: number) => ({ ruleKey: 1, time: now + seconds * 1000, foundAt: now + 9000 });
      await commitAlerts(store(), key, [first, second, over], [], [end(4), end(2)]);
      const found = await store().alerts.ofAccount(account, [first.id, second.id]);
      const ends = new Map(found.map(({ id, handling }) => [id, handling.endedAt]));
      assert.deepEqual([ends.get(first.id), ends.get(second.id)], [now + 2000, now + 4000]);
    });

    it("that nobody closed are closed some time later, but for critical ones", async () => {
      // Those of the tests before.
      await store().alerts.closeOld(4, 100_000, now);
      const { key: account } = await makeAccount(store());
      const { key } = await makeDevice(store(), account);
      const alerts = [1, 2, 3].map((age) => newAlert(key, age, { raisedAt: age, critical: age === 2 }));
      await commitAlerts(store(), key, alerts);
      assert.equal(await store().alerts.closeOld(3, 5, now), 1);
      assert.equal(await store().alerts.closeOld(4, 5, now), 1);
      assert.equal(await store().alerts.closeOld(4, 5, now), 0);
      const found = await store().alerts.ofAccount(
        account,
        alerts.map(({ id }) => id),
      );
      assert.deepEqual(
        found.map(({ handling }) => handling.state),
        ["closed", "open", "closed"],
      );
    });
  });
}

function isWanted(alert: Alert, { from, to, ruleKey, type, state, critical }: AlertsWanted): boolean {
  const own = alert.phase === "over" ? "closed" : "open";
  return (
    (from === undefined || alert.time >= from) &&
    (to === undefined || alert.time <= to) &&
    (ruleKey === undefined || alert.ruleKey === ruleKey) &&
    (type === undefined || alert.type === type) &&
    (state === undefined || own === state) &&
    (critical === undefined || alert.critical === critical)
  );
}
