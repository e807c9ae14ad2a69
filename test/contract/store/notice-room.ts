import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import type { NewNotice, Notice } from "../../../src/model/notice.ts";
import type { Store } from "../../../src/ports/store.ts";
import { commitAlerts, newAlert, newNotice, sms } from "./alert-values.ts";
import { makeAccount, makeDevice, now, today } from "./harness.ts";

const most = 10_000;

/** How many notices of one device are kept. */
export function noticeRoomContract(store: () => Store): void {
  const made: number[] = [];
  const device = async () => {
    const { key } = await makeDevice(store(), (await makeAccount(store())).key);
    made.push(key);
    return key;
  };
  const list = (key: number) => store().notices.list(key, { limit: 2 * most });
  const make = async (key: number, count: number, changes: Partial<NewNotice> = {}) => {
    const alert = newAlert(key, 1);
    const notices = Array.from({ length: count }, () => newNotice(alert, changes));
    await commitAlerts(store(), key, [alert], notices);
    return notices.map(({ id }) => id);
  };
  const ended = { state: "suppressed", reason: "too early" } as const;
  /** What is said of those that were given up. */
  const makeRoom = async () => {
    const given: { readonly device: number; readonly channel: string }[] = [];
    for (let more = true; more; ) {
      const room = await store().notices.makeRoom(now + 5);
      given.push(...room.givenUp);
      more = room.more;
    }
    return given;
  };
  const inState = (notices: readonly Notice[], state: Notice["state"]) =>
    notices.filter((notice) => notice.state === state);

  describe("notices of one device", () => {
    // Other tests look at all that wait.
    afterEach(async () => {
      for (const key of made.splice(0)) await store().devices.remove(key);
    });

    it("are bounded: the oldest that ended go, and none that waits", async () => {
      const [key, other] = [await device(), await device()];
      const waiting = await make(key, 600);
      const [oldest = "", second = ""] = await make(key, 1001, ended);
      const others = await make(other, 3, ended);
      await makeRoom();
      await make(key, most - 1600, ended);
      assert.deepEqual(await makeRoom(), []);
      const kept = await list(key);
      assert.equal(kept.length, most);
      assert.deepEqual(
        inState(kept, "queued").map(({ id }) => id),
        waiting.toReversed(),
      );
      assert.equal(await store().notices.find(key, oldest), undefined);
      assert.equal((await store().notices.find(key, second))?.state, "suppressed");
      assert.deepEqual(
        (await list(other)).map(({ id }) => id),
        others.toReversed(),
      );
      assert.deepEqual(await store().notices.makeRoom(now), { givenUp: [], more: false });
    });

    it("that wait fail where they alone are too many, the oldest first, and give back their places", async () => {
      const key = await device();
      const { notices, daily } = store();
      const places = { day: today, limit: 10 };
      await make(key, 2, { target: sms });
      const [again, sending] = (await list(key)).toReversed();
      assert.ok(again !== undefined && sending !== undefined);
      for (const notice of [again, sending]) assert.equal(await notices.claim(notice.key, now, places), "claimed");
      const busy = { state: "queued", reason: "busy", peerId: null, dueAt: now } as const;
      await notices.finish(again.key, busy, now);
      await make(key, most + 598, { target: sms });
      const given = await makeRoom();
      assert.deepEqual(given, Array(600).fill({ device: key, channel: "sms" }));
      const kept = await list(key);
      assert.equal(inState(kept, "queued").length, most - 1);
      assert.deepEqual(
        inState(kept, "sending").map(({ id }) => id),
        [sending.id],
      );
      const failed = inState(kept, "failed");
      // Nobody would see why, were they all deleted at once.
      assert.ok(failed.length > 0 && failed.length <= most / 20);
      for (const { reason, finishedAt } of failed)
        assert.deepEqual([reason, finishedAt], ["too many notices of the device wait", now + 5]);
      assert.ok(failed.every((notice) => kept.slice(0, most - 1).every((later) => later.key > notice.key)));
      assert.deepEqual(await daily.sent(key, today), { email: 0, sms: 1 });
      assert.equal(await notices.claim(failed[0]?.key ?? 0, now, undefined), "gone");
    });
  });
}
