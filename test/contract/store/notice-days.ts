import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NewNotice, Notice } from "../../../src/model/notice.ts";
import type { NoticeOutcome } from "../../../src/ports/alert-store.ts";
import type { Store } from "../../../src/ports/store.ts";
import { command, commitAlerts, email, makeNotice, newAlert, newNotice, sms, webhook } from "./alert-values.ts";
import { makeAccount, makeDevice, now, today } from "./harness.ts";

const yesterday = "2026-11-20";
const failed: NoticeOutcome = { state: "failed", reason: "refused", peerId: null, dueAt: 0 };
const again: NoticeOutcome = { state: "queued", reason: "busy", peerId: null, dueAt: now + 60_000 };

/** Notices take places of a day. */
export function noticeDayContract(store: () => Store): void {
  const device = async () => (await makeDevice(store(), (await makeAccount(store())).key)).key;
  const claim = (notice: Notice, limit = 100, day = today) => store().notices.claim(notice.key, now, { day, limit });
  const find = (notice: Notice) => store().notices.find(notice.device, notice.id);
  const count = (key: number, day = today) => store().daily.sent(key, day);
  const due = async (key: number, channel: NewNotice["target"]["channel"], at: number) =>
    (await store().notices.due(channel, at, { limit: 10_000 })).notices.filter((notice) => notice.device === key);

  describe("notices of a day", () => {
    it("that are claimed at once take no more places than the day has", async () => {
      const key = await device();
      const alert = newAlert(key, 1);
      const wishes = Array.from({ length: 100 }, (_, index) => newNotice(alert, { target: index % 2 ? sms : email }));
      await commitAlerts(store(), key, [alert], wishes);
      const notices = await store().notices.list(key, { limit: 100 });
      const answers = await Promise.all(
        notices.map((notice) => claim(notice, notice.target.channel === "sms" ? 10 : 7)),
      );
      const claimed = (channel: string) =>
        answers.filter((answer, index) => answer === "claimed" && notices[index]?.target.channel === channel).length;
      assert.deepEqual([claimed("sms"), claimed("email")], [10, 7]);
      assert.deepEqual(await count(key), { sms: 10, email: 7 });
      const suppressed = await store().notices.list(key, { limit: 100, states: ["suppressed"] });
      assert.equal(suppressed.length, 83);
      for (const { reason, finishedAt, attempts, countedDay } of suppressed) {
        assert.match(reason ?? "", /^daily (e-mail|SMS) limit reached$/);
        assert.deepEqual([finishedAt, attempts, countedDay], [now, 0, null]);
      }
    });

    it("of webhooks and commands take no place, nor do those that are claimed without a day", async () => {
      const key = await device();
      for (const target of [webhook, command])
        assert.equal(await claim(await makeNotice(store(), key, { target }), 0), "claimed");
      const notice = await makeNotice(store(), key);
      assert.equal(await store().notices.claim(notice.key, now, undefined), "claimed");
      await store().notices.finish(notice.key, failed, now);
      assert.deepEqual(await count(key), { sms: 0, email: 0 });
    });

    it("keep their place while they wait for another try, and give it back if they fail", async () => {
      const key = await device();
      const notice = await makeNotice(store(), key, { target: sms });
      assert.equal(await claim(notice, 1), "claimed");
      await store().notices.finish(notice.key, again, now);
      assert.deepEqual(await find(notice), {
        ...notice,
        attempts: 1,
        reason: "busy",
        dueAt: again.dueAt,
        countedDay: today,
      });
      assert.deepEqual(await due(key, "sms", again.dueAt - 1), []);
      assert.equal(await claim(await makeNotice(store(), key, { target: sms }), 1), "limit");
      assert.equal(await claim(notice, 1), "claimed");
      assert.deepEqual(await count(key), { sms: 1, email: 0 });
      await store().notices.finish(notice.key, failed, now + 1);
      const ended = await find(notice);
      assert.deepEqual([ended?.state, ended?.reason, ended?.countedDay], ["failed", "refused", null]);
      assert.deepEqual(await count(key), { sms: 0, email: 0 });
      assert.equal(await claim(await makeNotice(store(), key, { target: sms }), 1), "claimed");
    });

    it("take a place of the day on which they are tried", async () => {
      const key = await device();
      const notice = await makeNotice(store(), key);
      assert.equal(await claim(notice, 1, yesterday), "claimed");
      await store().notices.finish(notice.key, again, now);
      assert.equal(await claim(notice, 1), "claimed");
      assert.deepEqual(
        [await count(key, yesterday), await count(key)].map((day) => day.email),
        [0, 1],
      );
      await store().notices.finish(notice.key, again, now);
      assert.equal(await claim(notice, 0, "2026-11-22"), "limit");
      const ended = await find(notice);
      assert.deepEqual([ended?.state, ended?.attempts, ended?.countedDay], ["suppressed", 2, null]);
      assert.equal((await count(key)).email, 0);
    });

    it("give back their places only once if the rest of the day is kept for critical alerts", async () => {
      const key = await device();
      const ask = (notice: Notice, limit: number, count: number) =>
        store().notices.claim(notice.key, now, { day: today, limit, count, whole: { limit: 10, accountLimit: 10 } });
      const other = await makeNotice(store(), key, { target: sms });
      assert.equal(await ask(other, 8, 4), "claimed");
      const grown = await makeNotice(store(), key, { target: sms });
      assert.equal(await ask(grown, 8, 2), "claimed");
      await store().notices.finish(grown.key, again, now);
      // Its text is longer now.
      assert.equal(await ask(grown, 8, 5), "limit");
      assert.match((await find(grown))?.reason ?? "", /the rest is kept for critical alerts$/);
      assert.deepEqual(await count(key), { email: 0, sms: 4 });
      assert.equal((await store().daily.sentOfAccount(grown.account, today)).sms, 4);
    });
  });
}
