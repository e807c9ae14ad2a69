import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Device } from "../../../src/model/device.ts";
import { ChangedSince, type Store } from "../../../src/ports/store.ts";
import { person, ruleFields, target } from "./alert-values.ts";
import { deviceFields, makeAccount, makeCommand, makeDevice, makeMany, makeUser, now, unique } from "./harness.ts";

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
        identity: { protocols: ["osmand"], networks: ["10.0.0.0/8", "::1"], secretHash: "salt.hash" },
        positionDays: 365,
      });
      const made = await store().devices.create(account.key, fields, now);
      assert.ok(typeof made !== "string");
      assert.deepEqual(made, {
        ...fields,
        key: made.key,
        accountKey: account.key,
        spoken: [],
        creation: now,
        modification: now,
      });
      assert.deepEqual(await store().devices.find(fields.id), made);
      assert.equal(await store().devices.find(fields.aliases[0] ?? ""), undefined);
    });

    it("keep how they spoke, each way once, in the order of their first reports", async () => {
      const account = await makeAccount(store());
      const [one, two] = [await makeDevice(store(), account.key), await makeDevice(store(), account.key)];
      const networks = [{ network: "192.0.0.0/16", since: now }];
      const tcp = {
        protocol: "gt06",
        transport: "tcp",
        since: now,
        address: "192.0.2.1",
        trustedAt: now,
        networks,
      } as const;
      const udp = { ...tcp, transport: "udp", trustedAt: null } as const;
      const gone = await makeDevice(store(), account.key);
      await store().devices.remove(gone.key);
      await store().devices.spoke([
        { device: one.key, way: tcp },
        { device: gone.key, way: tcp },
        { device: two.key, way: udp },
        { device: one.key, way: udp },
      ]);
      await store().devices.spoke([{ device: one.key, way: { ...tcp, trustedAt: now + 1 } }]);
      assert.deepEqual((await store().devices.find(one.id))?.spoken, [{ ...tcp, trustedAt: now + 1 }, udp]);
      // A change of the device's fields leaves it.
      const changed = await store().devices.replace(two.key, deviceFields({ id: two.id, name: "other" }), now);
      assert.ok(typeof changed !== "string");
      assert.deepEqual(changed.spoken, [udp]);
      const identified = await store().devices.identify([two.id]);
      assert.deepEqual(identified?.spoken, [udp]);
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

    it("are identified by the thousand at once, strangers among them", async () => {
      const account = await makeAccount(store());
      const devices: Device[] = [];
      for (let index = 0; index < 20; index++)
        devices.push(await makeDevice(store(), account.key, { aliases: [unique("alias-")] }));
      const lists = Array.from({ length: 1000 }, (_, index) => {
        const { id = "", aliases } = devices[index % devices.length] ?? {};
        return [["stranger", id], [aliases?.[0] ?? "", "stranger"], [`stranger-${index}`]][index % 3] ?? [];
      });
      const found = await Promise.all(lists.map((ids) => store().devices.identify(ids)));
      assert.deepEqual(
        found.map((one) => one?.id),
        lists.map((_, index) => (index % 3 === 2 ? undefined : devices[index % devices.length]?.id)),
      );
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

    it("take another id, by which groups, users and rules of the account name them at once", async () => {
      const [account, other] = [await makeAccount(store()), await makeAccount(store())];
      const device = await makeDevice(store(), account.key, { aliases: [unique("alias-")] });
      const way = {
        protocol: "gt06",
        transport: "tcp",
        since: now,
        address: "::1",
        trustedAt: now,
        networks: [],
      } as const;
      await store().devices.spoke([{ device: device.key, way }]);
      const command = await makeCommand(store(), device.key);
      const [from, to] = [device.id, unique("new-")];
      const fields = { name: "Trucks", description: null, devices: ["a", from, to, "b"] };
      const group = await store().groups.create(account.key, unique("group-"), fields, now);
      const foreign = await store().groups.create(other.key, unique("group-"), fields, now);
      const apart = await store().groups.create(account.key, unique("group-"), { ...fields, devices: ["a"] }, now);
      const user = await makeUser(store(), account.key, { deviceId: from });
      const channels = { email: [person], sms: [], webhook: [target] };
      const watching = ruleFields({ devices: [from, "a"], channels });
      const rule = await store().alertRules.create(account.key, user.key, unique("rule-"), watching, now);
      const second = await makeDevice(store(), account.key);

      const { key: _k, accountKey: _a, creation: _c, modification: _m, spoken: _s, ...own } = device;
      const changed = { ...own, id: to };
      const taken = { ...own, id: second.id };
      assert.equal(await store().devices.changeId(device.key, taken, now + 5), "exists");
      assert.deepEqual((await store().groups.find(group.id))?.devices, fields.devices);
      const one = { perLicense: 0, least: 1 };
      const more = { ...changed, aliases: [...own.aliases, unique("alias-")] };
      assert.equal(await store().devices.changeId(device.key, more, now + 5, one), "identifiers");
      assert.equal(await store().devices.changeId(999_999_999, changed, now + 5), "missing");
      await assert.rejects(
        store().devices.changeId(device.key, changed, now + 5, undefined, { ...device, name: "other" }),
        ChangedSince,
      );

      const answer = await store().devices.changeId(device.key, changed, now + 5, one, device);
      assert.deepEqual(answer, { device: { ...device, id: to, modification: now + 5 }, users: [user.key] });
      assert.equal(await store().devices.find(from), undefined);
      assert.equal(await store().devices.identify([from]), undefined);
      assert.equal((await store().devices.identify([to]))?.key, device.key);
      assert.equal((await store().devices.identify(own.aliases))?.key, device.key);
      assert.deepEqual((await store().devices.find(to))?.spoken, []);
      assert.deepEqual(await store().commands.find(device.key, command.id), command);
      assert.deepEqual(await store().groups.find(group.id), {
        ...group,
        devices: ["a", to, "b"],
        lastModified: now + 5,
      });
      for (const kept of [foreign, apart]) assert.deepEqual(await store().groups.find(kept.id), kept);
      assert.deepEqual([...(await store().groups.holding(account.key, to))], [group.id]);
      assert.deepEqual(await store().users.findByKey(user.key), { ...user, deviceId: to, modification: now + 5 });
      const named = { ...rule, devices: [to, "a"], revision: 2, modification: now + 5 };
      assert.deepEqual(await store().alertRules.find(rule.id), named);
      assert.equal(await store().alertRules.count(account.key, { watched: [{ device: to }] }), 1);
      assert.equal(await store().alertRules.count(account.key, { watched: [{ device: from }] }), 0);
      // The old id is free.
      await makeDevice(store(), other.key, { id: from });
    });

    it("tell when the next of them expires, and which have expired since", async () => {
      const account = await makeAccount(store());
      // A time of its own, far from the ones of other tests.
      const start = Date.UTC(2050, 0, 1);
      const expiring = async (expires: number | null) => (await makeDevice(store(), account.key, { expires })).key;
      const expected = [await expiring(start + 1), await expiring(start + 2), await expiring(start + 2)];
      const last = await expiring(start + 3);
      await expiring(null);
      const between = async (since: number, until: number) =>
        (await store().devices.expiredBetween(since, until)).map(({ key }) => key);
      assert.equal(await store().devices.nextExpiry(start), start + 1);
      assert.equal(await store().devices.nextExpiry(start + 1), start + 2);
      assert.equal(await store().devices.nextExpiry(start + 3), undefined);
      assert.deepEqual(await between(start, start + 2), expected);
      assert.deepEqual(await between(start + 1, start + 3), [...expected.slice(1), last]);
      assert.deepEqual(await between(start + 2, start + 2), []);
      const [device] = await store().devices.expiredBetween(start + 2, start + 3);
      assert.deepEqual(device, await store().devices.find(device?.id ?? ""));
    });

    it("that expire together are all told", async () => {
      const account = await makeAccount(store(), 3000);
      const expires = Date.UTC(2051, 0, 1);
      const made = await makeMany(1001, () => makeDevice(store(), account.key, { expires }));
      const keys = made.map(({ key }) => key);
      const told = await store().devices.expiredBetween(expires - 1, expires);
      assert.deepEqual(
        told.map(({ key }) => key),
        keys.toSorted((one, other) => one - other),
      );
      assert.equal((await store().devices.list(account.key)).length, 1001);
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
