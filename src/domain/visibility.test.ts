import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryBus } from "../../test/support/bus.ts";
import { userOf } from "../../test/support/users.ts";
import type { Device } from "../model/device.ts";
import { noIdentityRules } from "../model/device.ts";
import type { Group } from "../model/group.ts";
import { createVisibility } from "./visibility.ts";

const user = userOf({ group: "Fleet" });
const device = (id: string, accountKey = 1): Device => ({
  key: 1,
  accountKey,
  id,
  aliases: [],
  name: id,
  description: null,
  min: null,
  tags: {},
  expires: null,
  dailyEmailLimit: 0,
  dailySmsLimit: 0,
  odometerStart: 0,
  identity: noIdentityRules,
  positionDays: null,
  timeOffset: 0,
  speedUnit: null,
  spoken: [],
  creation: 0,
  modification: 0,
});
const group = (id: string, name: string, devices: readonly string[] | null): Group => ({
  key: 1,
  id,
  accountKey: 1,
  name,
  description: null,
  devices,
  creation: 0,
  lastModified: 0,
});

function build(groups: Group[]) {
  let reads = 0;
  let time = 0;
  const bus = createMemoryBus();
  const page = async (accountKey: number, _ask: unknown, named?: string) => {
    reads++;
    const own = groups.filter((one) => one.accountKey === accountKey);
    return { rows: own.filter(({ id, name }) => id === named || name === named), more: false };
  };
  const visibility = createVisibility({ groups: { page }, bus, clock: { now: () => 0, monotonic: () => time } });
  const pass = (ms: number) => {
    time += ms;
  };
  return { visibility, bus, groups, pass, reads: () => reads };
}

test("groups are read once, and then answered at once until one changes or they are old", async () => {
  const { visibility, bus, groups, pass, reads } = build([group("g", "Fleet", ["a"])]);
  assert.deepEqual(await Promise.all([visibility.sees(user, device("a")), visibility.sees(user, device("b"))]), [
    true,
    false,
  ]);
  assert.equal(visibility.sees(user, device("a")), true);
  assert.equal(reads(), 1);
  assert.equal(await visibility.sees({ ...user, group: "g" }, device("a")), true);
  assert.equal(reads(), 2);
  groups.splice(0, 1, group("g", "Fleet", ["b"]));
  bus.publish({ type: "groupChanged", accountKey: 2 });
  assert.equal(visibility.sees(user, device("a")), true);
  bus.publish({ type: "groupChanged", accountKey: 1 });
  assert.equal(await visibility.sees(user, device("a")), false);
  assert.equal(reads(), 3);
  pass(30_000);
  assert.ok(visibility.sees(user, device("b")) instanceof Promise);
});

test("who needs no group is answered without reading any", () => {
  const { visibility, reads } = build([]);
  const admin = { ...user, privileges: ["admin"] };
  assert.equal(visibility.sees(admin, device("x")), true);
  assert.equal(visibility.sees(admin, device("x", 2)), false);
  assert.equal(visibility.sees({ ...user, deviceId: "x" }, device("x")), true);
  assert.equal(visibility.sees({ ...user, deviceId: "x" }, device("x", 2)), false);
  assert.equal(visibility.sees({ ...user, group: null }, device("x")), false);
  assert.deepEqual(visibility.scope({ ...user, group: null, deviceId: "x" }), { all: false, ids: new Set(["x"]) });
  assert.equal(reads(), 0);
});

test("a name means all groups that have it; one that none has grants nothing", async () => {
  const { visibility } = build([group("g", "Fleet", ["a"]), group("h", "Fleet", ["b"]), group("Fleet2", "x", null)]);
  const ids = async (reference: string, deviceId: string | null = null) =>
    [...(await visibility.scope({ ...user, group: reference, deviceId })).ids].join();
  assert.equal(await ids("Fleet", "c"), "a,b,c");
  assert.equal(await ids("h"), "b");
  assert.equal(await ids("Fleet2"), "");
  assert.equal(await ids("fleet", "c"), "c");
});
