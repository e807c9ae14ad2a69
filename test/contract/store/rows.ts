import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Store } from "../../../src/ports/store.ts";
import { deviceFields, makeAccount, makeDevice, now, unique, userFields } from "./harness.ts";
import { append, batchOf, readAll, record } from "./records.ts";

/** Registered devices, their identifiers and licences. */
export function deviceContract(store: () => Store): void {
  describe("devices", () => {
    it("keep every field", async () => {
      const account = await makeAccount(store());
      const fields = deviceFields({
        aliases: [unique("alias-"), unique("alias-")],
        name: "Camión ☂ 'x' \"y\"",
        description: "",
        min: "+573001112233",
        tags: { color: "rojo", ["__proto__"]: "x" },
        expires: now + 1,
        odometerStart: 12_345.678,
      });
      const made = await store().devices.create(account.key, fields, now);
      assert.ok(typeof made !== "string");
      assert.deepEqual(made, { ...fields, key: made.key, accountKey: account.key, creation: now, modification: now });
      assert.deepEqual(await store().devices.find(fields.id), made);
      assert.equal(await store().devices.find(fields.aliases[0] ?? ""), undefined);
    });

    it("share no identifier, be it id or alias, in any account", async () => {
      const account = await makeAccount(store());
      const other = await makeAccount(store());
      const device = await makeDevice(store(), account.key, { aliases: [unique("alias-")] });
      const alias = device.aliases[0] ?? "";
      for (const fields of [{ id: device.id }, { id: alias }, { aliases: [device.id] }, { aliases: ["fresh", alias] }])
        assert.equal(await store().devices.create(other.key, deviceFields(fields), now), "exists");
      assert.equal(await store().devices.find("fresh"), undefined);
      const second = await makeDevice(store(), account.key);
      const taken = deviceFields({ id: second.id, aliases: [alias] });
      assert.equal(await store().devices.replace(second.key, taken, now), "exists");
      const both = await Promise.all(
        [0, 1].map(() => store().devices.create(account.key, deviceFields({ id: `${device.id}-twice` }), now)),
      );
      assert.equal(both.filter((answer) => answer === "exists").length, 1);
    });

    it("may name an identifier twice themselves", async () => {
      const account = await makeAccount(store());
      const id = unique("device-");
      const device = await makeDevice(store(), account.key, { id, aliases: [id] });
      assert.deepEqual(device.aliases, [id]);
    });

    it("are identified by the first identifier that matches", async () => {
      const account = await makeAccount(store());
      const one = await makeDevice(store(), account.key, { aliases: [unique("alias-")] });
      const two = await makeDevice(store(), account.key);
      const alias = one.aliases[0] ?? "";
      const identify = async (...ids: string[]) => (await store().devices.identify(ids))?.key;
      assert.equal(await identify("unknown", two.id, one.id), two.key);
      assert.equal(await identify(alias, two.id), one.key);
      assert.equal(await identify("unknown"), undefined);
      assert.equal(await identify(), undefined);
    });

    it("are listed by id, each account its own", async () => {
      const account = await makeAccount(store());
      const other = await makeAccount(store());
      assert.deepEqual(await store().devices.list(account.key), []);
      const ids = ["b", "a.1", "B", "a"].map((id) => unique(`${id}-`));
      for (const id of ids) await makeDevice(store(), account.key, { id });
      await makeDevice(store(), other.key);
      const listed = await store().devices.list(account.key);
      assert.deepEqual(
        listed.map(({ id }) => id),
        ids.toSorted(),
      );
    });

    it("are replaced with all their identifiers", async () => {
      const account = await makeAccount(store());
      const device = await makeDevice(store(), account.key, { aliases: [unique("alias-")] });
      const fields = deviceFields({ aliases: [device.id], name: "New" });
      const changed = await store().devices.replace(device.key, fields, now + 5);
      assert.deepEqual(changed, { ...device, ...fields, modification: now + 5 });
      assert.equal(await store().devices.identify([device.aliases[0] ?? ""]), undefined);
      assert.equal((await store().devices.identify([device.id]))?.key, device.key);
      assert.equal(await store().devices.replace(999_999_999, deviceFields(), now), "missing");
    });

    it("go with their history, and their keys never come back", async () => {
      const account = await makeAccount(store());
      const device = await makeDevice(store(), account.key, { aliases: [unique("alias-")] });
      await store().locations.commit({
        ...batchOf(append(device.key, 1, [record(1)])),
        refused: [{ device: device.key, receivedAt: now, time: 1, cause: "past", report: "{}" }],
      });
      assert.equal(await store().devices.remove(device.key), true);
      assert.equal(await store().devices.remove(device.key), false);
      assert.equal(await store().devices.find(device.id), undefined);
      assert.equal(await store().devices.identify([device.id, ...device.aliases]), undefined);
      assert.equal((await readAll(store(), device.key)).count, 0);
      assert.deepEqual(await store().locations.context(device.key, 0, 5), { from: [], more: false });
      assert.deepEqual(await store().locations.refused(device.key, 5), []);
      assert.equal((await store().locations.states([device.key]))[0]?.version, 0);
      const again = await makeDevice(store(), account.key, { id: device.id, aliases: device.aliases });
      assert.notEqual(again.key, device.key);
      assert.equal((await readAll(store(), again.key)).count, 0);
    });

    it("use a licence until they expire", async () => {
      const account = await makeAccount(store(), 2);
      const used = () => store().accounts.licensesUsed(account.key, now);
      await makeDevice(store(), account.key, { expires: now });
      assert.equal(await used(), 0);
      const lasting = await makeDevice(store(), account.key, { expires: now + 1 });
      await makeDevice(store(), account.key);
      assert.equal(await used(), 2);
      assert.equal(await store().accounts.licensesUsed(account.key, now + 1), 1);
      assert.equal(await store().devices.create(account.key, deviceFields(), now), "noLicense");
      const [expired] = (await store().devices.list(account.key)).filter(({ expires }) => expires === now);
      assert.ok(expired);
      assert.equal(await store().devices.replace(expired.key, { ...expired, expires: null }, now), "noLicense");
      assert.notEqual(await store().devices.replace(expired.key, { ...expired, name: "still" }, now), "noLicense");
      assert.notEqual(await store().devices.replace(lasting.key, { ...lasting, expires: null }, now), "noLicense");
      assert.ok(typeof (await store().devices.create(account.key, deviceFields(), now + 1)) === "string");
    });

    it("can't be made beyond the licences by many at once, nor in an account that is not there", async () => {
      const account = await makeAccount(store(), 3);
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => store().devices.create(account.key, deviceFields(), now)),
      );
      assert.equal(answers.filter((answer) => answer === "noLicense").length, 5);
      assert.equal(await store().devices.create(999_999_999, deviceFields(), now), "noLicense");
    });
  });
}

