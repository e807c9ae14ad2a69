import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import fc from "fast-check";
import { sql } from "kysely";
import type { Account } from "../../src/model/account.ts";
import type { NewNotice } from "../../src/model/notice.ts";
import { QuotaReached, type Store } from "../../src/ports/store.ts";
import { openPostgresRows, type PostgresRows } from "../../src/store/postgres/open.ts";
import { commitAlerts, geofenceFields, newAlert, newNotice, ruleFields } from "../contract/store/alert-values.ts";
import {
  deviceFields,
  makeAccount,
  makeCommand,
  makeDevice,
  makeUser,
  newCommand,
  now,
  unique,
  userFields,
} from "../contract/store/harness.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { rowCommits } from "../support/row-commits.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore } from "../support/store.ts";

/*
 * What many do at once is chosen so that, in whatever order it is done, as much of it succeeds: as many devices as there are licences, whichever they are. So a store
 * of one connection that does it one after the other tells what must come of it.
 */

const today = "2026-11-21";
const reader = { language: "en", timeZone: "UTC", units: "metric" } as const;
const kinds = [
  ...([
    "device",
    "identifier",
    "email",
    "owner",
    "group",
    "zone",
    "rule",
    "take",
    "claim",
    "command",
    "repeat",
  ] as const),
  ...(["usage", "fold", "spoke", "change", "exchange", "ask", "wrong", "reactivate"] as const),
];
type Kind = (typeof kinds)[number];

interface Act {
  readonly kind: Kind;
  /** Which of a few, where there are some. */
  readonly which: number;
}

const someActs = fc.array(fc.record({ kind: fc.constantFrom(...kinds), which: fc.nat({ max: 2 }) }), {
  minLength: 20,
  maxLength: 60,
});
const someRoom = fc.record({
  licenses: fc.integer({ min: 0, max: 5 }),
  quota: fc.integer({ min: 0, max: 4 }),
  daily: fc.integer({ min: 0, max: 5 }),
  ofAccount: fc.integer({ min: 0, max: 7 }),
  waiting: fc.integer({ min: 1, max: 4 }),
  codes: fc.integer({ min: 1, max: 4 }),
});
type Room = typeof someRoom extends fc.Arbitrary<infer R> ? R : never;

/** What the acts are about. */
interface World {
  readonly room: Room;
  /** Has few licences and quotas. */
  readonly poor: Account;
  readonly rich: Account;
  /** Only asks recipients. */
  readonly asking: Account;
  readonly user: number;
  readonly devices: readonly number[];
  readonly expired: readonly number[];
  readonly notices: readonly number[];
  readonly rule: number;
  readonly recipient: string;
  readonly address: string;
  readonly sms: string;
  readonly ids: readonly string[];
}

const quotas = {
  users: 1000,
  groups: 1000,
  geofences: 1000,
  rules: 1000,
  rulesOfDevice: 1000,
  webhooks: 1000,
  bytes: 1e9,
};

async function build(store: Store, room: Room): Promise<World> {
  await store.accounts.setUsualQuotas(quotas);
  const poor = await makeAccount(store, room.licenses);
  const [rich, asking] = [await makeAccount(store), await makeAccount(store)];
  await store.accounts.setQuotas(poor.key, { groups: room.quota, geofences: room.quota, rulesOfDevice: room.quota });
  const devices = [
    await makeDevice(store, rich.key),
    await makeDevice(store, rich.key),
    await makeDevice(store, rich.key),
  ];
  const notices: number[] = [];
  for (const { key } of devices) {
    const alert = newAlert(key, 1);
    const target: NewNotice["target"] = { channel: "email", to: "ana@example.org", ...reader };
    const made = newNotice(alert, { target });
    await commitAlerts(store, key, [alert], [made]);
    notices.push((await store.notices.find(key, made.id))?.key ?? 0);
  }
  const user = await makeUser(store, rich.key);
  const rule = await store.alertRules.create(rich.key, user.key, unique("rule-"), ruleFields(), now);
  const command = await makeCommand(store, devices[0]?.key ?? 0, { channel: "sms" });
  const sms = unique("sms-");
  await store.commands.step(command.key, ["queued"], "sent", { smsIds: [0, 1, 2].map((part) => sms + part) });
  const world = {
    ...{
      room,
      poor,
      rich,
      asking,
      user: user.key,
      devices: devices.map(({ key }) => key),
      notices,
      rule: rule.key,
      sms,
    },
    recipient: `${unique("one")}@example.org`,
    address: `${unique("all")}@example.org`,
    ids: ["a", "b", "c"].map(unique),
    expired: [] as number[],
  };
  for (let made = 0; made < 3; made++) {
    const fields = deviceFields({ expires: now - 1 });
    const device = room.licenses === 0 ? "noLicense" : await store.devices.create(poor.key, fields, now - 10);
    if (typeof device !== "string") {
      world.expired.push(device.key);
      // It expires at once, so that the next one finds its licence free.
      await store.devices.replace(device.key, { ...fields, expires: now - 20 }, now - 10);
    }
  }
  await ask(store, world, rich.key, world.recipient);
  return world;
}

