import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { Value } from "typebox/value";
import { GeofenceBody } from "../../src/contract/geofence.ts";
import { GroupBody } from "../../src/contract/group.ts";
import { createWatchWarnings } from "../../src/domain/alert-rule-rights.ts";
import { createGeofences } from "../../src/domain/geofences.ts";
import { createGroups } from "../../src/domain/groups.ts";
import { createVisibility } from "../../src/domain/visibility.ts";
import { whole } from "../../src/model/steps.ts";
import { systemClock, systemIds } from "../../src/observe/index.ts";
import { ChangedSince } from "../../src/ports/store.ts";
import type { PostgresRows } from "../../src/store/postgres/open.ts";
import { geofenceFields, ruleFields } from "../contract/store/alert-values.ts";
import { deviceFields, makeAccount, makeDevice, makeUser, now, unique, userFields } from "../contract/store/harness.ts";
import { createMemoryBus } from "../support/bus.ts";
import { noPostgres } from "../support/postgres.ts";
import { PostgresPair } from "../support/postgres-pair.ts";

/** What came of two changes that were judged by the same reading: how many were written. */
async function written(...changes: readonly Promise<unknown>[]): Promise<number> {
  const settled = await Promise.allSettled(changes);
  const wrong = settled.filter((one) => one.status === "rejected" && !(one.reason instanceof ChangedSince));
  assert.deepEqual(wrong, []);
  return settled.filter(({ status }) => status === "fulfilled").length;
}

