import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eachOf, type Page, type PageAsk } from "../../../src/ports/pages.ts";
import type { Store } from "../../../src/ports/store.ts";
import { makeAccount, makeDevice, now, unique, userFields } from "./harness.ts";

const fields = { name: "G", description: null, devices: [] };
const plain = { limit: 1000, bytes: 1_000_000 };

async function all<T extends { readonly key: number }>(page: (ask: PageAsk) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  for await (const row of eachOf(page)) found.push(row);
  return found;
}

/** Pages, and questions for some ids. */
export function listContract(store: () => Store): void {
  const group = (accountKey: number, devices: readonly string[] = []) =>
    store().groups.create(accountKey, unique("group-"), { ...fields, devices }, now);

  describe("pages", () => {
    it("hold no more rows or bytes than asked for, but one row at least, and go on where they ended", async () => {
      const [{ key }, other] = [await makeAccount(store()), await makeAccount(store())];
      const made = [];
      for (let index = 0; index < 7; index++) made.push(await group(key, ["x".repeat(index % 2 === 0 ? 10 : 4000)]));
      await group(other.key);
      for (const ask of [
        { limit: 2, bytes: 1_000_000 },
        { limit: 100, bytes: 5000 },
        { limit: 100, bytes: 1 },
      ]) {
        const found = [];
        for (let after: number | undefined; ; after = found.at(-1)?.key) {
          const page = await store().groups.page(key, { ...ask, ...(after !== undefined && { after }) });
          assert.ok(page.rows.length > 0 && page.rows.length <= ask.limit);
          if (ask.bytes === 1) assert.equal(page.rows.length, 1);
          found.push(...page.rows);
          if (!page.more) break;
        }
        assert.deepEqual(found, made);
      }
      assert.deepEqual(await store().groups.page(999_999_999, plain), { rows: [], more: false });
    });

    it("are of an account alone, and of groups by id or name", async () => {
      const { key } = await makeAccount(store());
      const user = await store().users.create(userFields(key), now);
      assert.ok(typeof user !== "string");
      const named = await store().groups.create(key, unique("group-"), { ...fields, name: "Fleet" }, now);
      const other = await group(key);
      assert.deepEqual((await store().groups.page(key, plain, "Fleet")).rows, [named]);
      assert.deepEqual((await store().groups.page(key, plain, other.id)).rows, [other]);
      assert.deepEqual((await store().groups.page(key, plain, "nobody's")).rows, []);
      assert.deepEqual(await all((ask) => store().groups.page(key, ask)), [named, other]);
    });
  });

  describe("some of an account", () => {
    it("are those of the ids that are its own, in the order of their making, each once", async () => {
      const [{ key }, other] = [await makeAccount(store()), await makeAccount(store())];
      const made = [];
      for (let index = 0; index < 230; index++) made.push(await group(key));
      const foreign = await group(other.key);
      const ids = made.map(({ id }) => id);
      const asked = [...ids.toReversed(), foreign.id, "nobody's", ...ids.slice(0, 3)];
      assert.deepEqual(await store().groups.some(key, asked), made);
      assert.deepEqual(await store().groups.some(key, []), []);
      assert.deepEqual(await store().geofences.some(key, asked), []);
      assert.deepEqual(await store().groups.existing(key, asked), new Set(ids));
      assert.deepEqual(await store().geofences.existing(key, asked), new Set());
    });

    it("are devices that have not expired, by id", async () => {
      const [{ key }, other] = [await makeAccount(store()), await makeAccount(store())];
      const [first, second] = [await makeDevice(store(), key), await makeDevice(store(), key)];
      const expired = await makeDevice(store(), key, { expires: now - 1 });
      const foreign = await makeDevice(store(), other.key);
      const ids = [second.id, first.id, expired.id, foreign.id, "nobody's"];
      const expected = [first, second].toSorted((one, two) => (one.id < two.id ? -1 : 1));
      assert.deepEqual(await store().devices.some(key, ids, now), expected);
      assert.deepEqual(await store().devices.existing(key, ids), new Set([first.id, second.id, expired.id]));
    });
  });

  describe("quotas", () => {
    it("count what an account has, refuse what goes beyond, and keep what is there", async () => {
      const account = await makeAccount(store());
      const { key } = account;
      const use = async () => (await store().accounts.quotas(key)).use;
      const before = await use();
      await store().accounts.replace(key, { ...account, quotas: { groups: before.groups + 2 } });
      const made = await Promise.allSettled(Array.from({ length: 5 }, () => group(key, ["a".repeat(1000)])));
      assert.equal(made.filter(({ status }) => status === "fulfilled").length, 2);
      const { groups, bytes } = await use();
      assert.equal(groups, before.groups + 2);
      assert.ok(bytes >= before.bytes + 2000);
      // Over its quota since that was lowered: it may have less, not more.
      await store().accounts.replace(key, { ...account, quotas: { bytes: 1 } });
      const [first] = await store().groups.list(key);
      assert.ok(first !== undefined);
      assert.ok(await store().groups.replace(first.key, fields, now));
      await assert.rejects(store().groups.replace(first.key, { ...fields, devices: ["more"] }, now));
      assert.equal(await store().groups.remove(first.key), true);
      assert.equal((await use()).groups, before.groups + 1);
    });
  });
}