function ask(store: Store, world: World, accountKey: number, address: string) {
  const code = { id: unique("recipient-"), hash: unique("hash"), expires: now + 1000, day: today, accountDay: today };
  const limits = { codesToAddress: world.room.codes, codesOfAccount: 1000, perAccount: 1000 };
  const name = { accountKey, channel: "email", address } as const;
  return store.recipients.ask(name, { ...code, accountLimit: 1000, parts: 1, again: true }, limits, now);
}

type Done = string | { readonly key: number } | undefined;

/** Does it, and tells in a word what came of it. */
async function act(store: Store, world: World, { kind, which }: Act): Promise<string> {
  const { room, poor, rich, user, rule } = world;
  const device = world.devices[which] ?? 0;
  const made = (answer: Done) => (typeof answer === "string" ? answer : "made");
  const email = `${world.ids[which]}@example.org`;
  const limits = { device: room.daily, account: room.ofAccount };
  switch (kind) {
    case "device":
      return made(await store.devices.create(poor.key, deviceFields({ aliases: [unique("alias-")] }), now));
    case "reactivate": {
      const key = world.expired[which];
      const stored = key === undefined ? undefined : await store.devices.findByKey(key);
      return stored === undefined
        ? "none"
        : made(await store.devices.replace(stored.key, { ...stored, expires: null }, now));
    }
    case "identifier":
      return made(await store.devices.create(rich.key, deviceFields({ aliases: [world.ids[which] ?? ""] }), now));
    case "email":
      return made(await store.users.create(userFields(rich.key, { email }), now));
    case "owner": {
      const { accountKey: _, owner: __, ...owner } = userFields(0, { email });
      const account = { id: unique("account-"), name: "A", timeZone: "UTC", licenses: 1, language: "en" } as const;
      const answer = await store.accounts.createWithOwner(account, owner, now);
      return typeof answer === "string" ? answer : "made";
    }
    case "group":
      return made(
        await store.groups.create(poor.key, unique("group-"), { name: "G", description: null, devices: [] }, now),
      );
    case "zone":
      return made(await store.geofences.create(poor.key, unique("zone-"), geofenceFields(), now));
    case "rule":
      return made(
        await store.alertRules.create(
          poor.key,
          user,
          unique("rule-"),
          ruleFields({ devices: [world.ids[which] ?? ""] }),
          now,
        ),
      );
    case "take":
      return store.daily.take(device, today, "sms", limits);
    case "claim":
      return store.notices.claim(world.notices[which] ?? 0, now, {
        day: today,
        limit: 5,
        accountLimit: room.ofAccount,
      });
    case "command": {
      const answer = await store.commands.enqueue(newCommand(device), room.waiting);
      return typeof answer === "string" ? answer : "made";
    }
    case "repeat": {
      const answer = await store.commands.create(newCommand(device, { idempotencyKey: "again", state: "sent" }));
      return typeof answer === "string" ? answer : answer.existing ? "existing" : "made";
    }
    case "usage":
      await store.users.addUsage(
        [{ userKey: user, day: `2026-11-1${which}`, requests: 1 + which }],
        [{ device, day: today, results: 2 }],
      );
      return "done";
    case "fold":
      await store.users.foldUsage("2026-11-20", 0, 100);
      return "done";
    case "spoke":
      await store.devices.spoke(
        world.devices.map((key) => ({
          device: key,
          way: { protocol: `p${which}`, transport: "tcp", since: 1, address: "::1", trustedAt: null },
        })),
      );
      return "done";
    case "change":
      return made(await store.alertRules.replace(rule, user, ruleFields(), now));
    case "exchange": {
      const create = [{ id: unique("rule-"), fields: ruleFields() }];
      const rules = await store.alertRules.exchange(
        rich.key,
        user,
        { remove: [], replace: [{ key: rule, fields: ruleFields() }], create },
        now,
      );
      return String(rules.length);
    }
    case "ask": {
      const accounts = [poor.key, world.asking.key];
      return (await ask(store, world, accounts[which % 2] ?? 0, world.address)).outcome;
    }
    default: {
      const name = { accountKey: rich.key, channel: "email", address: world.recipient } as const;
      return made(await store.recipients.answer(name, "wrong", "confirmed", 4, now));
    }
  }
}

