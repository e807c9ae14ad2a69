import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Command } from "../../../src/model/command.ts";
import type { NewCommand, StepFrom } from "../../../src/ports/command-store.ts";
import type { Store } from "../../../src/ports/store.ts";
import { commandPropertyContract } from "./commands-property.ts";
import { makeAccount, makeCommand, makeDevice, makeMany, newCommand, now, unique } from "./harness.ts";

/** Records of commands. */
export function commandContract(store: () => Store, reopen: () => Promise<void>): void {
  describe("commands", () => {
    const device = async () => (await makeDevice(store(), (await makeAccount(store())).key)).key;

    it("keep every field, over a restart too", async () => {
      const key = await device();
      const fields = newCommand(key, {
        userKey: 2 ** 40,
        userName: "Señora 'x'",
        channel: "sms",
        format: "Hex",
        command: "78780A\n☂",
        encode: true,
        state: "sent",
        sentAt: now + 1,
        finishedAt: now + 2,
        reply: "",
        failure: "why",
        idempotencyKey: "k",
      });
      const made = await store().commands.create(fields);
      assert.ok(made !== "missing");
      assert.deepEqual(made, { command: { ...fields, key: made.command.key }, existing: false });
      await reopen();
      assert.deepEqual(await store().commands.find(key, fields.id), made.command);
      const plain = await makeCommand(store(), key);
      assert.deepEqual(await store().commands.find(key, plain.id), plain);
    });

    it("are found with their own device only", async () => {
      const [one, other] = [await device(), await device()];
      const command = await makeCommand(store(), one);
      assert.equal(await store().commands.find(other, command.id), undefined);
      assert.equal(await store().commands.find(one, "nobody's"), undefined);
      assert.deepEqual(await store().commands.list(other, undefined, 5), []);
      assert.deepEqual(await store().commands.queued(other, 0, 9), []);
    });

    it("are listed newest first, page by page", async () => {
      const [key, other] = [await device(), await device()];
      const made: Command[] = [];
      for (let count = 0; count < 5; count++) {
        made.unshift(await makeCommand(store(), key));
        await makeCommand(store(), other);
      }
      assert.deepEqual(await store().commands.list(key, undefined, 10), made);
      assert.deepEqual(await store().commands.list(key, undefined, 2), made.slice(0, 2));
      assert.deepEqual(await store().commands.list(key, made[1]?.key, 2), made.slice(2, 4));
      assert.deepEqual(await store().commands.list(key, made[4]?.key, 2), []);
    });

    it("wait for the connection oldest first; those by SMS do not", async () => {
      const key = await device();
      const first = await makeCommand(store(), key, { expires: 1 });
      await makeCommand(store(), key, { channel: "sms" });
      await makeCommand(store(), key, { state: "sent" });
      const second = await makeCommand(store(), key);
      assert.deepEqual(await store().commands.queued(key, 0, 9), [first, second]);
      assert.deepEqual(await store().commands.queued(key, 0, 1), [first]);
      assert.deepEqual(await store().commands.queued(key, first.key, 1), [second]);
      assert.deepEqual(await store().commands.queued(key, second.key, 1), []);
    });

    it("wait in a bounded number, also when made at once; a repeat is answered all the same", async () => {
      const key = await device();
      const idempotencyKey = unique("full-");
      const first = await makeCommand(store(), key, { idempotencyKey });
      const make = (changes: Partial<NewCommand> = {}) => store().commands.enqueue(newCommand(key, changes), 3);
      const answers = await Promise.all(Array.from({ length: 5 }, () => make()));
      assert.equal(answers.filter((answer) => answer === "full").length, 3);
      assert.equal(await make({ idempotencyKey: unique("other-") }), "full");
      assert.deepEqual(await make({ idempotencyKey }), { command: first, existing: true });
      assert.ok(typeof (await store().commands.enqueue(newCommand(await device()), 3)) === "object");
      await store().commands.step(first.key, ["queued"], "cancelled", {});
      assert.ok(typeof (await make()) === "object");
    });

    it("are made once for an idempotency key of a user and a device", async () => {
      const [key, other] = [await device(), await device()];
      const idempotencyKey = unique("idempotency-");
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => store().commands.create(newCommand(key, { idempotencyKey }))),
      );
      const made = answers.filter((answer) => answer !== "missing");
      assert.equal(made.length, 20);
      assert.equal(made.filter(({ existing }) => !existing).length, 1);
      assert.equal(new Set(made.map(({ command }) => command.key)).size, 1);
      await makeCommand(store(), key, { idempotencyKey, userKey: 2 });
      await makeCommand(store(), other, { idempotencyKey });
      await makeCommand(store(), key);
      await makeCommand(store(), key);
      assert.equal((await store().commands.list(key, undefined, 10)).length, 4);
    });

    it("answer a repeat with what became of the first", async () => {
      const key = await device();
      const command = await makeCommand(store(), key, { idempotencyKey: "again" });
      const sent = await store().commands.step(command.key, ["queued"], "delivered", { reply: "OK" });
      const repeated = await store().commands.create(newCommand(key, { idempotencyKey: "again", command: "other" }));
      assert.deepEqual(repeated, { command: sent, existing: true });
    });

    it("of many who act on the same one, one wins", async () => {
      const command = await makeCommand(store(), await device());
      const step = (_: unknown, index: number) =>
        store().commands.step(command.key, ["queued"], index % 2 ? "sent" : "cancelled", { sentAt: now + index });
      const won = (await Promise.all(Array.from({ length: 20 }, step))).filter((answer) => answer !== undefined);
      assert.equal(won.length, 1);
      assert.deepEqual(await store().commands.find(command.device, command.id), won[0]);
      assert.equal(await store().commands.step(999_999_999, ["queued"], "sent", {}), undefined);
    });

    it("are stepped only from the failure that was seen, where one is named", async () => {
      const { commands } = store();
      const { key } = await makeCommand(store(), await device(), { state: "failed", failure: "later" });
      assert.equal(await commands.step(key, ["failed"], "sent", {}, "other"), undefined);
      assert.equal((await commands.step(key, ["failed"], "sent", { failure: null }, "later"))?.state, "sent");
      assert.equal(await commands.step(key, ["sent"], "sent", {}, "later"), undefined);
    });

    it("are ended by the process that sent them, and after it has ended by what others report alone", async () => {
      const key = await device();
      const made = await makeCommand(store(), key, { state: "sent", sentAt: now });
      const [queued, other] = [await makeCommand(store(), key), await makeCommand(store(), key)];
      const step = ({ key: command }: Command, from: StepFrom, to: Command["state"]) =>
        store().commands.step(command, [from], to, {});
      assert.equal(await step(queued, "ours", "delivered"), undefined);
      for (const each of [queued, other]) assert.equal((await step(each, "queued", "sent"))?.state, "sent");
      for (const each of [made, queued]) assert.equal((await step(each, "ours", "sent"))?.state, "sent");
      assert.equal((await step(queued, "ours", "failed"))?.state, "failed");
      await reopen();
      for (const each of [made, queued, other]) assert.equal(await step(each, "ours", "delivered"), undefined);
      assert.equal((await step(made, "sent", "delivered"))?.state, "delivered");
      assert.equal((await step(queued, "failed", "sent"))?.state, "sent");
      assert.equal((await step(queued, "ours", "delivered"))?.state, "delivered");
    });

    it("are known by what the gateway calls their SMS, the newest first", async () => {
      const { commands } = store();
      const smsId = unique("sms-");
      const key = await device();
      const older = await makeCommand(store(), key, { channel: "sms" });
      await commands.step(older.key, ["queued"], "sent", { smsIds: [smsId] });
      const newer = await makeCommand(store(), key, { channel: "sms" });
      assert.equal(await commands.step(newer.key, ["sent"], "sent", { smsIds: [smsId] }), undefined);
      assert.equal((await commands.receipt(smsId, true))?.command.key, older.key);
      const named = await commands.step(newer.key, ["queued"], "sent", { smsIds: [smsId] });
      assert.ok(named);
      await reopen();
      assert.deepEqual(await store().commands.receipt(smsId, true), { command: named, delivery: "delivered" });
      assert.equal(await store().commands.receipt("nobody's", true), undefined);
    });

    it("by SMS are delivered with all parts, and failed with the first one", async () => {
      const { commands } = store();
      const key = await device();
      const make = async (...names: (string | null)[]) => {
        const ids = names.map((name) => name && unique(name));
        const command = await makeCommand(store(), key, { channel: "sms" });
        await commands.step(command.key, ["queued"], "sent", { smsIds: ids });
        return async (part: number, delivered: boolean) =>
          (await commands.receipt(ids[part] ?? "none", delivered))?.delivery;
      };
      const whole = await make("a", "b", "c");
      assert.equal(await whole(2, true), "open");
      assert.equal(await whole(2, true), "open");
      assert.equal(await whole(0, true), "open");
      assert.equal(await whole(1, true), "delivered");
      // What was said first of a part stays.
      assert.equal(await whole(1, false), "delivered");
      const broken = await make("a", "b");
      assert.equal(await broken(0, false), "failed");
      assert.equal(await broken(1, true), "failed");
      const unnamed = await make("a", null);
      assert.equal(await unnamed(0, true), "open");
      // A gateway that calls all parts the same tells of the whole message.
      const same = unique("same");
      const { key: whose } = await makeCommand(store(), key, { channel: "sms" });
      await commands.step(whose, ["queued"], "sent", { smsIds: [same, same] });
      assert.equal((await commands.receipt(same, true))?.delivery, "delivered");
      const atOnce = await make("a", "b", "c", "d");
      const said = await Promise.all([0, 1, 2, 3].map((part) => atOnce(part, true)));
      assert.equal(said.filter((each) => each === "delivered").length, 1);
    });

    it("by SMS that are tried again have the parts of the last try only", async () => {
      const { commands } = store();
      const [first, second] = [unique("try-"), unique("try-")];
      const { key } = await makeCommand(store(), await device(), { channel: "sms" });
      await commands.step(key, ["queued"], "failed", { smsIds: [first, unique("try-")] });
      await commands.step(key, ["failed"], "sent", { smsIds: [second] });
      assert.equal(await commands.receipt(first, true), undefined);
      assert.equal((await commands.receipt(second, true))?.delivery, "delivered");
    });

    it("tell the devices that they wait for", async () => {
      const { commands } = store();
      await commands.expire(Number.MAX_SAFE_INTEGER);
      assert.deepEqual(await commands.waitingDevices(5), []);
      const account = await makeAccount(store());
      const [one, other, none] = [
        await makeDevice(store(), account.key),
        await makeDevice(store(), account.key),
        await makeDevice(store(), account.key),
      ];
      for (const { key } of [one, one, other]) await makeCommand(store(), key);
      await makeCommand(store(), none.key, { state: "sent" });
      assert.deepEqual(new Set(await commands.waitingDevices(5)), new Set([one.id, other.id]));
      assert.equal((await commands.waitingDevices(1)).length, 1);
      await store().devices.remove(other.key);
      assert.deepEqual(await commands.waitingDevices(5), [one.id]);
    });

    it("are deleted some time after their end, in bounded steps, with their parts; those that wait never", async () => {
      const { commands } = store();
      const key = await device();
      const day = 86_400_000;
      const smsId = unique("old-");
      const old = { creation: now - 9 * day, sentAt: now - 9 * day };
      const make = (changes: Partial<NewCommand>) => makeCommand(store(), key, changes);
      const delivered = await make({ ...old, state: "delivered", finishedAt: now - 8 * day });
      const bySms = await make({ ...old, channel: "sms" });
      await commands.step(bySms.key, ["queued"], "sent", { smsIds: [smsId] });
      const ended = await make({ ...old, state: "delivered", finishedAt: now - 6 * day });
      const waits = await make({ creation: now - 9 * day });
      const wrongClock = await make({ creation: now + 900 * day, state: "cancelled", finishedAt: now + 900 * day });
      const cancelled = await make({ creation: now - 9 * day, state: "cancelled", finishedAt: now - 9 * day });
      const young = await make({ state: "sent", creation: now, sentAt: now });
      let deleted = 0;
      let steps = 0;
      let after: number | undefined = delivered.key - 1;
      for (; after !== undefined; steps++) {
        const step: Awaited<ReturnType<typeof commands.deleteEnded>> = await commands.deleteEnded(
          now - 7 * day,
          after,
          2,
        );
        assert.ok(step.next === undefined || step.next > after);
        deleted += step.deleted;
        after = step.next;
      }
      assert.deepEqual([deleted, steps], [3, 4]);
      const left = (await commands.list(key, undefined, 10)).map((command) => command.key).toReversed();
      assert.deepEqual(left, [ended.key, waits.key, wrongClock.key, young.key]);
      assert.equal(await commands.find(key, cancelled.id), undefined);
      assert.equal(await commands.receipt(smsId, true), undefined);
    });

    it("run out, and tell when the next one does", async () => {
      const { commands } = store();
      const key = await device();
      await commands.expire(Number.MAX_SAFE_INTEGER);
      assert.equal(await commands.nextExpiry(), undefined);
      const late = await makeCommand(store(), key, { expires: now + 2 });
      const early = await makeCommand(store(), key, { expires: now + 1 });
      const sms = await makeCommand(store(), key, { expires: now + 1, channel: "sms" });
      const sent = await makeCommand(store(), key, { expires: now, state: "sent" });
      assert.equal(await commands.nextExpiry(), now + 1);
      assert.deepEqual(await commands.expire(now), []);
      const ended = (await commands.expire(now + 1)).toSorted((one, other) => one.key - other.key);
      const expired = { state: "expired", finishedAt: now + 1 };
      assert.deepEqual(ended, [
        { ...early, ...expired },
        { ...sms, ...expired },
      ]);
      assert.deepEqual(await commands.expire(now + 1), []);
      assert.equal(await commands.nextExpiry(), now + 2);
      for (const command of ended) assert.deepEqual(await commands.find(key, command.id), command);
      assert.deepEqual(await commands.find(key, sent.id), sent);
      assert.deepEqual(await commands.queued(key, 0, 9), [late]);
    });

    it("are bounded for each device: a new one makes the oldest that ended go, and none that waits", async () => {
      const [key, other] = [await device(), await device()];
      const { commands } = store();
      const waiting = await makeCommand(store(), key);
      const smsId = unique("sms-");
      const oldest = await makeCommand(store(), key, { state: "sent", channel: "sms", idempotencyKey: "again" });
      await commands.step(oldest.key, ["sent"], "sent", { smsIds: [smsId] });
      const others = await makeCommand(store(), other, { state: "failed" });
      const ended = (count: number) => makeMany(count, () => commands.create(newCommand(key, { state: "failed" })));
      await ended(999);
      assert.notEqual(await commands.find(key, oldest.id), undefined);
      await ended(1);
      assert.equal(await commands.find(key, oldest.id), undefined);
      assert.equal(await commands.receipt(smsId, true), undefined);
      assert.equal(await commands.findByIdempotencyKey(key, oldest.userKey, "again"), undefined);
      await ended(20);
      assert.equal((await commands.list(key, undefined, 2000)).length, 1001);
      assert.deepEqual(await commands.queued(key, 0, 9), [waiting]);
      assert.deepEqual(await commands.list(other, undefined, 9), [others]);
    });

    it("go with their device at once, however many, and can't be made for one that is gone", async () => {
      const key = await device();
      const smsId = unique("sms-");
      const command = await makeCommand(store(), key);
      await store().commands.step(command.key, ["queued"], "queued", { smsIds: [smsId] });
      await makeMany(1001, () => store().commands.create(newCommand(key)));
      await store().devices.remove(key);
      const gone = async () => {
        assert.equal(await store().commands.find(key, command.id), undefined);
        assert.deepEqual(await store().commands.list(key, undefined, 5), []);
        assert.deepEqual(await store().commands.queued(key, 0, 9), []);
        assert.equal(await store().commands.receipt(smsId, true), undefined);
        assert.equal(await store().commands.step(command.key, ["queued"], "sent", {}), undefined);
      };
      await gone();
      assert.equal(await store().commands.create(newCommand(key)), "missing");
      await reopen();
      await gone();
    });
  });
  commandPropertyContract(store, reopen);
}
