import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { silentLog } from "../../test/support/silent-log.ts";
import type { Log } from "../ports/log.ts";
import { StoreUnavailable } from "../ports/store.ts";
import { DeviceFold } from "./device-fold.ts";
import { FollowedDevice } from "./followed-device.ts";
import { Refolding, type RefoldingDeps } from "./refolding.ts";

/** Turns that fail as told, by a clock that a test moves. A device without a failure is gone. */
function world(context: TestContext, failure: () => Error | undefined, changes: Partial<RefoldingDeps> = {}) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  const tries: number[] = [];
  const lines: string[] = [];
  const gone = new Set<number>();
  const write = (_fields: object, line: string) => lines.push(line);
  const log: Log = { ...silentLog, warn: write, error: write };
  const refolding = new Refolding({
    ...{ log, clock: { now: () => now, monotonic: () => now } },
    async registered() {
      tries.push(now);
      const error = failure();
      if (error !== undefined) throw error;
      return undefined;
    },
    prepare: () => assert.fail("no device is registered"),
    readsOf: () => assert.fail("no device is registered"),
    gone: ({ key }) => gone.add(key),
    over() {},
    ...changes,
  });
  const pass = async (ms: number) => {
    for (const end = now + ms; now < end; ) {
      now += 10;
      context.mock.timers.tick(10);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    }
  };
  const lateDevice = (key: number) => {
    const device = new FollowedDevice(key);
    device.fold = new DeviceFold();
    device.fold.mark(1, 1);
    refolding.late(device);
    return device;
  };
  return { refolding, tries, lines, gone, pass, lateDevice };
}

test("while the store is down all devices have growing pauses and a line each, and their turns when it is back", async (context) => {
  let isDown = true;
  const { refolding, tries, lines, gone, pass, lateDevice } = world(context, () =>
    isDown ? new StoreUnavailable("down", undefined, "down") : undefined,
  );
  for (let key = 1; key <= 100; key++) lateDevice(key);
  await pass(60_000);
  assert.ok(tries.length > 3 && tries.length <= 8, `${tries.length} tries`);
  assert.equal(lines.length, tries.length);
  for (let key = 101; key <= 200; key++) lateDevice(key);
  await pass(20_000);
  assert.ok(tries.length <= 9, `${tries.length} tries`);
  isDown = false;
  await pass(40_000);
  assert.deepEqual([gone.size, refolding.behind, refolding.lateMs], [200, 0, 0]);
});

test("a device whose turns fail has its pauses, however much of it comes late meanwhile", async (context) => {
  const device = { late: () => {} };
  const { tries, lines, pass, lateDevice, refolding } = world(context, () => new Error("a damaged page"), {
    over: () => device.late(),
  });
  const failing = lateDevice(1);
  device.late = () => refolding.late(failing);
  await pass(20_000);
  assert.ok(tries.length <= 6, `${tries.length} tries`);
  assert.equal(lines.length, 1);
});