/** How often each answer came. Those to the same question in two forms are one. A device that is reactivated again needs no licence, so of licences only the sum is sure. */
function tally(acts: readonly Act[], answers: readonly string[]): ReadonlyMap<string, number> {
  const forms: Partial<Record<Kind, string>> = { owner: "email" };
  const counts = new Map<string, number>();
  for (const [index, { kind }] of acts.entries()) {
    if (kind === "device" || kind === "reactivate") continue;
    const name = `${forms[kind] ?? kind}: ${answers[index]}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return new Map([...counts].toSorted());
}

/** What is stored then, as far as it does not depend on who came first. */
async function stored(store: Store, world: World) {
  const { poor, rich, user, devices, rule } = world;
  const name = { accountKey: rich.key, channel: "email", address: world.recipient } as const;
  const { bytes: _, ...use } = (await store.accounts.quotas(poor.key)).use;
  const { bytes: __, ...ofRich } = (await store.accounts.quotas(rich.key)).use;
  const asked = await Promise.all([poor, world.asking].map(({ key }) => store.daily.sentOfAccount(key, today)));
  const answered = await store.recipients.find(name);
  return {
    use,
    ofRich: { ...ofRich, users: undefined },
    licenses: await store.accounts.licensesUsed(poor.key, now),
    asked: asked.reduce((sum, { email }) => sum + email, 0),
    identifiers: await store.devices.identifiersUsed(rich.key),
    usage: (await store.users.usage(user, today)).total,
    revision: (await store.alertRules.list(rich.key)).find(({ key }) => key === rule)?.revision,
    hasCode: answered?.codeExpires !== null,
    sent: await store.daily.sentOfAccount(rich.key, today),
    ways: await Promise.all(
      devices.map(async (key) =>
        (await store.devices.findByKey(key))?.spoken.map(({ protocol }) => protocol).toSorted(),
      ),
    ),
    waiting: await Promise.all(devices.map(async (key) => (await store.commands.queued(key, 0, 100)).length)),
    results: await Promise.all(devices.map((key) => store.users.results(key, today))),
  };
}

async function actOrRefusal(store: Store, world: World, one: Act): Promise<string> {
  try {
    return await act(store, world, one);
  } catch (error) {
    if (error instanceof QuotaReached) return `quota ${error.quota}`;
    throw error;
  }
}

/** The counters of what accounts have against what they have, and rows that belong to nothing. All must be zero. */
const faults = sql<Record<string, number>>`select
  (select count(*) from account_use as use where
    (users, "groups", geofences, rules, webhooks) <> (
      (select count(*) from "user" where account = use.account), (select count(*) from device_group where account = use.account),
      (select count(*) from geofence where account = use.account), (select count(*) from alert_rule where account = use.account),
      (select coalesce(sum(webhooks), 0) from alert_rule where account = use.account))) as counters,
  (select count(*) from rule_target where rule not in (select key from alert_rule)) as targets,
  (select count(*) from device_identifier where device not in (select key from device)) as identifiers,
  (select count(*) from device full join device_state on device_state.device = device.key where key is null or device is null) as states,
  (select count(*) from device_sent where device not in (select key from device)) as sent,
  (select count(*) from device_results where device not in (select key from device)) as results,
  (select count(*) from user_usage where "user" not in (select key from "user")) as usage,
  (select count(*) from command_part where command not in (select key from command)) as parts,
  (select count(*) from account where key not in (select account from "user" where owner = 1) and name = 'A') as ownerless`;

describe("two PostgreSQL stores on one database", { skip: noPostgres }, () => {
  let server: PostgresServer;
  let stores: readonly (PostgresRows & Store)[] = [];
  before(async () => {
    server = await PostgresServer.start({ settings: [["deadlock_timeout", "100ms"]] });
    const url = await server.database();
    const open = async () => {
      const rows = await openPostgresRows(url, { log: silentLog, connections: 6 });
      return Object.assign(rows, { locations: rowCommits(rows) });
    };
    stores = [await open(), await open()];
  });

  const other = (index: number) => {
    const store = stores[index % stores.length];
    assert.ok(store);
    return store;
  };

  async function assertNoFaults(): Promise<void> {
    const { rows } = await faults.execute(other(0).tables);
    const wrong = Object.entries(rows[0] ?? {}).filter(([, count]) => count !== 0);
    assert.deepEqual(wrong, []);
  }

  it("do at once what one embedded store does one after the other", { timeout: 200_000 }, async () => {
    const directory = await mkdtemp(join(tmpdir(), "waybeam-one-"));
    const one = await openStore(directory);
    await fc.assert(
      fc.asyncProperty(someActs, someRoom, async (acts, room) => {
        const expected: string[] = [];
        const model = await build(one, room);
        for (const each of acts) expected.push(await actOrRefusal(one, model, each));
        const world = await build(other(0), room);
        const answers = await Promise.all(acts.map((each, index) => actOrRefusal(other(index), world, each)));
        assert.deepEqual(tally(acts, answers), tally(acts, expected));
        assert.deepEqual(await stored(other(1), world), await stored(one, model));
        // Of a command's three parts the last one that is delivered makes it so, and no other.
        const parts = [0, 1, 2].map((part) => other(part).commands.receipt(world.sms + part, true));
        const deliveries = (await Promise.all(parts)).map((answer) => answer?.delivery).toSorted();
        assert.deepEqual(deliveries, ["delivered", "open", "open"]);
      }),
      { numRuns: 25, interruptAfterTimeLimit: 100_000, markInterruptAsFailure: false },
    );
    await assertNoFaults();
    await rm(directory, { recursive: true });
  });

  it("claim each notice once, and give each place back once", async () => {
    const account = await makeAccount(other(0));
    const device = await makeDevice(other(0), account.key);
    const alert = newAlert(device.key, 1);
    const made = Array.from({ length: 40 }, () =>
      newNotice(alert, { target: { channel: "sms", to: "+573001112233", ...reader } }),
    );
    await commitAlerts(other(0), device.key, [alert], made);
    const { notices } = await other(0).notices.due("sms", now, { limit: 100 });
    const keys = notices.map(({ key }) => key);
    assert.equal(keys.length, 40);
    const places = { day: today, limit: 30 };
    const claims = await Promise.all(
      keys.flatMap((key) => [0, 1, 2].map((index) => other(index).notices.claim(key, now, places))),
    );
    const count = (answer: string) => claims.filter((one) => one === answer).length;
    assert.deepEqual([count("claimed"), count("limit"), count("gone")], [30, 10, 80]);
    assert.deepEqual(await other(1).daily.sent(device.key, today), { sms: 30, email: 0 });
    const failed = { state: "failed", reason: "no", peerId: null, dueAt: 0 } as const;
    await Promise.all(keys.flatMap((key) => [0, 1].map((index) => other(index).notices.finish(key, failed, now))));
    assert.deepEqual(await other(1).daily.sent(device.key, today), { sms: 0, email: 0 });
    assert.deepEqual(await other(1).daily.sentOfAccount(account.key, today), { sms: 0, email: 0 });
  });

  it("claim webhooks in groups, each once, while others end", async () => {
    const account = await makeAccount(other(0));
    const device = await makeDevice(other(0), account.key);
    const alert = newAlert(device.key, 1);
    await commitAlerts(
      other(0),
      device.key,
      [alert],
      Array.from({ length: 200 }, () => newNotice(alert)),
    );
    const { notices } = await other(0).notices.due(newNotice(alert).target.channel, now, { limit: 1000 });
    const keys = notices.filter((notice) => notice.device === device.key).map(({ key }) => key);
    const sent = { state: "sent", reason: null, peerId: null, dueAt: 0 } as const;
    const worked = await Promise.all(
      [keys, keys.toReversed()].map(async (order, index) => {
        const claimed = await Promise.all(
          order.map(async (key) => {
            if ((await other(index).notices.claim(key, now, undefined)) !== "claimed") return 0;
            await other(index).notices.finish(key, sent, now);
            return 1;
          }),
        );
        return claimed.reduce<number>((sum, one) => sum + one, 0);
      }),
    );
    assert.equal((worked[0] ?? 0) + (worked[1] ?? 0), 200);
    const left = await other(1).notices.list(device.key, { limit: 1000 });
    assert.ok(left.every(({ state, attempts }) => state === "sent" && attempts === 1));
  });

  it("remove devices and users in the midst of everything, and leave nothing of them", async () => {
    const account = await makeAccount(other(0), 100_000);
    for (let round = 0; round < 25; round++) {
      const device = await makeDevice(other(0), account.key, { aliases: [unique("alias-")] });
      const user = await makeUser(other(0), account.key);
      const [one, two] = [other(round), other(round + 1)];
      const taken = { device: 10, account: 1e9 };
      const work = [
        () => one.devices.replace(device.key, deviceFields({ id: device.id, aliases: [unique("alias-")] }), now),
        () => two.daily.take(device.key, today, "sms", taken),
        () => one.commands.create(newCommand(device.key)),
        () =>
          two.users.addUsage(
            [{ userKey: user.key, day: today, requests: 1 }],
            [{ device: device.key, day: today, results: 1 }],
          ),
        () => one.users.foldUsage("2027-01-01", user.key - 1, 1),
        () =>
          two.devices.spoke([
            { device: device.key, way: { protocol: "p", transport: "tcp", since: 1, address: "", trustedAt: null } },
          ]),
      ];
      const removals = [
        () => two.devices.remove(device.key),
        () => one.devices.remove(device.key),
        () => two.users.remove(user.key),
      ];
      const [, ...answers] = await Promise.all([
        Promise.all(work.map((each) => each())),
        ...removals.map((each) => each()),
      ]);
      assert.deepEqual(answers.slice(0, 2).toSorted(), [false, true]);
      assert.equal(answers[2], true);
      assert.equal(await other(0).devices.identify([device.id, ...device.aliases]), undefined);
    }
    await assertNoFaults();
  });

  it("delete refused reports once, and know how much is left", async () => {
    const account = await makeAccount(other(0));
    const devices = await Promise.all(Array.from({ length: 5 }, () => makeDevice(other(0), account.key)));
    const { tables } = other(0);
    const text = "x".repeat(100);
    for (const { key: device } of devices) {
      const rows = Array.from({ length: 40 }, (_, time) => ({
        device,
        received_at: time,
        time,
        cause: "past",
        report: text,
      }));
      await tables.insertInto("refused").values(rows).execute();
      await tables
        .insertInto("refused_room")
        .values({ device, bytes: 4000, dropped: 0, dropped_until: null })
        .execute();
    }
    let deleted = 0;
    while (deleted < 100) {
      const steps = await Promise.all([0, 1, 2, 3].map((index) => other(index).refused.prune(20, 15)));
      deleted += steps.reduce((sum, one) => sum + one, 0);
    }
    assert.equal(deleted, 100);
    const room = await tables.selectFrom("refused_room").select("bytes").execute();
    assert.deepEqual(
      room.map(({ bytes }) => bytes),
      devices.map(() => 2000),
    );
  });
});
