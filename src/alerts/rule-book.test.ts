import assert from "node:assert/strict";
import { test } from "node:test";
import type { AlertRule } from "../model/alert-rule.ts";
import type { Geofence } from "../model/geofence.ts";
import type { Log } from "../ports/log.ts";
import { RuleBook } from "./rule-book.ts";

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };

function ruleOf(key: number, devices: readonly string[], zones: readonly string[] = ["zone"]): AlertRule {
  return {
    key,
    id: `rule-${key}`,
    accountKey: 1,
    revision: 1,
    userKey: 1,
    creation: 0,
    modification: 0,
    name: "",
    enabled: true,
    devices,
    groups: ["group"],
    type: "allowedZone",
    parameters: { zones },
    schedule: null,
    conditions: [],
    hysteresis: { holdSeconds: 0, rearmAt: null, cooldownSeconds: 0 },
    channels: { email: [], sms: [], webhook: [] },
    commands: [],
    critical: false,
    text: null,
    notifyWhenOver: false,
    notifyOnlyWhenOver: false,
  };
}

const zone: Geofence = {
  key: 1,
  id: "zone",
  accountKey: 1,
  name: "Depot",
  description: null,
  zone: { kind: "circle", center: [0, 0], radius: 1 },
  creation: 0,
  modification: 0,
};

function world() {
  const state = {
    now: 0,
    reads: 0,
    down: false,
    rules: [ruleOf(1, ["a"]), ruleOf(2, ["b"])],
    zones: [zone],
    members: ["c"],
  };
  const book = new RuleBook(
    {
      alertRules: {
        list: async () => {
          state.reads++;
          if (state.down) throw new Error("down");
          return state.rules;
        },
      },
      geofences: { some: async () => state.zones },
      groups: {
        some: async () => [
          {
            key: 1,
            id: "group",
            accountKey: 1,
            name: "",
            description: null,
            devices: state.members,
            creation: 0,
            lastModified: 0,
          },
        ],
      },
      accounts: { find: async () => undefined },
    },
    { now: () => 0, monotonic: () => state.now },
    quiet,
  );
  const keys = (device: string) =>
    book
      .of(1)
      ?.rulesOf(device)
      .map(({ rule }) => rule.key);
  return { state, book, keys };
}

test("rules are read once, by device and group, and devices with the same rules share a list", async () => {
  const { state, book, keys } = world();
  await book.prepare([1]);
  assert.equal(book.prepare([1]), undefined);
  assert.equal(state.reads, 1);
  assert.deepEqual([keys("a"), keys("b"), keys("c"), keys("d")], [[1], [2], [1, 2], []]);
  assert.equal(book.of(1)?.rulesOf("d"), book.of(1)?.rulesOf("e"));
});

test("what changed is read before it is used again; what did not is kept as it is", async () => {
  const { state, book, keys } = world();
  await book.prepare([1]);
  const before = book.of(1);
  state.rules = [...state.rules.slice(0, 1), ruleOf(3, ["a"])];
  book.changed(1);
  await book.prepare([1]);
  assert.deepEqual(keys("a"), [1, 3]);
  assert.equal(book.of(1)?.rules[0], before?.rules[0]);
  assert.equal(book.of(1)?.sight, before?.sight);
});

test("what is read again and did not change is the same, with the lists that devices have", async () => {
  const { state, book } = world();
  await book.prepare([1]);
  const before = book.of(1);
  const list = before?.rulesOf("a");
  const again = async () => {
    book.changed(1);
    await book.prepare([1]);
    return book.of(1);
  };
  state.rules = state.rules.map((rule) => ({ ...rule }));
  assert.equal(await again(), before);
  assert.equal(book.of(1)?.rulesOf("a"), list);
  state.members = ["a"];
  assert.notEqual(await again(), before);
  const changed = book.of(1);
  state.zones = [{ ...zone, modification: 1 }];
  assert.notEqual(await again(), changed);
});

test("a change during the reading is not missed", async () => {
  const { state, book, keys } = world();
  const reading = book.prepare([1]);
  state.rules = [ruleOf(4, ["a"])];
  book.changed(1);
  await reading;
  assert.deepEqual(keys("a"), [4]);
});

test("old rules are read again beside their use, and go on being used while the store is down", async () => {
  const { state, book, keys } = world();
  await book.prepare([1]);
  state.rules = [ruleOf(5, ["a"])];
  state.down = true;
  state.now = 61_000;
  assert.equal(book.prepare([1]), undefined);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(keys("a"), [1]);
  state.down = false;
  book.prepare([1]);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(keys("a"), [5]);
});

