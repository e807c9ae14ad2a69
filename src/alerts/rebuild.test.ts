import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { silentLog } from "../../test/support/silent-log.ts";
import type { DeviceKey } from "../model/device.ts";
import { noTotals } from "../model/location.ts";
import { type DeviceStore, StoreUnavailable } from "../ports/store.ts";
import { Rebuild } from "./rebuild.ts";
import type { AccountRules } from "./rule-book.ts";

const settled = async () => {
  for (let at = 0; at < 20_000; at++) await Promise.resolve();
};

/**
 * Makes the timers of an account with five hundred devices, of which some are damaged. `asked`: how often standings
 * were read. `errors`: lines of the log.
 */
async function rebuilt(context: TestContext, isDamaged: (device: DeviceKey) => boolean) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const told = { asked: 0, errors: 0, made: new Set<DeviceKey>() };
  const standings = async (devices: readonly DeviceKey[]) => {
    told.asked++;
    if (devices.some(isDamaged)) throw new StoreUnavailable("a page can't be read", undefined, "damaged");
    return devices.map(() => ({ time: 0, totals: noTotals }));
  };
  const devices = Array.from({ length: 500 }, (_, at) => ({ key: at + 1, id: `device-${at + 1}` }));
  const sources = {
    alertRules: { accounts: async () => [1] },
    devices: { list: async () => devices } as unknown as Pick<DeviceStore, "list">,
    standings,
    log: { ...silentLog, error: () => void told.errors++ },
  };
  const rules = [{ timed: true }];
  const account = { rules, rulesOf: () => rules } as unknown as AccountRules;
  const rebuild = new Rebuild(sources, {
    prepare: async () => account,
    follows: () => true,
    turn: () => 1,
    set: ({ key }) => void told.made.add(key),
    keepOnly: () => undefined,
  });
  rebuild.start();
  context.after(() => rebuild.stop());
  await settled();
  return told;
}

test("a device whose state is damaged keeps no other device of its account from having timers, and is not asked for again and again", async (context) => {
  const told = await rebuilt(context, (device) => device === 250);
  assert.deepEqual([told.made.size, told.made.has(250)], [499, false]);
  const before = told.asked;
  context.mock.timers.tick(60_000);
  await settled();
  assert.equal(told.asked, before);
});

test("hundreds of devices whose states are damaged make one line of the log", async (context) => {
  const told = await rebuilt(context, (device) => device > 100);
  assert.equal(told.made.size, 100);
  assert.equal(told.errors, 1);
});
