import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NewSignIn } from "../../../src/model/sign-in.ts";
import type { Store } from "../../../src/ports/store.ts";
import { makeAccount, makeUser, now, unique } from "./harness.ts";

const day = 86_400_000;

/** Who is signed in with a browser, and second factors. */
export function signInContract(store: () => Store, reopen: () => Promise<void>): void {
  const person = async () => (await makeUser(store(), (await makeAccount(store())).key)).key;
  const signIn = (userKey: number, changes: Partial<NewSignIn> = {}): NewSignIn => ({
    ...{ userKey, tokenHash: unique("hash-"), creation: now, seen: now, expires: now + day },
    ...{ address: "2001:db8::7", browser: "Firefox ñ" },
    ...changes,
  });
  const make = async (each: NewSignIn, most = 10) => {
    const result = await store().signIns.create(each, most);
    assert.ok(result);
    return result;
  };

  describe("sign-ins", () => {
    it("keep every field, even over a restart, and note their use", async () => {
      const fields = signIn(await person());
      const { made, ended } = await make(fields);
      assert.deepEqual([made, ended], [{ key: made.key, ...fields }, []]);
      await store().signIns.touch(made.key, now + 5);
      await reopen();
      const found = await store().signIns.find(fields.tokenHash);
      assert.deepEqual(found, { ...made, seen: now + 5 });
      assert.equal(await store().signIns.find("another"), undefined);
      assert.deepEqual(await store().signIns.list(fields.userKey), [found]);
    });

    it("have a number for each user: the one that was not used for longest makes room", async () => {
      const [user, other] = [await person(), await person()];
      const theirs = await make(signIn(other, { seen: 0 }));
      const first = await make(signIn(user, { seen: now + 1 }), 2);
      const second = await make(signIn(user), 2);
      const third = await make(signIn(user, { seen: now + 2 }), 2);
      assert.deepEqual(third.ended, [second.made.tokenHash]);
      assert.deepEqual(await store().signIns.list(user), [third.made, first.made]);
      assert.deepEqual(await store().signIns.list(other), [theirs.made]);
      // The new one has a place even if others claim a later use.
      const last = await make(signIn(user, { seen: 0 }), 1);
      assert.deepEqual(last.ended.toSorted(), [first.made.tokenHash, third.made.tokenHash].toSorted());
    });

    it("end one by one, all but one, or all; none of another user's does", async () => {
      const [user, other] = [await person(), await person()];
      const theirs = await make(signIn(other));
      const made = [];
      for (let at = 0; at < 4; at++) made.push((await make(signIn(user))).made);
      const [first, second, third, fourth] = made;
      assert.ok(first && second && third && fourth);
      assert.deepEqual(await store().signIns.remove(user, { only: theirs.made.key }), []);
      assert.deepEqual(await store().signIns.remove(user, { only: first.key }), [first.tokenHash]);
      assert.deepEqual(await store().signIns.remove(user, { only: first.key }), []);
      const but = await store().signIns.remove(user, { but: third.key });
      assert.deepEqual(but.toSorted(), [second.tokenHash, fourth.tokenHash].toSorted());
      assert.deepEqual(await store().signIns.remove(user, "all"), [third.tokenHash]);
      assert.deepEqual(await store().signIns.list(other), [theirs.made]);
    });

    it("go with their user, and some time after their end", async () => {
      const [user, other] = [await person(), await person()];
      const { made } = await make(signIn(user));
      await store().users.remove(user);
      assert.equal(await store().signIns.find(made.tokenHash), undefined);
      assert.equal(await store().signIns.create(signIn(user), 10), undefined);
      const old = await make(signIn(other, { expires: 1000 }));
      const present = await make(signIn(other, { expires: 2000 }));
      assert.equal(await store().signIns.prune(1001, 10), 1);
      assert.equal(await store().signIns.prune(1001, 10), 0);
      assert.equal(await store().signIns.find(old.made.tokenHash), undefined);
      assert.deepEqual(await store().signIns.list(other), [present.made]);
    });
  });

  describe("passwords", () => {
    it("are set alone, and not where the user has changed since it was read", async () => {
      const user = await makeUser(store(), (await makeAccount(store())).key);
      assert.equal(await store().users.setPassword(user.key, "one", now + 1, user), true);
      const changed = { ...user, passwordHash: "one", passwordSignsIn: true, modification: now + 1 };
      assert.deepEqual(await store().users.findByKey(user.key), changed);
      await assert.rejects(store().users.setPassword(user.key, "two", now + 2, user), { name: "ChangedSince" });
      assert.deepEqual(await store().users.findByKey(user.key), changed);
      const { passwordHash: _hash, passwordSignsIn: _signsIn, ...kept } = changed;
      const replaced = (fields: object) =>
        store().users.replace(user.key, { ...kept, passwordHash: undefined, ...fields }, now);
      const state = async (fields: object) => {
        const result = await replaced(fields);
        return typeof result === "string" ? result : [result.passwordHash, result.passwordSignsIn];
      };
      assert.deepEqual(await state({}), ["one", true]);
      assert.deepEqual(await state({ passwordHash: "three" }), ["three", false]);
      assert.deepEqual(await state({ passwordHash: "four", passwordSignsIn: true }), ["four", true]);
      await store().users.remove(user.key);
      assert.equal(await store().users.setPassword(user.key, "two", now + 2), false);
    });
  });

  describe("second factors", () => {
    const factors = () => store().secondFactors;

    it("are begun, confirmed by their own secret, kept over a restart, and not begun again", async () => {
      const user = await person();
      assert.equal(await factors().find(user), undefined);
      assert.equal(await factors().confirm(user, "A", 1, []), false);
      assert.equal(await factors().begin(user, "A"), true);
      assert.equal(await factors().begin(user, "B"), true);
      const begun = { secret: "B", confirmed: false, lastStep: 0, recovery: [] };
      assert.deepEqual(await factors().find(user), begun);
      assert.equal(await factors().confirm(user, "A", 1, ["x"]), false);
      assert.equal(await factors().confirm(user, "B", 7, ["x", "y"]), true);
      await reopen();
      const confirmed = { secret: "B", confirmed: true, lastStep: 7, recovery: ["x", "y"] };
      assert.deepEqual(await factors().find(user), confirmed);
      assert.equal(await factors().begin(user, "C"), false);
      assert.equal(await factors().confirm(user, "B", 8, []), false);
      assert.deepEqual(await factors().find(user), confirmed);
    });

    it("take no code twice, nor one from before it, also at the same time", async () => {
      const user = await person();
      await factors().begin(user, "A");
      await factors().confirm(user, "A", 7, ["x", "y", "z"]);
      const used = await Promise.all([8, 8, 7].map((step) => factors().useStep(user, step)));
      assert.equal(used.filter(Boolean).length, 1);
      assert.equal(await factors().useStep(user, 9), true);
      const codes = await Promise.all(["x", "x", "w"].map((code) => factors().useRecovery(user, code)));
      assert.equal(codes.filter(Boolean).length, 1);
      assert.deepEqual((await factors().find(user))?.recovery, ["y", "z"]);
    });

    it("are removed, with their user too; one who is gone gets none", async () => {
      const user = await person();
      await factors().begin(user, "A");
      assert.deepEqual([await factors().remove(user), await factors().remove(user)], [true, false]);
      await factors().begin(user, "A");
      await store().users.remove(user);
      assert.equal(await factors().find(user), undefined);
      assert.equal(await factors().begin(user, "A"), false);
    });
  });
}
