import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { AlertRuleFields } from "../../../src/model/alert-rule.ts";
import type { Zone } from "../../../src/model/geofence.ts";
import type { NamedByRule } from "../../../src/ports/alert-store.ts";
import type { Store } from "../../../src/ports/store.ts";
import { geofenceFields, order, person, ruleFields, target } from "./alert-values.ts";
import { makeAccount, now, unique } from "./harness.ts";

const text = fc.string({ unit: "grapheme", maxLength: 30 });
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value));
const corner = fc.tuple(number, number);

const someZone: fc.Arbitrary<Zone> = fc.oneof(
  fc.record({ kind: fc.constant("circle" as const), center: corner, radius: number }, { noNullPrototype: true }),
  fc.record(
    { kind: fc.constant("polygon" as const), rings: fc.array(fc.array(corner), { maxLength: 3 }) },
    { noNullPrototype: true },
  ),
  fc.record({ kind: fc.constant("route" as const), line: fc.array(corner), width: number }, { noNullPrototype: true }),
);

/** A rule with everything that a rule may have. */
function fullRule(name: string): AlertRuleFields {
  const abroad = { ...person, language: "es" as const, timeZone: "Europe/Madrid", units: "imperial" as const };
  return {
    ...ruleFields({ name, devices: ["d", unique("none-")], groups: ["g"], critical: true, text: "{{DeviceName}} ñ" }),
    type: "attributeEqual",
    parameters: { attribute: "door", value: false },
    enabled: false,
    schedule: { days: ["monday", "sunday"], from: "22:00", to: "06:00", timeZone: null },
    conditions: [
      { attribute: "speed", operator: "greater", value: 3.5 },
      { zone: "z", operator: "outside" },
    ],
    hysteresis: { holdSeconds: 60, rearmAt: -1.5, cooldownSeconds: 300 },
    channels: { email: [person, abroad], sms: [abroad], webhook: [target] },
    commands: [order],
    notifyWhenOver: true,
    notifyOnlyWhenOver: true,
  };
}

