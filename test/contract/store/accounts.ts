import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { unsetCaps } from "../../../src/model/caps.ts";
import type { Store, UserFields } from "../../../src/ports/store.ts";
import { makeAccount, makeDevice, makeUser, now, unique, userFields } from "./harness.ts";

/** Accounts, users, counters and settings. */
export function accountContract(store: () => Store): void {
  describe("accounts and users", () => {
    it("keep accounts in the order of their making", async () => {
      const one = await makeAccount(store(), 7);
      const two = await makeAccount(store());
      assert.deepEqual(await store().accounts.find(one.key), one);
      assert.deepEqual(
        { ...one, key: 0, name: "" },
        {
          key: 0,
          id: one.id,
          name: "",
          timeZone: "America/Bogota",
          licenses: 7,
          language: "en",
          creation: now,
          caps: unsetCaps,
          positionDays: null,
        },
      );
      assert.deepEqual(await store().accounts.findById(one.id), one);
      assert.equal(await store().accounts.find(999_999_999), undefined);
      assert.equal(await store().accounts.findById("nobody's"), undefined);
      const keys = (await store().accounts.list()).map(({ key }) => key);
      assert.ok(keys.indexOf(one.key) < keys.indexOf(two.key) && keys.indexOf(one.key) >= 0);
    });

    it("replace what an operator sets of an account", async () => {
      const account = await makeAccount(store());
      const fields = { name: unique("Renamed "), timeZone: "Europe/Madrid", licenses: 0, language: "es" as const };
      assert.deepEqual(await store().accounts.replace(account.key, fields), { ...account, ...fields });
      assert.deepEqual(await store().accounts.find(account.key), { ...account, ...fields });
      assert.equal(await store().accounts.replace(999_999_999, fields), undefined);
      // Days that are not given stay.
      const kept = { ...account, ...fields, positionDays: 30 };
      assert.deepEqual(await store().accounts.replace(account.key, { ...fields, positionDays: 30 }), kept);
      assert.deepEqual(await store().accounts.replace(account.key, fields), kept);
      const forever = await store().accounts.replace(account.key, { ...fields, positionDays: null });
      assert.equal(forever?.positionDays, null);
    });

    it("make an account with its owner, or neither", async () => {
      const fields = () => ({
        id: unique("account-"),
        name: "New",
        timeZone: "Etc/UTC",
        licenses: 3,
        language: "es" as const,
      });
      const { accountKey: _, owner: __, ...person } = userFields(0);
      const [first, second] = await Promise.all(
        [fields(), fields()].map((account) => store().accounts.createWithOwner(account, person, now)),
      );
      const made = first === "emailInUse" ? second : first;
      assert.ok(made !== undefined && made !== "emailInUse");
      assert.ok([first, second].includes("emailInUse"), "one address makes one owner");
      assert.deepEqual(await store().accounts.find(made.account.key), made.account);
      assert.deepEqual(await store().users.list(made.account.key), [made.owner]);
      assert.equal(made.owner.owner, true);
      const refused = { ...fields(), name: unique("Refused ") };
      const again = { ...person, id: unique("user-"), email: person.email.toUpperCase() };
      assert.equal(await store().accounts.createWithOwner(refused, again, now), "emailInUse");
      assert.ok((await store().accounts.list()).every(({ name }) => name !== refused.name));
    });

    it("count the licences of every account at once", async () => {
      const one = await makeAccount(store());
      const none = await makeAccount(store());
      await makeDevice(store(), one.key, { expires: now + 1 });
      await makeDevice(store(), one.key);
      await makeDevice(store(), none.key, { expires: now });
      const used = await store().accounts.licensesUsedByAccount(now);
      assert.equal(used.get(one.key), 2);
      assert.equal(used.get(none.key), undefined);
    });

    it("make a setting once, whoever asks", async () => {
      const name = unique("setting-");
      assert.equal(await store().accounts.findSetting(name), undefined);
      const values = await Promise.all(["a", "b", "c"].map((value) => store().accounts.setting(name, () => value)));
      assert.equal(new Set(values).size, 1);
      assert.equal(await store().accounts.setting(name, () => "d"), values[0]);
      assert.equal(await store().accounts.findSetting(name), values[0]);
    });

    it("keep every field of a user", async () => {
      const account = await makeAccount(store());
      const fields = userFields(account.key, {
        owner: true,
        description: "é",
        message: "m",
        disabled: true,
        disabledMessage: "why",
        tags: { a: "b" },
        privileges: ["admin", "own words"],
        group: "g",
        deviceId: "d",
        adminDevices: 5,
        from: now - 1,
        expires: now + 1,
        passwordHash: "$argon2id$v=19$m=1,t=1,p=1$c2FsdA$aGFzaA",
        apiKeyHash: "00ff",
        apiKeyId: "k1",
      });
      const user = await store().users.create(fields, now);
      assert.ok(typeof user !== "string");
      assert.deepEqual(user, { ...fields, key: user.key, creation: now, modification: now, lastLogin: null });
      assert.deepEqual(await store().users.findByKey(user.key), user);
      assert.deepEqual(await store().users.find(user.id), user);
      assert.equal(await store().users.find("nobody"), undefined);
      assert.equal(await store().users.findByKey(999_999_999), undefined);
      await store().users.setLastLogin(user.key, now + 3);
      await store().users.setApiKey(user.key, { id: "k2", hash: "11" }, now + 4);
      assert.deepEqual(await store().users.findByKey(user.key), {
        ...user,
        apiKeyId: "k2",
        apiKeyHash: "11",
        lastLogin: now + 3,
        modification: now + 4,
      });
      await store().users.setApiKey(user.key, null, now + 5);
      const without = await store().users.findByKey(user.key);
      assert.equal(without?.apiKeyHash, null);
      assert.equal(without?.apiKeyId, null);
    });

    it("know e-mail addresses without regard to case, service-wide", async () => {
      const account = await makeAccount(store());
      const other = await makeAccount(store());
      const email = `${unique("José.Ñandú")}@Example.org`;
      const user = await store().users.create(userFields(account.key, { email }), now);
      assert.ok(typeof user !== "string");
      assert.equal(user.email, email);
      assert.deepEqual(await store().users.findByEmail(email.toUpperCase()), user);
      const again = userFields(other.key, { email: email.toLowerCase() });
      assert.equal(await store().users.create(again, now), "emailInUse");
      assert.equal(await store().users.findByEmail("nobody@example.org"), undefined);
    });

    it("replace users, and keep or set their passwords", async () => {
      const account = await makeAccount(store());
      const user = await makeUser(store(), account.key, {
        owner: true,
        passwordHash: "old",
        apiKeyId: "k",
        tags: { a: "b" },
      });
      const email = `${unique("new")}@example.org`;
      const fields: UserFields = {
        ...userFields(account.key, { email, name: "Neu", expires: 5 }),
        passwordHash: undefined,
      };
      const kept = { ...user, email, name: "Neu", expires: 5, tags: {}, modification: now + 1 };
      assert.deepEqual(await store().users.replace(user.key, fields, now + 1), kept);
      assert.deepEqual(await store().users.findByKey(user.key), kept);
      assert.deepEqual(await store().users.findByEmail(email), kept);
      assert.equal(await store().users.findByEmail(user.email), undefined);
      const given = await store().users.replace(user.key, { ...fields, passwordHash: "new" }, now + 2);
      assert.deepEqual(given, { ...kept, passwordHash: "new", modification: now + 2 });
      const taken = await store().users.replace(user.key, { ...fields, passwordHash: null }, now + 3);
      assert.deepEqual(taken, { ...kept, passwordHash: null, modification: now + 3 });
      assert.equal(await store().users.replace(999_999_999, fields, now), "missing");
    });

    it("replace no address by another user's", async () => {
      const one = await makeUser(store(), (await makeAccount(store())).key);
      const two = await makeUser(store(), (await makeAccount(store())).key);
      const fields = { ...userFields(0), passwordHash: undefined };
      const others = { ...fields, email: two.email.toUpperCase() };
      assert.equal(await store().users.replace(one.key, others, now), "emailInUse");
      assert.deepEqual(await store().users.findByKey(one.key), one);
      const own = await store().users.replace(one.key, { ...fields, email: one.email.toUpperCase() }, now);
      assert.ok(typeof own !== "string");
      assert.equal(own.email, one.email.toUpperCase());
    });

    it("remove users with their counters", async () => {
      const account = await makeAccount(store());
      const user = await makeUser(store(), account.key);
      const usage = [{ userKey: user.key, day: "2026-11-21", requests: 3 }];
      await store().users.addUsage(usage, []);
      assert.equal(await store().users.remove(user.key), true);
      assert.equal(await store().users.remove(user.key), false);
      // What was counted before the removal may come after it.
      await store().users.addUsage(usage, []);
      assert.deepEqual(await store().users.usage(user.key, "2026-11-21"), { total: 0, daily: 0 });
      assert.equal(await store().users.find(user.id), undefined);
      assert.equal(await store().users.findByEmail(user.email), undefined);
      assert.deepEqual(await store().users.list(account.key), []);
      const again = await makeUser(store(), account.key, { id: user.id, email: user.email });
      assert.notEqual(again.key, user.key);
    });

    it("list the users of an account in the order of their making", async () => {
      const account = await makeAccount(store());
      await store().users.create(userFields((await makeAccount(store())).key), now);
      const made = [];
      for (const name of ["z", "a", "m"]) made.push(await store().users.create(userFields(account.key, { name }), now));
      assert.deepEqual(await store().users.list(account.key), made);
    });

    it("put the requests of old days together: every sum stays, also of a day that comes late", async () => {
      const account = await makeAccount(store());
      const users = [1, 2, 3].map(() => userFields(account.key));
      const keys: number[] = [];
      for (const fields of users) {
        const user = await store().users.create(fields, now);
        assert.ok(typeof user !== "string");
        keys.push(user.key);
      }
      const [first = 0] = keys;
      const days = ["2026-11-18", "2026-11-19", "2026-11-20", "2026-11-21"];
      const add = (day: string, requests: number) =>
        store().users.addUsage(
          keys.map((userKey) => ({ userKey, day, requests })),
          [],
        );
      for (const [index, day] of days.entries()) await add(day, 10 ** index);
      const fold = async (before: string) => {
        let steps = 0;
        for (let after: number | undefined = first - 1; after !== undefined; steps++)
          after = await store().users.foldUsage(before, after, 2);
        return steps;
      };
      assert.equal(await fold("2026-11-20"), 2);
      for (const key of keys) {
        assert.deepEqual(await store().users.usage(key, "2026-11-21"), { total: 1111, daily: 1000 });
        assert.deepEqual(await store().users.usage(key, "2026-11-20"), { total: 1111, daily: 100 });
      }
      await add("2026-11-18", 5);
      for (const before of ["2026-11-20", "2026-11-20", "2026-11-22"]) await fold(before);
      for (const key of keys) assert.equal((await store().users.usage(key, "2026-11-22")).total, 1116);
    });

    it("sum requests and results", async () => {
      const account = await makeAccount(store());
      const user = await store().users.create(userFields(account.key), now);
      assert.ok(typeof user !== "string");
      const device = await makeDevice(store(), account.key);
      const usage = (day: string, requests: number) => ({ userKey: user.key, day, requests });
      const results = (day: string, count: number) => ({ device: device.key, day, results: count });
      await store().users.addUsage([], []);
      await store().users.addUsage([usage("2026-11-20", 3), usage("2026-11-21", 4)], [results("2026-11-20", 9)]);
      await store().users.addUsage([usage("2026-11-21", 1)], [results("2026-11-20", 1), results("2026-11-21", 5)]);
      assert.deepEqual(await store().users.usage(user.key, "2026-11-21"), { total: 8, daily: 5 });
      assert.deepEqual(await store().users.usage(user.key, "2026-11-22"), { total: 8, daily: 0 });
      assert.equal(await store().users.results(device.key, "2026-11-20"), 10);
      assert.equal(await store().users.results(device.key, "2026-11-21"), 5);
      assert.equal(await store().users.results(device.key, "2026-11-22"), 0);
      await store().devices.remove(device.key);
      await store().users.addUsage([], [results("2026-11-21", 5)]);
      assert.equal(await store().users.results(device.key, "2026-11-21"), 0);
    });
  });
}
