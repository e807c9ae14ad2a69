import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { GroupFields } from "../../../src/ports/groups.ts";
import type { Store } from "../../../src/ports/store.ts";
import { makeAccount, now, unique } from "./harness.ts";

function groupFields(changes: Partial<GroupFields> = {}): GroupFields {
  return { name: unique("Group "), description: null, devices: [], ...changes };
}

/** Groups of devices. */
export function groupContract(store: () => Store): void {
  describe("groups", () => {
    it("keep every field", async () => {
      const account = await makeAccount(store());
      const id = unique("group-");
      const fields = groupFields({ name: "Ñ 'x'", description: "", devices: ["b", "nobody's", "a", "b"] });
      const group = await store().groups.create(account.key, id, fields, now);
      const expected = { ...fields, id, key: group.key, accountKey: account.key, creation: now, lastModified: now };
      assert.deepEqual(group, expected);
      assert.deepEqual(await store().groups.find(id), group);
      assert.equal(await store().groups.find("nobody's"), undefined);
    });

    it("are listed in the order of their making, each account its own", async () => {
      const account = await makeAccount(store());
      const other = await makeAccount(store());
      const made = [];
      for (let count = 0; count < 205; count++)
        made.push(await store().groups.create(account.key, unique("group-"), groupFields(), now));
      await store().groups.create(other.key, unique("group-"), groupFields(), now);
      assert.deepEqual(await store().groups.list(account.key), made);
      assert.deepEqual(await store().groups.list(999_999_999), []);
    });

    it("are replaced whole", async () => {
      const account = await makeAccount(store());
      const before = groupFields({ description: "old", devices: ["a"] });
      const group = await store().groups.create(account.key, unique("group-"), before, now);
      const fields = groupFields({ devices: Array.from({ length: 10_000 }, (_, index) => `device-${index}`) });
      const expected = { ...group, ...fields, lastModified: now + 5 };
      assert.deepEqual(await store().groups.replace(group.key, fields, now + 5), expected);
      assert.deepEqual(await store().groups.find(group.id), expected);
      assert.equal(await store().groups.replace(999_999_999, fields, now), undefined);
    });

    it("that have a device are known, whatever their lists hold", async () => {
      const [{ key }, other] = [await makeAccount(store()), await makeAccount(store())];
      const make = async (devices: readonly string[] | null, account = key) =>
        (await store().groups.create(account, unique("group-"), groupFields({ devices }), now)).id;
      const long = Array.from({ length: 40_000 }, (_, index) => `${index}-${"x".repeat(20)}`);
      await make([...long]);
      const [one, two] = [await make(["a", "b", "a"]), await make([...long, "a"])];
      await make(null);
      await make([]);
      await make(["ab", 'x"a', "A", '"a"', ","]);
      await make(["a"], other.key);
      assert.deepEqual(await store().groups.holding(key, "a"), new Set([one, two]));
      assert.deepEqual(await store().groups.holding(key, "b"), new Set([one]));
      assert.deepEqual(await store().groups.holding(key, "c"), new Set());
      assert.deepEqual(await store().groups.holding(999_999_999, "a"), new Set());
    });

    it("are removed, and their keys never come back", async () => {
      const account = await makeAccount(store());
      const group = await store().groups.create(account.key, unique("group-"), groupFields(), now);
      assert.equal(await store().groups.remove(group.key), true);
      assert.equal(await store().groups.remove(group.key), false);
      assert.equal(await store().groups.find(group.id), undefined);
      const again = await store().groups.create(account.key, group.id, groupFields(), now);
      assert.notEqual(again.key, group.key);
    });
  });
}