/** Rules and zones of accounts. */
export function ruleContract(store: () => Store, reopen: () => Promise<void>): void {
  describe("alert rules", () => {
    const account = async () => (await makeAccount(store())).key;
    const make = async (accountKey: number, fields = ruleFields()) => {
      const rule = await store().alertRules.create(accountKey, 5, unique("rule-"), fields, now);
      return rule;
    };

    it("keep every field, over a restart too, and grow a revision with each change", async () => {
      const key = await account();
      const fields = fullRule(unique("rule "));
      const rule = await make(key, fields);
      const about = { accountKey: key, key: rule.key, id: rule.id, creation: now };
      assert.deepEqual(rule, { ...fields, ...about, revision: 1, userKey: 5, modification: now });
      await reopen();
      assert.deepEqual(await store().alertRules.find(rule.id), rule);
      const other = ruleFields();
      const changed = await store().alertRules.replace(rule.key, 2 ** 40, other, now + 1);
      assert.deepEqual(changed, { ...other, ...about, revision: 2, userKey: 2 ** 40, modification: now + 1 });
      assert.deepEqual(await store().alertRules.find(rule.id), changed);
      assert.equal(await store().alertRules.find("nobody's"), undefined);
      assert.equal(await store().alertRules.replace(999_999_999, 1, other, now), undefined);
    });

    it("are listed in the order of their making, each with its own account", async () => {
      const [one, other, none] = [await account(), await account(), await account()];
      const made = [];
      for (let count = 0; count < 120; count++) made.push(await make(one, ruleFields({ name: String(count % 7) })));
      const foreign = await make(other);
      assert.deepEqual(await store().alertRules.list(one), made);
      assert.deepEqual(await store().alertRules.list(other), [foreign]);
      const accounts = await store().alertRules.accounts();
      assert.deepEqual(
        [one, other, none].map((key) => accounts.includes(key)),
        [true, true, false],
      );
      assert.equal(new Set(accounts).size, accounts.length);
      assert.equal(await store().alertRules.remove(foreign.key), true);
      assert.equal(await store().alertRules.remove(foreign.key), false);
      assert.equal((await store().alertRules.accounts()).includes(other), false);
      assert.notEqual((await make(other)).key, foreign.key);
    });

    it("are found by some of their ids, those of the account alone", async () => {
      const [key, other] = [await account(), await account()];
      const [first, second, third] = [await make(key), await make(key), await make(key)];
      const foreign = await make(other);
      const ids = [third.id, foreign.id, first.id, "nobody's", first.id];
      assert.deepEqual(await store().alertRules.some(key, ids), [first, third]);
      assert.deepEqual(await store().alertRules.some(key, []), []);
      assert.deepEqual(await store().alertRules.some(other, [second.id]), []);
    });

    it("are found and counted by a device or group that they watch, and by a zone that they name", async () => {
      const [key, other] = [await account(), await account()];
      const zones = (...ids: string[]): AlertRuleFields => ({
        ...ruleFields(),
        type: "forbiddenZone",
        parameters: { zones: ids },
      });
      const conditions = [
        { zone: "z1", operator: "inside" as const },
        { zone: "z1", operator: "outside" as const },
        { attribute: "zone", operator: "equal" as const, value: "z2" },
      ];
      const [one, two] = [await make(key), await make(key, ruleFields({ devices: ["d", "e"], groups: ["d"] }))];
      const [zoned, both] = [await make(key, zones("z1", "z2")), await make(key, { ...zones("z1"), conditions })];
      await make(other, { ...zones("z1"), conditions, groups: ["d"] });
      const plain = { limit: 10, bytes: 1_000_000 };
      const found = async (named: NamedByRule) => {
        const { rows, more } = await store().alertRules.page(key, plain, named);
        assert.equal(more, false);
        assert.equal(await store().alertRules.count(key, named), rows.length);
        return rows;
      };
      assert.deepEqual(await found({ watched: [{ device: "d" }] }), [one, two, zoned, both]);
      assert.deepEqual(await found({ watched: [{ device: "e" }] }), [two]);
      assert.deepEqual(await found({ watched: [{ group: "d" }] }), [two]);
      assert.deepEqual(await found({ watched: [{ device: "e" }, { group: "d" }, { device: "x" }] }), [two]);
      assert.deepEqual(await found({ watched: [] }), []);
      const many = Array.from({ length: 40_000 }, (_, index) => ({ group: `g${index}` }));
      assert.deepEqual(await found({ watched: [...many, { device: "e" }] }), [two]);
      assert.deepEqual(await found({ watched: [{ group: "e" }] }), []);
      assert.deepEqual(await found({ zone: "z1" }), [zoned, both]);
      assert.deepEqual(await found({ zone: "z2" }), [zoned]);
      assert.deepEqual(await found({ zone: "d" }), []);
      // A part of them, and the next one.
      const first = await store().alertRules.page(key, { ...plain, limit: 1 }, { zone: "z1" });
      assert.deepEqual(first, { rows: [zoned], more: true });
      const next = await store().alertRules.page(key, { ...plain, after: zoned.key }, { zone: "z1" });
      assert.deepEqual(next, { rows: [both], more: false });
      const replaced = await store().alertRules.replace(zoned.key, 8, zones("z3"), now);
      assert.deepEqual(await found({ zone: "z3" }), [replaced]);
      assert.deepEqual(await found({ zone: "z2" }), []);
      await store().alertRules.remove(both.key);
      assert.deepEqual(await found({ zone: "z1" }), []);
      assert.deepEqual(await found({ watched: [{ device: "d" }] }), [one, two, replaced]);
    });

    it("are exchanged together or not at all", async () => {
      const [key, other] = [await account(), await account()];
      const [gone, stays, changes] = [await make(key), await make(key), await make(key)];
      const foreign = await make(other);
      const fields = ruleFields();
      const fresh = [1, 2].map(() => ({ id: unique("rule-"), fields: ruleFields() }));
      const change = {
        remove: [gone.key, foreign.key, 999_999_999],
        replace: [changes.key, gone.key, foreign.key].map((one) => ({ key: one, fields })),
        create: fresh,
      };
      // A repeated id is refused by the table, after the removals.
      const twice = { ...change, create: [...fresh, ...fresh] };
      await assert.rejects(store().alertRules.exchange(key, 8, twice, now + 1));
      assert.deepEqual(await store().alertRules.list(key), [gone, stays, changes]);
      const rules = await store().alertRules.exchange(key, 8, change, now + 1);
      assert.deepEqual(rules[0], { ...changes, ...fields, revision: 2, userKey: 8, modification: now + 1 });
      assert.deepEqual(
        rules.slice(1).map(({ id, name }) => ({ id, name })),
        fresh.map(({ id, fields: { name } }) => ({ id, name })),
      );
      assert.deepEqual(await store().alertRules.list(key), [stays, ...rules]);
      assert.deepEqual(await store().alertRules.list(other), [foreign]);
      const fewer = { remove: [stays.key], replace: [], create: [] };
      assert.deepEqual(await store().alertRules.exchange(key, 8, fewer, now), []);
    });

    it("come back as they were, whatever their texts and numbers", async () => {
      const key = await account();
      const some = fc.record({ name: text, note: text, value: fc.oneof(number, text, fc.boolean()) });
      await fc.assert(
        fc.asyncProperty(some, async ({ name, note, value }) => {
          const fields = { ...fullRule(name), text: note, parameters: { attribute: note, value } };
          const rule = await make(key, { ...fields, type: "attributeEqual" });
          assert.deepEqual(await store().alertRules.find(rule.id), rule);
          assert.deepEqual([rule.name, rule.text, rule.parameters], [name, note, fields.parameters]);
          await store().alertRules.remove(rule.key);
        }),
        { numRuns: 25 },
      );
    });
  });
  geofenceContract(store, reopen);
}

