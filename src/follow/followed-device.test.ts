import assert from "node:assert/strict";
import { test } from "node:test";
import { freshRecord as record, driveStart as start } from "../../test/support/fresh-record.ts";
import { silentLog } from "../../test/support/silent-log.ts";
import { DeviceFold } from "./device-fold.ts";
import { FollowedDevice } from "./followed-device.ts";
import { Unread } from "./unread.ts";

test("nothing of a device is committed while something older than what waits is to be read", () => {
  const followed = new FollowedDevice(1);
  followed.fold = new DeviceFold();
  followed.wait([record(1)], 1000, 1);
  assert.ok(followed.commit !== undefined);
  followed.unread = { from: 0, to: 1 };
  assert.equal(followed.commit, undefined);
});

test("what waits counts as late in the head", () => {
  const followed = new FollowedDevice(1);
  followed.fold = new DeviceFold();
  followed.wait([record(1), record(5)], 1e6, 1);
  const late = followed.head?.late.map(({ from, to }) => [from, to]);
  assert.deepEqual(late, [[start + 1000, start + 5000]]);
});

test("a rest that the head has passed meanwhile is late, and no backlog any more", async () => {
  const followed = new FollowedDevice(1);
  followed.fold = new DeviceFold();
  followed.fold.take([record(50)], () => undefined);
  followed.isCatchingUp = true;
  followed.addUnread({ from: start, to: start + 10_000 });
  const unread = new Unread({
    ...{ register: async () => undefined, read: async () => [] },
    ...{ watches: () => true, log: silentLog },
  });
  await unread.read([followed]);
  assert.deepEqual([followed.isRead, followed.isCatchingUp, followed.fold.isLate], [true, false, true]);
});

test("what waits keeps the appends that brought it, and what was read from the store comes before what is newer", () => {
  const followed = new FollowedDevice(1);
  followed.fold = new DeviceFold();
  followed.wait([record(1), record(2)], 1e6, 5);
  followed.wait([record(3), record(4)], 1e6, 6);
  const secondsOf = (some: readonly { readonly time: number }[]) => some.map(({ time }) => (time - start) / 1000);
  assert.deepEqual(secondsOf(followed.takeWaiting(1)), [1]);
  assert.equal(followed.waitingFrom, 5);
  assert.deepEqual(secondsOf(followed.takeWaiting(2)), [2, 3]);
  assert.equal(followed.waitingFrom, 6);
  followed.wait([record(9)], 1e6, 8);
  followed.waitRead([record(5), record(6)], start + 5000);
  assert.equal(followed.waitingFrom, Number.NEGATIVE_INFINITY);
  assert.deepEqual(secondsOf(followed.takeWaiting(9)), [4, 5, 6, 9]);
  assert.deepEqual([followed.waitingFrom, followed.waitingBytes], [undefined, 0]);
});
