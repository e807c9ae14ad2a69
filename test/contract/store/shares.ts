import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NewShare, Share } from "../../../src/model/share.ts";
import type { SharesOf } from "../../../src/ports/shares.ts";
import type { Store } from "../../../src/ports/store.ts";
import { makeAccount, makeDevice, makeUser, now, unique } from "./harness.ts";

const hour = 3_600_000;

/** Links to devices and groups. */
export function shareContract(store: () => Store, reopen: () => Promise<void>): void {
  async function maker() {
    const accountKey = (await makeAccount(store())).key;
    return { accountKey, userKey: (await makeUser(store(), accountKey)).key };
  }
  const share = (of: { accountKey: number; userKey: number }, changes: Partial<NewShare> = {}): NewShare => ({
    ...of,
    ...{ id: unique("share-"), target: { group: "g" }, name: "Reparto <ñ>", tokenHash: unique("hash-") },
    ...{ creation: now, expires: now + hour },
    ...changes,
  });
  async function make(each: NewShare, most = 10): Promise<Share> {
    const made = await store().shares.create(each, most);
    assert.ok(typeof made === "object", String(made));
    return made;
  }

  async function listed(of: SharesOf, at: number) {
    const { rows, more } = await store().shares.page(of, at, { limit: 10, bytes: 100_000 });
    assert.equal(more, false);
    return rows;
  }

  describe("shares", () => {
    it("keep every field, even over a restart", async () => {
      const of = await maker();
      const device = await makeDevice(store(), of.accountKey);
      const fields = share(of, { target: { device: device.key } });
      const made = await make(fields);
      const toGroup = await make(share(of));
      assert.deepEqual(made, { key: made.key, ...fields });
      await reopen();
      assert.deepEqual(await store().shares.find(fields.tokenHash), made);
      assert.equal(await store().shares.find("another"), undefined);
      assert.deepEqual(await listed(of, now), [toGroup, made]);
    });

    it("are listed while they last, of a user or of its account", async () => {
      const of = await maker();
      const colleague = { ...of, userKey: (await makeUser(store(), of.accountKey)).key };
      const [mine, ended, theirs] = [
        await make(share(of)),
        await make(share(of, { expires: now + 5 })),
        await make(share(colleague)),
      ];
      assert.deepEqual(await listed(of, now + 5), [mine]);
      assert.deepEqual(await listed({ accountKey: of.accountKey }, now), [theirs, ended, mine]);
      assert.deepEqual(await listed(await maker(), now), []);
      const ask = { after: theirs.key, limit: 1, bytes: 100_000 };
      const next = await store().shares.page({ accountKey: of.accountKey }, now, ask);
      assert.deepEqual(next, { rows: [ended], more: true });
    });

    it("have a number for each user, of those that last", async () => {
      const of = await maker();
      await make(share(of, { creation: now - hour, expires: now }), 1);
      await make(share(of), 1);
      assert.equal(await store().shares.create(share(of), 1), "full");
      assert.equal(await store().shares.create(share(await maker(), { userKey: 999_999 }), 1), "missing");
    });

    it("are removed by whose they are, and by nobody else", async () => {
      const of = await maker();
      const other = await maker();
      const [first, second] = [await make(share(of)), await make(share(of))];
      assert.equal(await store().shares.remove({ accountKey: other.accountKey }, first.id), undefined);
      assert.equal(await store().shares.remove({ ...of, userKey: other.userKey }, first.id), undefined);
      assert.deepEqual(await store().shares.remove(of, first.id), first);
      assert.equal(await store().shares.remove(of, first.id), undefined);
      assert.deepEqual(await store().shares.remove({ accountKey: of.accountKey }, second.id), second);
    });

    it("go with their user, their device and their group, and some time after their end", async () => {
      const of = await maker();
      const device = await makeDevice(store(), of.accountKey);
      const toDevice = await make(share(of, { target: { device: device.key } }));
      const toGroup = await make(share(of));
      const ended = await make(share(of, { creation: 0, expires: 1 }));
      assert.ok((await store().shares.prune(2, 1000)) >= 1);
      assert.equal(await store().shares.find(ended.tokenHash), undefined);
      await store().devices.remove(device.key);
      assert.equal(await store().shares.find(toDevice.tokenHash), undefined);
      assert.equal(await store().shares.create(share(of, { target: { device: device.key } }), 5), "missing");
      assert.deepEqual(await store().shares.find(toGroup.tokenHash), toGroup);
      const fields = { name: "G", description: null, devices: null };
      const group = await store().groups.create(of.accountKey, unique("g-"), fields, now);
      const shown = await make(share(of, { target: { group: group.id } }));
      await store().groups.remove(group.key);
      assert.equal(await store().shares.find(shown.tokenHash), undefined);
      await store().users.remove(of.userKey);
      assert.equal(await store().shares.find(toGroup.tokenHash), undefined);
    });
  });
}