function geofenceContract(store: () => Store, reopen: () => Promise<void>): void {
  describe("geofences", () => {
    const account = async () => (await makeAccount(store())).key;
    const make = async (accountKey: number, fields = geofenceFields()) => {
      const geofence = await store().geofences.create(accountKey, unique("zone-"), fields, now);
      return geofence;
    };

    it("come back as they were, over a restart too", async () => {
      const key = await account();
      const some = fc.record({ name: text, description: fc.option(text), zone: someZone }, { noNullPrototype: true });
      const made = new Map<string, unknown>();
      await fc.assert(
        fc.asyncProperty(some, async (fields) => {
          const geofence = await make(key, fields);
          const about = { accountKey: key, key: geofence.key, id: geofence.id, creation: now, modification: now };
          assert.deepEqual(geofence, { ...fields, ...about });
          made.set(geofence.id, geofence);
        }),
        { numRuns: 30 },
      );
      await reopen();
      assert.deepEqual(await store().geofences.list(key), [...made.values()]);
      for (const [id, geofence] of made) assert.deepEqual(await store().geofences.find(id), geofence);
    });

    it("hold as many corners as a zone may have", async () => {
      const ring = Array.from({ length: 10_000 }, (_, index): [number, number] => [index / 1e4, index / -3 + 90]);
      const zone = { kind: "polygon" as const, rings: [ring] };
      const geofence = await make(await account(), geofenceFields({ zone }));
      assert.deepEqual((await store().geofences.find(geofence.id))?.zone, zone);
    });

    it("know the positions of the large ones of an account together", async () => {
      const [key, other] = [await account(), await account()];
      const corners = (count: number) => Array.from({ length: count }, (_, index): [number, number] => [index, 0]);
      const route = (count: number) => geofenceFields({ zone: { kind: "route", line: corners(count), width: 1 } });
      const rings = geofenceFields({ zone: { kind: "polygon", rings: [corners(40), corners(20)] } });
      const circle = geofenceFields({ zone: { kind: "circle", center: [0, 0], radius: 1 } });
      assert.equal(await store().geofences.positions(key, 0), 0);
      const [large, , polygon] = [await make(key, route(51)), await make(key, route(50)), await make(key, rings)];
      await make(key, circle);
      await make(other, route(70));
      assert.equal(await store().geofences.positions(key, 50), 111);
      assert.equal(await store().geofences.positions(key, 0), 162);
      assert.equal(await store().geofences.positions(key, 50, polygon.key), 51);
      await store().geofences.replace(large.key, circle, now);
      assert.equal(await store().geofences.positions(key, 50), 60);
      await store().geofences.remove(polygon.key);
      assert.equal(await store().geofences.positions(key, 50), 0);
    });

    it("are replaced and removed", async () => {
      const [key, other] = [await account(), await account()];
      const create = () => store().geofences.create(key, unique("zone-"), geofenceFields(), now);
      const made = await Promise.all(Array.from({ length: 4 }, create));
      assert.deepEqual(await store().geofences.list(other), []);
      const [first, second] = made;
      assert.ok(first !== undefined && second !== undefined);
      const fields = geofenceFields({ description: "ñ" });
      const replaced = await store().geofences.replace(first.key, fields, now + 1);
      assert.deepEqual(replaced, { ...first, ...fields, modification: now + 1 });
      assert.deepEqual(await store().geofences.find(first.id), replaced);
      assert.equal(await store().geofences.replace(999_999_999, fields, now), undefined);
      assert.equal(await store().geofences.remove(second.key), true);
      assert.equal(await store().geofences.remove(second.key), false);
      assert.equal(await store().geofences.find(second.id), undefined);
    });
  });
}
