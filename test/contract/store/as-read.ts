import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ChangedSince, type Store } from "../../../src/ports/store.ts";
import { geofenceFields, ruleFields } from "./alert-values.ts";
import { deviceFields, makeAccount, makeDevice, makeUser, now, unique } from "./harness.ts";

/** Changes that are judged by what was read before them. */
export function asReadContract(store: () => Store): void {
  /** A change that was judged by an older reading writes nothing; one that was judged by the newest is written. */
  async function once<T>(find: () => Promise<T>, change: (read: T) => Promise<unknown>): Promise<void> {
    const read = await find();
    await change(read);
    const changed = await find();
    await assert.rejects(change(read), ChangedSince);
    assert.deepEqual(await find(), changed);
    await change(changed);
  }
  let names = 0;
  const name = () => `name ${names++}`;
  const account = async () => (await makeAccount(store())).key;

  describe("a change that was judged by what is not so any more writes nothing", () => {
    it("to a device", async () => {
      const { devices } = store();
      const { id, key } = await makeDevice(store(), await account());
      const find = () => devices.findByKey(key);
      await once(find, (read) => devices.replace(key, deviceFields({ id, name: name() }), now, undefined, read));
    });

    it("to a user and its key", async () => {
      const { users } = store();
      const { key } = await makeUser(store(), await account());
      const find = () => users.findByKey(key);
      const replace = async (read: Awaited<ReturnType<typeof find>>) => {
        assert.ok(read !== undefined);
        return users.replace(key, { ...read, name: name(), passwordHash: undefined }, now, read);
      };
      await once(find, replace);
      await once(find, (read) => users.setApiKey(key, { id: unique("key-"), hash: "" }, now, read));
    });

    it("to a group", async () => {
      const { groups } = store();
      const made = await groups.create(
        await account(),
        unique("group-"),
        { name: "", description: null, devices: [] },
        now,
      );
      const find = () => groups.find(made.id);
      await once(find, (read) => groups.replace(made.key, { ...made, name: name() }, now, read));
      await assert.rejects(groups.remove(made.key, made), ChangedSince);
      assert.equal(await groups.remove(made.key, await find()), true);
      assert.equal(await groups.remove(made.key, made), false);
      assert.equal(await groups.replace(made.key, made, now, made), undefined);
    });

    it("to a geofence", async () => {
      const { geofences } = store();
      const accountKey = await account();
      const made = await geofences.create(accountKey, unique("zone-"), geofenceFields(), now);
      const change = async (geofence: typeof made | undefined) => {
        assert.ok(geofence !== undefined);
        return geofences.replace(made.key, geofenceFields({ name: name() }), now, { geofence });
      };
      await once(() => geofences.find(made.id), change);
      const sum = () => geofences.positions(accountKey, 0);
      await once(sum, (read) =>
        geofences.create(accountKey, unique("zone-"), geofenceFields(), now, { few: 0, sum: read }),
      );
    });

    it("to a rule", async () => {
      const { alertRules } = store();
      const accountKey = await account();
      const { id, key } = await alertRules.create(accountKey, 1, unique("rule-"), ruleFields(), now);
      const find = async () => (await alertRules.find(id))?.revision ?? 0;
      await once(find, (read) => alertRules.replace(key, 1, ruleFields({ name: name() }), now, read));
      await assert.rejects(alertRules.remove(key, 1), ChangedSince);
      assert.equal(await alertRules.remove(key, await find()), true);
      assert.equal(await alertRules.remove(key, 1), false);
      assert.equal(await alertRules.replace(key, 1, ruleFields(), now, 1), undefined);
    });

    it("to the rules of a device", async () => {
      const { alertRules } = store();
      const [accountKey, device] = [await account(), unique("device-")];
      const find = async () =>
        (await alertRules.page(accountKey, { limit: 9, bytes: 1e6 }, { watched: [{ device }] })).rows;
      await once(find, (rules) => {
        const create = [{ id: unique("rule-"), fields: ruleFields({ devices: [device] }) }];
        return alertRules.exchange(accountKey, 1, { read: { device, rules }, remove: [], replace: [], create }, now);
      });
    });

    it("to an account and its quotas", async () => {
      const { accounts } = store();
      const made = await makeAccount(store());
      const find = async () => {
        const found = await accounts.find(made.key);
        assert.ok(found !== undefined);
        return { account: found, quotas: (await accounts.quotas(made.key)).own };
      };
      await once(find, (read) => accounts.replace(made.key, { ...made, name: name() }, read));
      let users = 1;
      await once(find, (read) => accounts.replace(made.key, { ...read.account, quotas: { users: users++ } }, read));
    });
  });
}
