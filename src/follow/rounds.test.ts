import assert from "node:assert/strict";
import { test } from "node:test";
import { device as registered } from "../../test/support/records.ts";
import { FollowedDevice } from "./followed-device.ts";
import { Rounds } from "./rounds.ts";

test("accounts take turns, and so do the devices of each", async () => {
  const left = new Map<number, number>();
  const turns: number[] = [];
  const over = Promise.withResolvers<void>();
  let now = 0;
  const rounds = new Rounds({
    clock: { now: () => now, monotonic: () => now },
    fullness: () => 0,
    fold({ key }) {
      now += 1;
      turns.push(key);
      const more = (left.get(key) ?? 0) - 1;
      left.set(key, more);
      if ([...left.values()].every((one) => one === 0)) over.resolve();
      return more > 0;
    },
  });
  for (const [key, accountKey, times] of [
    [1, 1, 3],
    [2, 1, 1],
    [3, 1, 1],
    [4, 2, 2],
  ] as const) {
    const device = new FollowedDevice(key);
    device.device = registered({ key, id: `d${key}`, accountKey });
    left.set(key, times);
    rounds.add(device);
  }
  await over.promise;
  assert.deepEqual(turns, [1, 4, 2, 4, 3, 1, 1]);
});
