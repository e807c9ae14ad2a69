import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../test/support/silent-log.ts";
import type { DeviceKey } from "../model/device.ts";
import { neverReported } from "../model/location.ts";
import { type DeviceStore, StoreUnavailable } from "../ports/store.ts";
import { Rebuild } from "./rebuild.ts";
import type { AccountRules } from "./rule-book.ts";

test("a device whose state is damaged keeps no other device of its account from having timers, and is not asked for again and again", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const settled = async () => {
    for (let at = 0; at < 5000; at++) await Promise.resolve();
  };
  let asked = 0;
  const states = async (devices: readonly DeviceKey[]) => {
    asked++;
    if (devices.includes(250)) throw new StoreUnavailable("a page can't be read", undefined, "damaged");
    return devices.map(() => neverReported);
  };
  const devices = Array.from({ length: 500 }, (_, at) => ({ key: at + 1, id: `device-${at + 1}` }));
  const sources = {
    alertRules: { accounts: async () => [1] },
    devices: { list: async () => devices } as unknown as Pick<DeviceStore, "list">,
    locations: { states },
    log: silentLog,
  };
  const rules = [{ timed: true }];
  const account = { rules, rulesOf: () => rules } as unknown as AccountRules;
  const made = new Set<DeviceKey>();
  const rebuild = new Rebuild(sources, {
    prepare: async () => account,
    set: ({ key }) => void made.add(key),
    keepOnly: () => undefined,
  });
  rebuild.start();
  await settled();
  assert.deepEqual([made.size, made.has(250)], [499, false]);
  const before = asked;
  context.mock.timers.tick(60_000);
  await settled();
  assert.equal(asked, before);
  await rebuild.stop();
});
