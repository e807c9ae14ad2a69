import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { freshRecord } from "../../test/support/fresh-record.ts";
import { silentLog } from "../../test/support/silent-log.ts";
import { StoreUnavailable } from "../ports/store.ts";
import { Commits } from "./commits.ts";
import { DeviceFold } from "./device-fold.ts";
import { FollowedDevice } from "./followed-device.ts";

/** Commits into a store that fails as told, by a clock that a test moves. */
function world(context: TestContext, failure: (devices: readonly number[]) => Error | undefined) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  let looks = 0;
  const tries: number[] = [];
  const clock = {
    now: () => now,
    monotonic: () => {
      looks++;
      return now;
    },
  };
  const store = {
    async commit(batch: readonly { readonly device: number }[]) {
      tries.push(now);
      const error = failure(batch.map(({ device }) => device));
      if (error !== undefined) throw error;
    },
  };
  const places: number[] = [];
  const commits = new Commits({
    ...{ store, clock, log: silentLog },
    committed() {},
    followed: (place) => void places.push(place),
  });
  const pass = async (ms: number) => {
    for (const end = now + ms; now < end; ) {
      now += 10;
      context.mock.timers.tick(10);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    }
  };
  const followed = (key: number) => {
    const device = new FollowedDevice(key);
    device.fold = new DeviceFold();
    return device;
  };
  return { commits, tries, places, pass, followed, looks: () => looks };
}

test("a finding whose own commit fails is tried again after its pause, and nothing wakes for it before", async (context) => {
  const { commits, tries, pass, followed, looks } = world(context, () => new Error("too large"));
  commits.changed(followed(1), true);
  await pass(900);
  assert.deepEqual(tries, [20]);
  await pass(2500);
  assert.equal(tries.length, 3);
  const before = looks();
  await pass(500);
  assert.equal(looks(), before);
});

test("a device that failed is not looked at all the time when it has waited for long", async (context) => {
  const { commits, pass, followed, looks } = world(context, () => new Error("too large"));
  commits.changed(followed(1), false);
  await pass(100_000);
  const before = looks();
  await pass(1000);
  assert.ok(looks() - before < 20);
});

test("while the store is down it has its pause, whatever is found meanwhile", async (context) => {
  const { commits, tries, pass, followed } = world(context, () => new StoreUnavailable("down", undefined, "down"));
  for (let key = 0; key < 100; key++) {
    commits.changed(followed(key), true);
    await pass(20);
  }
  assert.ok(tries.length <= 3, `${tries.length} tries`);
});

test("what waits to be folded does not count as followed, and holds up no commit of what is", async (context) => {
  const { commits, places, pass, followed, tries } = world(context, () => undefined);
  const device = followed(1);
  commits.reached(5);
  commits.changed(device, true);
  commits.reached(6);
  device.wait([freshRecord(1)], 1000, 6);
  commits.changed(device);
  await pass(100);
  assert.equal(tries.length, 1);
  assert.equal(places.at(-1), 5);
  device.takeWaiting(1);
  device.version++;
  commits.changed(device, true);
  await pass(100);
  assert.equal(places.at(-1), 6);
  assert.equal(commits.size, 0);
});

test("a stop commits what changed during the commit under way, and ends though records wait", async (context) => {
  let during = () => {};
  const { commits, places, followed, tries } = world(context, () => {
    during();
    return undefined;
  });
  commits.reached(1);
  const [waits, changes] = [followed(1), followed(2)];
  waits.wait([freshRecord(1)], 1000, 1);
  commits.changed(waits);
  commits.changed(changes);
  during = () => {
    during = () => {};
    commits.reached(2);
    changes.version++;
    commits.changed(changes);
  };
  await commits.stop();
  assert.deepEqual([tries.length, commits.size, places.at(-1)], [2, 1, 0]);
});
