import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NewNotice, Notice } from "../../../src/model/notice.ts";
import { type DuePlace, type NoticeOutcome, noticeLeaseMs } from "../../../src/ports/alert-store.ts";
import type { Store } from "../../../src/ports/store.ts";
import {
  asStored,
  command,
  commitAlerts,
  email,
  makeNotice,
  newAlert,
  newNotice,
  person,
  sms,
  webhook,
} from "./alert-values.ts";
import { makeAccount, makeDevice, now, today } from "./harness.ts";
import { noticeDayContract } from "./notice-days.ts";
import { noticeRoomContract } from "./notice-room.ts";
import { noticePropertyContract } from "./notices-property.ts";

const sent: NoticeOutcome = { state: "sent", reason: null, peerId: "<1@mail>", dueAt: 0 };
const failed: NoticeOutcome = { state: "failed", reason: "refused", peerId: null, dueAt: 0 };
const again: NoticeOutcome = { state: "queued", reason: "busy", peerId: null, dueAt: now + 60_000 };

/** The outbox. */
export function noticeContract(store: () => Store, reopen: () => Promise<void>): void {
  const device = async () => (await makeDevice(store(), (await makeAccount(store())).key)).key;
  const claim = (notice: Notice, limit = 100, day = today) => store().notices.claim(notice.key, now, { day, limit });
  const find = (notice: Notice) => store().notices.find(notice.device, notice.id);
  const count = (key: number, day = today) => store().daily.sent(key, day);
  /** Devices of earlier tests may have notices too. */
  const due = async (key: number, channel: NewNotice["target"]["channel"], at = now, limit = 10_000) =>
    (await store().notices.due(channel, at, { limit })).notices.filter((notice) => notice.device === key);

  describe("notices", () => {
    it("keep every field, over a restart too", async () => {
      const { key, accountKey } = await makeDevice(store(), (await makeAccount(store())).key);
      const alert = newAlert(key, 1);
      const notices = [
        newNotice(alert, {
          target: { ...person, channel: "email", language: "es", timeZone: "Europe/Madrid", units: "imperial" },
        }),
        newNotice(alert, { target: sms, state: "suppressed", reason: "too early ñ" }),
        newNotice(alert, { target: webhook, dueAt: now + 5 }),
        newNotice(alert, { target: command, creation: now - 1 }),
      ];
      await commitAlerts(store(), key, [alert], notices);
      await reopen();
      const found = await store().notices.list(key, { limit: 9 });
      assert.deepEqual(
        found.toReversed(),
        notices.map((notice, index) => asStored(notice, accountKey, found.at(-1 - index)?.key ?? 0)),
      );
      for (const notice of found) assert.deepEqual(await find(notice), notice);
      assert.equal(await store().notices.find(await device(), found[0]?.id ?? ""), undefined);
      assert.equal(await store().notices.find(key, "nobody's"), undefined);
    });

    it("are listed newest first, page by page, those of some states alone", async () => {
      const key = await device();
      const made: Notice[] = [];
      for (let index = 0; index < 6; index++)
        made.unshift(await makeNotice(store(), key, index % 2 ? { state: "suppressed", reason: "r" } : {}));
      await makeNotice(store(), await device());
      assert.deepEqual(await store().notices.list(key, { limit: 9 }), made);
      assert.deepEqual(await store().notices.list(key, { limit: 2, ...afterOf(made[1]) }), made.slice(2, 4));
      const suppressed = made.filter(({ state }) => state === "suppressed");
      assert.deepEqual(await store().notices.list(key, { limit: 9, states: ["suppressed", "failed"] }), suppressed);
      const page = await store().notices.list(key, { limit: 9, states: ["suppressed"], ...afterOf(suppressed[0]) });
      assert.deepEqual(page, suppressed.slice(1));
    });

    it("are due by channel, at their time, those that wait longest first", async () => {
      const key = await device();
      const late = await makeNotice(store(), key, { dueAt: now + 10 });
      const early = await makeNotice(store(), key, { dueAt: now - 10 });
      const same = await makeNotice(store(), key, { dueAt: now - 10 });
      const hook = await makeNotice(store(), key, { target: webhook });
      await makeNotice(store(), key, { state: "suppressed", dueAt: now - 20 });
      assert.deepEqual(await due(key, "email"), [early, same]);
      assert.deepEqual(await due(key, "email", now + 10), [early, same, late]);
      assert.deepEqual(await due(key, "webhook"), [hook]);
      assert.deepEqual(await due(key, "sms"), []);
      assert.equal(await claim(early), "claimed");
      assert.deepEqual(await due(key, "email"), [same]);
    });

    it("are due page by page, and those that are known are not read again", async () => {
      const key = await device();
      const early = -9e14;
      const made: Notice[] = [];
      for (const later of [0, 0, 1, 2, 2]) made.push(await makeNotice(store(), key, { dueAt: early + later }));
      const ask = (limit: number, after?: DuePlace, besides?: ReadonlySet<number>) =>
        store().notices.due("email", early + 2, { limit, after, ...(besides && { besides }) });
      const placeOf = (notice: Notice | undefined) => notice && { dueAt: notice.dueAt, key: notice.key };
      assert.deepEqual(await ask(2), { notices: made.slice(0, 2), last: placeOf(made[1]), more: true });
      assert.deepEqual(await ask(9, placeOf(made[0])), { notices: made.slice(1), last: placeOf(made[4]), more: false });
      const known = new Set(made.slice(0, 4).map((notice) => notice.key));
      assert.deepEqual(await ask(1, undefined, known), { notices: [made[4]], last: placeOf(made[4]), more: false });
      assert.deepEqual(await ask(9, placeOf(made[4])), { notices: [], last: undefined, more: false });
      for (const notice of made) await claim(notice);
    });

    it("are due but of accounts that are not asked for, and a question goes over these to its bound", async () => {
      const early = -9.5e14;
      const [one, other] = [await device(), await device()];
      const made: Notice[] = [];
      for (const key of [one, one, other, one]) made.push(await makeNotice(store(), key, { dueAt: early }));
      const place = ({ dueAt, key }: Notice) => ({ dueAt, key });
      const [first, , third, last] = made;
      assert.ok(first !== undefined && third !== undefined && last !== undefined);
      const ask = (limit: number, ofAccount: (account: number) => boolean) =>
        store().notices.due("email", early, { limit, ofAccount });
      const besides = await ask(9, (account) => account !== first.account);
      assert.deepEqual(besides, { notices: [third], last: place(last), more: false });
      assert.deepEqual(await ask(1, (account) => account === first.account), {
        ...{ notices: [first], last: place(first), more: true },
      });
      for (const notice of made) await claim(notice);
    });

    it("tell when the next one is due", async () => {
      const key = await device();
      const earliest = -8e15;
      const notice = await makeNotice(store(), key, { dueAt: earliest + 1 });
      const first = await makeNotice(store(), key, { dueAt: earliest, target: webhook });
      assert.equal(await store().notices.nextDue(), earliest);
      assert.deepEqual((await store().notices.due("webhook", earliest, { limit: 1 })).notices, [first]);
      await claim(first);
      assert.equal(await store().notices.nextDue(), earliest + 1);
      await claim(notice);
      assert.ok((await store().notices.nextDue()) !== earliest + 1);
    });

    it("are claimed by one, and end once", async () => {
      const key = await device();
      const notice = await makeNotice(store(), key);
      const answers = await Promise.all(Array.from({ length: 10 }, () => claim(notice)));
      assert.deepEqual(answers.toSorted(), ["claimed", ...Array(9).fill("gone")]);
      assert.deepEqual(await find(notice), { ...notice, state: "sending", attempts: 1, countedDay: today });
      assert.equal(await store().notices.finish(notice.key, sent, now + 1), "recorded");
      const ended = {
        ...notice,
        state: "sent",
        attempts: 1,
        countedDay: today,
        peerId: "<1@mail>",
        finishedAt: now + 1,
      };
      assert.deepEqual(await find(notice), ended);
      for (const outcome of [failed, again])
        assert.equal(await store().notices.finish(notice.key, outcome, now + 2), "lost");
      assert.deepEqual(await find(notice), ended);
      assert.deepEqual(await count(key), { email: 1, sms: 0 });
      assert.equal(await claim(notice), "gone");
      assert.equal(await store().notices.claim(999_999_999, now, undefined), "gone");
    });

    it("of webhooks are claimed by one and end once, many at a time too", async () => {
      const key = await device();
      const alert = newAlert(key, 1);
      const wishes = Array.from({ length: 12 }, () => newNotice(alert, { target: webhook }));
      await commitAlerts(store(), key, [alert], wishes);
      const notices = await store().notices.list(key, { limit: 12 });
      const twice = notices.flatMap((notice) => [notice.key, 999_999_999, notice.key]);
      const answers = await Promise.all(twice.map((one) => store().notices.claim(one, now, undefined)));
      assert.deepEqual(
        answers,
        notices.flatMap(() => ["claimed", "gone", "gone"]),
      );
      const outcomes = [failed, again, sent, { ...failed, state: "suppressed" as const, untried: true as const }];
      const ends = notices.flatMap((notice, index) =>
        outcomes.map((_, at) => store().notices.finish(notice.key, outcomes[(index + at) % 4] ?? sent, now + at)),
      );
      await Promise.all(ends);
      assert.deepEqual(
        await store().notices.list(key, { limit: 12 }),
        notices.map((notice, index) => {
          const { state, reason, peerId, dueAt, untried } = { untried: false, ...(outcomes[index % 4] ?? sent) };
          const ended = state === "queued" ? { dueAt } : { finishedAt: now };
          return { ...notice, state, reason, peerId, attempts: untried ? 0 : 1, ...ended };
        }),
      );
      assert.deepEqual((await store().alerts.find(alert.id))?.channels, ["webhook"]);
    });

    it("that a crash left unfinished are tried again with the place they hold", async () => {
      const key = await device();
      const [left, done, waits] = [
        await makeNotice(store(), key),
        await makeNotice(store(), key),
        await makeNotice(store(), key),
      ];
      await claim(left, 2);
      await claim(done, 2);
      await store().notices.finish(done.key, sent, now);
      await reopen();
      // Of the run before, whose claims nobody can hold any more. So no lease is waited for.
      assert.equal(await store().notices.finish(left.key, sent, now), "lost");
      assert.ok((await store().notices.takeUp()) >= 1);
      assert.equal(await store().notices.takeUp(), 0);
      assert.deepEqual(await find(left), { ...left, attempts: 1, countedDay: today });
      assert.deepEqual(
        (await due(key, "email")).map(({ key: one }) => one),
        [left.key, waits.key],
      );
      assert.equal(await claim(waits, 2), "limit");
      assert.equal(await claim(left, 2), "claimed");
      assert.deepEqual(await count(key), { sms: 0, email: 2 });
    });

    it("stay claimed as long as they are worked on, and no longer", async () => {
      const key = await device();
      const [worked, left] = [await makeNotice(store(), key), await makeNotice(store(), key)];
      // What earlier tests claimed and left.
      await store().notices.takeUp();
      for (let turn = 0; turn < 3; turn++) await store().notices.renew(0, []);
      for (const notice of [worked, left]) assert.equal(await claim(notice), "claimed");
      const answers: number[] = [];
      for (const turn of [1, 2, 3, 4]) answers.push(await store().notices.renew(turn * noticeLeaseMs, [worked.key]));
      assert.deepEqual(answers, [0, 1, 0, 0]);
      assert.deepEqual([(await find(worked))?.state, (await find(left))?.state], ["sending", "queued"]);
      assert.equal(await store().notices.finish(left.key, sent, now), "lost");
      assert.equal(await store().notices.finish(worked.key, failed, now), "recorded");
      assert.deepEqual(await find(left), { ...left, attempts: 1, countedDay: today });
    });

    it("wait longer where they are postponed, and a try that was none is not counted", async () => {
      const key = await device();
      const [one, other, working] = [
        await makeNotice(store(), key),
        await makeNotice(store(), key),
        await makeNotice(store(), key),
      ];
      await claim(working);
      await store().notices.postpone([one.key, working.key, 999_999_999], now + 50);
      await store().notices.postpone([], now + 50);
      assert.deepEqual(await due(key, "email", now + 49), [other]);
      assert.deepEqual(await due(key, "email", now + 50), [other, { ...one, dueAt: now + 50 }]);
      await store().notices.finish(working.key, { ...again, untried: true }, now);
      assert.deepEqual(
        [(await find(working))?.attempts, (await find(working))?.dueAt, (await find(working))?.countedDay],
        [0, again.dueAt, today],
      );
    });

    it("that wait are counted, with the age of the oldest", async () => {
      const before = await store().notices.backlog();
      const key = await device();
      const notice = await makeNotice(store(), key, { creation: now - 5, dueAt: now + 1 });
      await makeNotice(store(), key, { state: "suppressed", creation: now - 6 });
      // Earlier tests may have left some.
      const oldest = before.oldest ?? now - 5;
      assert.deepEqual(await store().notices.backlog(), { queued: before.queued + 1, oldest });
      await claim(notice);
      assert.deepEqual(await store().notices.backlog(), before);
    });

    it("that were sent tell their alert by which channel", async () => {
      const key = await device();
      const [alert, other] = [newAlert(key, 1), newAlert(key, 2)];
      const targets = [email, email, webhook, command, sms];
      await commitAlerts(
        store(),
        key,
        [alert, other],
        targets.map((target) => newNotice(alert, { target })),
      );
      const notices = await store().notices.list(key, { limit: 9 });
      for (const notice of notices) {
        await claim(notice);
        await store().notices.finish(notice.key, notice.target.channel === "sms" ? failed : sent, now);
      }
      assert.deepEqual((await store().alerts.find(alert.id))?.channels, ["email", "webhook", "command"]);
      assert.deepEqual((await store().alerts.find(other.id))?.channels, []);
      await store().notices.prune(now + 1, 1000);
      assert.deepEqual((await store().alerts.find(alert.id))?.channels, ["email", "webhook", "command"]);
    });

    it("are queued once more by hand when they are final, and take another place", async () => {
      const key = await device();
      const notice = await makeNotice(store(), key);
      assert.equal(await store().notices.resend(notice.key, now, 1), "open");
      await claim(notice, 2);
      assert.equal(await store().notices.resend(notice.key, now, 1), "open");
      await store().notices.finish(notice.key, sent, now);
      const queued = { ...notice, dueAt: now + 9, peerId: "<1@mail>" };
      assert.deepEqual(await store().notices.resend(notice.key, now + 9, 1), queued);
      assert.deepEqual(await find(notice), queued);
      assert.equal(await claim(notice, 2), "claimed");
      assert.equal((await count(key)).email, 2);
      await store().notices.finish(notice.key, sent, now);
      assert.equal(await store().notices.resend(notice.key, now, 1), "limit");
      const never = await makeNotice(store(), key, { state: "suppressed", reason: "too early" });
      assert.deepEqual(await store().notices.resend(never.key, now, 1), {
        ...never,
        state: "queued",
        reason: null,
        finishedAt: null,
      });
      assert.equal(await claim(never, 2), "limit");
    });

    it("that ended long ago are deleted, oldest first, some at a time; open ones never", async () => {
      const key = await device();
      const open = await makeNotice(store(), key, { creation: 1, dueAt: 1 });
      const sending = await makeNotice(store(), key, { creation: 1, dueAt: 1 });
      await claim(sending);
      for (const creation of [5, 1, 4, 2, 3]) await makeNotice(store(), key, { state: "suppressed", creation });
      const left = async () =>
        (await store().notices.list(key, { limit: 9, states: ["suppressed"] })).map(({ creation }) => creation);
      assert.equal(await store().notices.prune(4, 2), 2);
      assert.deepEqual(await left(), [3, 4, 5]);
      assert.equal(await store().notices.prune(4, 2), 1);
      assert.equal(await store().notices.prune(4, 2), 0);
      assert.deepEqual(await left(), [4, 5]);
      assert.ok((await find(open)) !== undefined && (await find(sending)) !== undefined);
    });

    it("go with their device at once", async () => {
      const key = await device();
      const earliest = -8.1e15;
      const waits = await makeNotice(store(), key, { dueAt: earliest });
      const sending = await makeNotice(store(), key);
      const ended = await makeNotice(store(), key, { state: "suppressed" });
      await claim(sending);
      await store().devices.remove(key);
      assert.deepEqual(await due(key, "email"), []);
      assert.ok((await store().notices.nextDue()) !== earliest);
      assert.equal(await claim(waits), "gone");
      assert.equal(await store().notices.resend(ended.key, now, 1), "open");
      assert.deepEqual(await store().notices.list(key, { limit: 5 }), []);
      assert.equal(await find(waits), undefined);
      await store().notices.finish(sending.key, failed, now);
      assert.deepEqual(await count(key), { sms: 0, email: 0 });
    });
  });
  noticeDayContract(store);
  noticePropertyContract(store, reopen);
  noticeRoomContract(store);
}

function afterOf(notice: Notice | undefined): { readonly after?: number } {
  return notice === undefined ? {} : { after: notice.key };
}
