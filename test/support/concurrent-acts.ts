import fc from "fast-check";
import type { Account } from "../../src/model/account.ts";
import type { Alert } from "../../src/model/alert.ts";
import type { NewNotice } from "../../src/model/notice.ts";
import { QuotaReached, type Store } from "../../src/ports/store.ts";
import { geofenceFields, newAlert, newNotice, ruleFields } from "../contract/store/alert-values.ts";
import {
  deviceFields,
  makeAccount,
  makeCommand,
  makeDevice,
  makeUser,
  newCommand,
  now,
  today,
  unique,
  userFields,
} from "../contract/store/harness.ts";

/*
 * Acts on the rows of a store that may be done at once. They are chosen so that in any order the same number of them
 * succeeds: as many devices as there are licences, whichever they are. So a store with one connection, on which they
 * are done one after the other, tells what must come of them.
 */

type Rows = Omit<Store, "positions" | "check" | "close">;
/** Stores an alert of a device with its notices. */
type AddAlert = (device: number, alert: Alert, notices: readonly NewNotice[]) => Promise<unknown>;

export const reader = { language: "en", timeZone: "UTC", units: "metric" } as const;
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

export interface Act {
  readonly kind: Kind;
  /** Which one of a few things of that kind. */
  readonly which: number;
}

export const someActs = fc.array(fc.record({ kind: fc.constantFrom(...kinds), which: fc.nat({ max: 2 }) }), {
  minLength: 20,
  maxLength: 60,
});
export const someRoom = fc.record({
  licenses: fc.integer({ min: 0, max: 5 }),
  quota: fc.integer({ min: 0, max: 4 }),
  daily: fc.integer({ min: 0, max: 5 }),
  ofAccount: fc.integer({ min: 0, max: 7 }),
  waiting: fc.integer({ min: 1, max: 4 }),
  codes: fc.integer({ min: 1, max: 4 }),
});
type Room = typeof someRoom extends fc.Arbitrary<infer R> ? R : never;

/** What the acts are about. */
export interface World {
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

/** Makes what the acts are about. */
export async function build(store: Rows, addAlert: AddAlert, room: Room): Promise<World> {
  await store.accounts.setUsualQuotas(quotas);
  const poor = await makeAccount(store, room.licenses);
  const [rich, asking] = [await makeAccount(store), await makeAccount(store)];
  const own = { groups: room.quota, geofences: room.quota, rulesOfDevice: room.quota };
  await store.accounts.replace(poor.key, { ...poor, quotas: own });
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
    await addAlert(key, alert, [made]);
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

function ask(store: Rows, world: World, accountKey: number, address: string) {
  const code = { id: unique("recipient-"), hash: unique("hash"), expires: now + 1000, day: today, accountDay: today };
  const limits = { codesToAddress: world.room.codes, codesOfAccount: 1000, perAccount: 1000 };
  const name = { accountKey, channel: "email", address } as const;
  return store.recipients.ask(name, { ...code, accountLimit: 1000, parts: 1, again: true }, limits, now);
}

type Done = string | { readonly key: number } | undefined;

/** Does an act, and tells in a word what came of it. */
async function act(store: Rows, world: World, { kind, which }: Act): Promise<string> {
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
          way: { protocol: `p${which}`, transport: "tcp", since: 1, address: "::1", trustedAt: null, networks: [] },
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

/**
 * How often each kind of act had each answer. Two kinds that ask the same count as one. Devices are left out: one that
 * is active already needs no licence to be reactivated, so only the licences in use are certain. Where the caps of a
 * device and of its account are both reached, the order says which one is told.
 */
export function tally(acts: readonly Act[], answers: readonly string[]): ReadonlyMap<string, number> {
  const forms: Partial<Record<Kind, string>> = { owner: "email" };
  const counts = new Map<string, number>();
  for (const [index, { kind }] of acts.entries()) {
    if (kind === "device" || kind === "reactivate") continue;
    const answer = kind === "take" && answers[index] === "device" ? "account" : answers[index];
    const name = `${forms[kind] ?? kind}: ${answer}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return new Map([...counts].toSorted());
}

/** What is stored afterwards, as far as it does not depend on the order of the acts. */
export async function stored(store: Rows, world: World) {
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

/** Does an act. Tells in a word what came of it, or which quota refused it. */
export async function actOrRefusal(store: Rows, world: World, one: Act): Promise<string> {
  try {
    return await act(store, world, one);
  } catch (error) {
    if (error instanceof QuotaReached) return `quota ${error.quota}`;
    throw error;
  }
}