/** Accounts, users, counters and settings. */
export function accountContract(store: () => Store): void {
  describe("accounts and users", () => {
    it("keep accounts in the order of their making", async () => {
      const one = await makeAccount(store(), 7);
      const two = await makeAccount(store());
      assert.deepEqual(await store().accounts.find(one.key), one);
      assert.deepEqual(
        { ...one, key: 0, name: "" },
        { key: 0, id: one.id, name: "", timeZone: "America/Bogota", licenses: 7, creation: now },
      );
      assert.equal(await store().accounts.find(999_999_999), undefined);
      const keys = (await store().accounts.list()).map(({ key }) => key);
      assert.ok(keys.indexOf(one.key) < keys.indexOf(two.key) && keys.indexOf(one.key) >= 0);
    });

    it("make a setting once, whoever asks", async () => {
      const name = unique("setting-");
      const values = await Promise.all(["a", "b", "c"].map((value) => store().accounts.setting(name, () => value)));
      assert.equal(new Set(values).size, 1);
      assert.equal(await store().accounts.setting(name, () => "d"), values[0]);
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
        apiKeyHash: "00ff",
        apiKeyId: "k1",
      });
      const user = await store().users.create(fields, now);
      assert.ok(typeof user !== "string");
      assert.deepEqual(user, { ...fields, key: user.key, creation: now, modification: now, lastLogin: null });
      assert.deepEqual(await store().users.findByKey(user.key), user);
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

    it("list the users of an account in the order of their making", async () => {
      const account = await makeAccount(store());
      await store().users.create(userFields((await makeAccount(store())).key), now);
      const made = [];
      for (const name of ["z", "a", "m"]) made.push(await store().users.create(userFields(account.key, { name }), now));
      assert.deepEqual(await store().users.list(account.key), made);
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
    });
  });
}