test("while the store is down nothing is prepared that is not known", async () => {
  const { state, book } = world();
  state.down = true;
  await assert.rejects(async () => book.prepare([1]));
  state.down = false;
  await book.prepare([1]);
  assert.ok(book.of(1));
});

test("a rule whose zones are all gone stops, and is counted; one that has another watches that", async () => {
  const { state, book, keys } = world();
  state.rules = [ruleOf(1, ["a"], ["gone"]), ruleOf(2, ["a"], ["zone", "gone"])];
  await book.prepare([1]);
  assert.deepEqual(keys("a"), [2]);
  assert.equal(book.broken, 1);
  state.zones = [zone, { ...zone, key: 2, id: "gone" }];
  book.changed(1);
  await book.prepare([1]);
  assert.deepEqual(keys("a"), [1, 2]);
  assert.equal(book.broken, 0);
});

test("what a batch has prepared does not make room for another account of it, however long ago it was read", async () => {
  const { promise: never } = Promise.withResolvers<readonly AlertRule[]>();
  let now = 0;
  let reads = 0;
  const book = new RuleBook(
    {
      // The first account's second reading takes long.
      alertRules: { list: (account) => (account === 1 && ++reads > 1 ? never : Promise.resolve([ruleOf(1, ["a"])])) },
      geofences: { some: async () => [zone] },
      groups: { some: async () => [] },
      accounts: { find: async () => undefined },
    },
    { now: () => 0, monotonic: () => now },
    quiet,
    1,
  );
  await book.prepare([1]);
  now = 300_000;
  await book.prepare([1, 2]);
  assert.equal(book.of(1)?.rulesOf("a").length, 1);
  now = 600_000;
  await book.prepare([3]);
  assert.equal(book.of(1), undefined);
});

test("what is kept is weighed by its bytes: long texts, groups' devices and zones' corners make room as what they are", async () => {
  let now = 0;
  const long = "x".repeat(2000);
  const webhook = Array.from({ length: 20 }, (_, index) => ({
    url: `https://example.com/${index}/${long}`,
    secret: "s",
  }));
  const heavy = { ...ruleOf(1, ["a"], []), groups: [], channels: { email: [], sms: [], webhook } };
  const book = new RuleBook(
    {
      alertRules: { list: async (account) => (account === 1 ? [heavy] : []) },
      geofences: { some: async () => [] },
      groups: { some: async () => [] },
      accounts: { find: async () => undefined },
    },
    { now: () => 0, monotonic: () => now },
    quiet,
    30_000,
  );
  await book.prepare([1]);
  assert.ok(book.bytes > 40_000);
  now = 300_000;
  await book.prepare([2]);
  assert.equal(book.of(1), undefined);
  assert.ok(book.bytes < 30_000);
});

test("only the zones and groups that rules name are read", async () => {
  const asked: (readonly string[])[] = [];
  const note = (ids: readonly string[]) => asked.push(ids);
  const book = new RuleBook(
    {
      alertRules: { list: async () => [ruleOf(1, ["a"]), ruleOf(2, ["b"])] },
      geofences: { some: async (_, ids) => (note(ids) > 0 ? [zone] : []) },
      groups: { some: async (_, ids) => (note(ids) > 0 ? [] : []) },
      accounts: { find: async () => undefined },
    },
    { now: () => 0, monotonic: () => 0 },
    quiet,
  );
  await book.prepare([1]);
  assert.deepEqual(asked, [["zone"], ["group"]]);
});

test("what devices' lists of rules take is weighed, and given back with the account", async () => {
  let now = 0;
  const many = Array.from({ length: 300 }, (_, index) => ({
    ...ruleOf(index + 1, ["d1", `d${index + 2}`], []),
    groups: [],
  }));
  const book = new RuleBook(
    {
      alertRules: { list: async (account) => (account === 1 ? many : []) },
      geofences: { some: async () => [] },
      groups: { some: async () => [] },
      accounts: { find: async () => undefined },
    },
    { now: () => 0, monotonic: () => now },
    quiet,
    1,
  );
  await book.prepare([2]);
  const empty = book.bytes;
  await book.prepare([1]);
  const before = book.bytes;
  for (let index = 0; index < 2000; index++) book.of(1)?.rulesOf(`d${index}`);
  now = 20_000;
  assert.equal(book.prepare([1]), undefined);
  assert.ok(book.bytes > before + 2000 * 100, `${before} bytes, then ${book.bytes}`);
  now = 300_000;
  await book.prepare([3]);
  assert.equal(book.bytes, empty);
});