describe("of two processes on one PostgreSQL database that read the same and change it", { skip: noPostgres }, () => {
  let pair: PostgresPair;
  let account = 0;
  before(async () => {
    pair = await PostgresPair.open();
    account = (await makeAccount(pair.of(0), 100_000)).key;
  });
  const both = <T>(change: (index: number) => Promise<T>) => written(...[0, 1].map(change));

  it("one writes a device", async () => {
    for (let round = 0; round < 10; round++) {
      const device = await makeDevice(pair.of(0), account);
      const change = (index: number) =>
        pair
          .of(index)
          .devices.replace(device.key, deviceFields({ id: device.id, name: `${index}` }), now, undefined, device);
      assert.equal(await both(change), 1);
      // What a tracker or the clock changes is nothing that a change is judged by.
      const read = await pair.of(0).devices.find(device.id);
      const way = { protocol: "p", transport: "tcp", since: 1, address: "", trustedAt: null, networks: [] } as const;
      await pair.of(1).devices.spoke([{ device: device.key, way }]);
      const again = await pair.of(0).devices.replace(device.key, deviceFields({ id: device.id }), now, undefined, read);
      assert.ok(typeof again === "object");
    }
  });

  it("one writes a user, or its key", async () => {
    for (let round = 0; round < 10; round++) {
      const user = await makeUser(pair.of(0), account);
      const { passwordHash: _, ...fields } = userFields(account, { email: user.email });
      const replace = (index: number) =>
        pair.of(index).users.replace(user.key, { ...fields, name: `${index}`, passwordHash: undefined }, now, user);
      const setKey = (index: number) =>
        pair.of(index).users.setApiKey(user.key, { id: `${index}`, hash: "" }, now, user);
      assert.equal(await written(replace(0), setKey(1), replace(1), setKey(0)), 1);
      const read = await pair.of(0).users.findByKey(user.key);
      await pair.of(1).users.setLastLogin(user.key, now + 1);
      assert.equal(await written(pair.of(0).users.setApiKey(user.key, null, now, read)), 1);
    }
  });

  it("one writes or removes a group", async () => {
    for (let round = 0; round < 10; round++) {
      const fields = { name: "G", description: null, devices: ["a", "b"] };
      const group = await pair.of(0).groups.create(account, unique("group-"), fields, now);
      const replace = (index: number) =>
        pair.of(index).groups.replace(group.key, { ...fields, devices: [`${index}`] }, now, group);
      const removal = pair.of(round).groups.remove(group.key, group);
      // Who comes later finds it changed, or gone.
      const changes = [replace(0), replace(1), removal.then((removed) => (removed ? "removed" : undefined))];
      const settled = await Promise.allSettled(changes);
      const done = settled.filter((one) => one.status === "fulfilled" && one.value !== undefined);
      assert.equal(done.length, 1);
      for (const one of settled) assert.ok(one.status === "fulfilled" || one.reason instanceof ChangedSince);
    }
  });

  it("one writes a zone, and the account's zones stay as small as they were judged", async () => {
    for (let round = 0; round < 10; round++) {
      const { key } = await makeAccount(pair.of(0));
      const read = { few: 0, sum: await pair.of(0).geofences.positions(key, 0) };
      const create = (index: number) =>
        pair.of(index).geofences.create(key, unique("zone-"), geofenceFields(), now, read);
      assert.equal(await both(create), 1);
      const [geofence] = await pair.of(1).geofences.list(key);
      assert.ok(geofence !== undefined);
      const replace = (index: number) =>
        pair.of(index).geofences.replace(geofence.key, geofenceFields({ name: `${index}` }), now, { geofence });
      assert.equal(await both(replace), 1);
    }
  });

  it("one writes or removes a rule", async () => {
    for (let round = 0; round < 10; round++) {
      const rule = await pair.of(0).alertRules.create(account, 1, unique("rule-"), ruleFields(), now);
      const replace = (index: number) =>
        pair.of(index).alertRules.replace(rule.key, 1, ruleFields(), now, rule.revision);
      assert.equal(await both(replace), 1);
      assert.equal(await written(pair.of(0).alertRules.remove(rule.key, rule.revision)), 0);
      assert.equal(await pair.of(0).alertRules.remove(rule.key, rule.revision + 1), true);
      assert.equal(await pair.of(0).alertRules.remove(rule.key, rule.revision + 1), false);
    }
  });

  it("one replaces all rules of a device", async () => {
    for (let round = 0; round < 10; round++) {
      const { key } = await makeAccount(pair.of(0));
      const device = unique("device-");
      const fields = ruleFields({ devices: [device], groups: [] });
      const read = { device, rules: [] };
      const exchange = (index: number) => {
        const create = [{ id: unique("rule-"), fields }];
        return pair.of(index).alertRules.exchange(key, 1, { read, remove: [], replace: [], create }, now);
      };
      assert.equal(await both(exchange), 1);
      const rules = await pair.of(0).alertRules.list(key);
      assert.equal(rules.length, 1);
      const again = (index: number) => {
        const [remove, create] = [rules.map((rule) => rule.key), [{ id: unique("rule-"), fields }]];
        return pair
          .of(index)
          .alertRules.exchange(key, 1, { read: { device, rules }, remove, replace: [], create }, now);
      };
      assert.equal(await both(again), 1);
      assert.equal((await pair.of(0).alertRules.list(key)).length, 1);
    }
  });

  it("one writes an account: its licences, or its quotas", async () => {
    for (let round = 0; round < 10; round++) {
      const made = await makeAccount(pair.of(0));
      const read = { account: made, quotas: {} };
      const replace = (index: number) =>
        pair.of(index).accounts.replace(made.key, { ...made, licenses: 5 + index }, read);
      assert.equal(await both(replace), 1);
      const next = { account: (await pair.of(0).accounts.find(made.key)) ?? made, quotas: {} };
      const limit = (index: number) =>
        pair.of(index).accounts.replace(made.key, { ...next.account, quotas: { users: 5 + index } }, next);
      assert.equal(await both(limit), 1);
    }
  });

  it("both do, one after the other, and nothing that one wrote is lost", async () => {
    const admin = { ...(await makeUser(pair.of(0), account)), privileges: ["admin"] };
    const [one, other] = [domainOf(pair.of(0)), domainOf(pair.of(1))];
    const { group } = await one.groups.create(admin, { name: "G", devices: [] });
    const { geofence } = await one.geofences.create(admin, { name: "Z", geometry: point });
    const changes = Array.from({ length: 12 }, (_, index) => {
      const { groups, geofences } = index % 2 === 0 ? one : other;
      const add = { op: "add" as const, path: "/devices/-", value: `device-${index}` };
      const field = index % 2 === 0 ? "/name" : "/description";
      const replace = { op: "replace" as const, path: field, value: `${index}` };
      return [groups.patch(admin, group.id, [add], groupOf), geofences.patch(admin, geofence.id, [replace], zoneOf)];
    });
    await Promise.all(changes.flat());
    const stored = await pair.of(0).groups.find(group.id);
    assert.deepEqual(stored?.devices?.toSorted(), changes.map((_, index) => `device-${index}`).toSorted());
    const { name, description } = await other.geofences.find(admin, geofence.id);
    assert.deepEqual([Number(name) % 2, Number(description) % 2], [0, 1]);
  });
});

const point = { type: "Point" as const, coordinates: [1, 1], radius: 1 };

/** What a process does with groups and zones. */
function domainOf(store: PostgresRows) {
  const bus = createMemoryBus();
  const deps = { store, bus, clock: systemClock, ids: systemIds };
  const visibility = createVisibility({ ...deps, groups: store.groups });
  const watchWarnings = createWatchWarnings(store, visibility);
  return {
    groups: createGroups({ ...deps, visibility, watchWarnings }),
    geofences: createGeofences({ ...deps, visibility, inTurn: async (_account, steps) => whole(steps) }),
  };
}

function groupOf(body: unknown): GroupBody {
  assert.ok(Value.Check(GroupBody, body));
  return body;
}

function zoneOf(body: unknown): GeofenceBody {
  assert.ok(Value.Check(GeofenceBody, body));
  return body;
}
