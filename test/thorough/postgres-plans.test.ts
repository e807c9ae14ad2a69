import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, it } from "node:test";
import { openPostgresRows } from "../../src/store/postgres/open.ts";
import { newAlert, newNotice } from "../contract/store/alert-values.ts";
import { day, emptyHead } from "../contract/store/followed.ts";
import { newCommand, now } from "../contract/store/harness.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { silentLog } from "../support/silent-log.ts";

/** The server writes the plan of each statement into its log. */
const explained = [
  ["session_preload_libraries", "auto_explain"],
  ["auto_explain.log_min_duration", "0"],
  ["auto_explain.log_format", "json"],
  ["auto_explain.log_nested_statements", "on"],
] as const;

const filling = `
  insert into account (id, name, time_zone, licenses, language, creation) values ('a', 'A', 'UTC', 100000, 'en', 0);
  insert into device (account, id, aliases, name, tags, daily_email_limit, daily_sms_limit, odometer_start, creation, modification, expires)
    select 1, 'device-' || n, '[]', 'Truck', '{}', 50, 10, 0, 0, 0, case when n % 2 = 0 then n end from generate_series(1, 20000) as n;
  insert into device_identifier select id, "key" from device;
  insert into device_head select "key", 0, 0, 0, 0, 0, '', case when "key" % 100 = 0 then 1 else 0 end from device;
  insert into device_day select "key", 20000 + n, 1, 0, 0, 0, 0, 5, n, '' from device, generate_series(1, 10) as n;
  insert into "user" (id, account, owner, name, email, email_lower, country, time_zone, disabled, tags, privileges, creation, modification)
    select 'u' || n, 1, 0, 'Ana', n || '@x.y', n || '@x.y', 'CO', 'UTC', 0, '{}', '[]', 0, 0 from generate_series(1, 5000) as n;
  insert into notice (id, alert, device, channel, target, state, creation, due_at, attempts, finished_at)
    select 'n' || n, 'a' || n, 1 + n % 20000, channel, json_build_object('channel', channel),
    case n % 50 when 0 then 'queued' else 'sent' end, n, n, 0, case n % 50 when 0 then null else n end from generate_series(1, 60000) as n, lateral (select (array['email', 'sms', 'webhook'])[1 + n % 3]) as own (channel);
  insert into alert (id, device, rule, rule_id, name, type, phase, time, raised_at, critical, late, facts, text, channels, account, state, subject)
    select 'a' || n, 1 + n % 20000, 1, 'r', 'Rule', 'speedOver', 'begin', n, n, 0, 0, '{}', '', 0, 1, case n % 50 when 0 then 0 else 2 end, '' from generate_series(1, 60000) as n;
  insert into command (id, device, "user", user_name, channel, format, command, encode, state, creation, expires)
    select 'c' || n, 1 + n % 20000, 1, 'ana', 'data', 'Text', 'X', 0, case n % 50 when 0 then 'queued' else 'sent' end, n, n from generate_series(1, 60000) as n;
  insert into command_part select "key", 0, 's' || "key", null from command where "key" % 10 = 0;
  insert into device_sent select "key", '2026-11-21', 1, 1 from device;
  insert into user_usage select "key", '2026-11-21', 1 from "user";
  insert into refused (device, received_at, time, cause, report) select 1 + n % 20000, n, n, 'past', '{}' from generate_series(1, 20000) as n;
  insert into refused_room select "key", 100, 0 from device;
  insert into device_results select "key", '2026-11-21', 1 from device;
  insert into recipient (id, account, channel, address, state, wrong, asked, creation, modification)
    select 'r' || n, n, 'email', n || '@x.y', 'confirmed', 0, 0, 0, 0 from generate_series(1, 5000) as n;
  insert into mute (account, device, since, until, "user", critical) select 1 + n % 100, n, 0, n, 'a@x.y', 0 from generate_series(1, 10000) as n;
  insert into mute (account, rule, since, until, "user", critical) select 1 + n % 100, 'r' || n, 0, n, 'a@x.y', 0 from generate_series(1, 10000) as n;
  insert into sign_in ("user", token_hash, creation, seen, expires, address, browser)
    select 1 + n % 5000, 't' || n, n, n, n, '::1', '' from generate_series(1, 10000) as n;
  insert into share (id, account, "user", device, name, token_hash, creation, expires)
    select 's' || n, 1 + n % 100, 1 + n % 5000, n, '', 't' || n, n, n from generate_series(1, 10000) as n;
  insert into second_factor select n, 's', 1, 0, '[]' from generate_series(1, 10000) as n;
  insert into purge select n from generate_series(1000001, 1005000) as n;
`;

/** Tables of one row here. */
const small: ReadonlySet<unknown> = new Set([
  "account",
  "setting",
  "migration",
  "account_quota",
  "account_use",
  "account_sent",
]);

/** Tables that a plan reads from their beginning to their end. */
function scanned(plan: unknown): readonly unknown[] {
  const { Plans = [], "Node Type": type, "Relation Name": relation }: Record<string, unknown> = Object(plan);
  const own = type === "Seq Scan" && !small.has(relation) ? [relation] : [];
  return [...own, ...(Array.isArray(Plans) ? Plans.flatMap(scanned) : [])];
}

describe("the plans of PostgreSQL", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start({ settings: explained });
  });

  it("read no table whole for what is asked all the time", async () => {
    const url = await server.database();
    const store = await openPostgresRows(url, { log: silentLog });
    await server.ask("test_1", `${filling} analyze;`);
    const from = readFileSync(server.log, "utf8").length;
    const { follow, notices, devices, commands, users, daily, alerts, refused, recipients, mutes, signIns } = store;
    const places = { day: "2026-11-22", limit: 50, accountLimit: 1000 };
    for (const channel of ["email", "sms", "webhook"] as const) {
      const due = await notices.due(channel, now, { limit: 100 });
      const [first, second] = due.notices;
      assert.ok(first !== undefined && second !== undefined);
      await notices.due(channel, now, { limit: 10, after: due.last, ofAccount: () => true });
      assert.equal(await notices.claim(first.key, now, undefined), "claimed");
      assert.equal(await notices.claim(second.key, now, places), "claimed");
      await notices.finish(first.key, { state: "sent", reason: null, peerId: null, dueAt: 0 }, now);
      await notices.finish(second.key, { state: "failed", reason: null, peerId: null, dueAt: 0 }, now);
      await notices.postpone([first.key], now);
      await notices.page(first.device, { limit: 10, bytes: 10_000 });
      await notices.find(first.device, first.id);
      await notices.resend(second.key, now, 5);
    }
    await notices.nextDue();
    await notices.backlog();
    for (const key of [1, 2, 3]) await notices.renew(now, [key]);
    await notices.prune(100, 100);
    await devices.identify(["device-7", "stranger"]);
    await devices.find("device-7");
    await devices.findByKey(7);
    await devices.nextExpiry(10_000);
    await devices.expiredBetween(10_000, 10_010);
    await devices.some(1, ["device-7"], now);
    await devices.page(1, now, { limit: 10, bytes: 10_000 });
    await devices.spoke([
      {
        device: 7,
        way: { protocol: "osmand", transport: "http", since: 1, address: "::1", trustedAt: null, networks: [] },
      },
    ]);
    const made = await commands.enqueue(newCommand(7, { idempotencyKey: "k" }), 10);
    assert.ok(typeof made !== "string");
    await commands.queued(7, 0, 10);
    await commands.step(made.command.key, ["queued"], "sent", { sentAt: now, smsIds: ["x"] });
    await commands.receipt("x", true);
    await commands.expire(100);
    await commands.nextExpiry();
    await commands.page(7, { limit: 10, bytes: 10_000 });
    await commands.deleteEnded(10, 0, 100);
    await users.findByEmail("7@X.y");
    await users.findByKey(7);
    await users.addUsage(
      [{ userKey: 7, day: "2026-11-21", requests: 1 }],
      [{ device: 7, day: "2026-11-21", results: 1 }],
    );
    await users.usage(7, "2026-11-21");
    await users.foldUsage("2026-11-21", 0, 100);
    await daily.take(7, "2026-11-21", "sms", { device: 10, account: 10 });
    await daily.giveBack(7, "2026-11-21", "sms");
    await alerts.list(7, { from: 0, to: now, limit: 10 });
    await alerts.some(7, ["a6"]);
    await alerts.prune(100, 100);
    for (const wanted of [
      {},
      { state: "open", critical: true },
      { type: "sos", ruleKey: 3 },
      { from: 10, to: 40_000 },
    ] as const) {
      await alerts.places(1, { order: "newest", wanted, limit: 100 });
      await alerts.places(1, { order: "newest", wanted, limit: 100, after: { time: 30_000, key: 30_000 } });
      await alerts.places(1, { order: "newest", wanted, limit: 100, devices: [7, 8] });
      await alerts.places(1, { order: "found", wanted, limit: 100, after: { time: 0, key: 59_000 } });
    }
    await alerts.newest(1);
    await alerts.read([6, 7], 10_000);
    await alerts.ofAccount(1, ["a6"]);
    await devices.named([7, 8]);
    await alerts.acknowledge([6, 7], { at: now, user: "ana", note: null });
    await alerts.close([6], { at: now, user: "ana", note: null });
    await alerts.closeOld(1000, 100, now);
    await refused.page(7, 10);
    await refused.prune(100, 100);
    await recipients.find({ accountKey: 7, channel: "email", address: "7@x.y" });
    await mutes.some([{ device: 7 }, { rule: "r8" }]);
    await mutes.page(7, 5000, { limit: 10, bytes: 10_000 });
    await mutes.remove({ device: 7 });
    await mutes.remove({ rule: "r8" });
    await mutes.prune(100, 100);
    const times = { creation: now, seen: now, expires: now };
    await signIns.create({ userKey: 7, tokenHash: "h", ...times, address: "::1", browser: "" }, 5);
    await signIns.find("h");
    await signIns.list(7);
    await signIns.touch(1, now);
    await signIns.remove(7, "all");
    await signIns.prune(100, 100);
    await store.shares.find("h");
    await store.shares.page({ accountKey: 7, userKey: 7 }, now, { limit: 10, bytes: 10_000 });
    await store.shares.remove({ accountKey: 7 }, "s7");
    await store.shares.prune(100, 100);
    await store.secondFactors.begin(7, "A");
    await store.secondFactors.useStep(7, 1);
    await store.secondFactors.find(7);
    const [alert, gone] = [newAlert(7, 1), newAlert(7, 1, { phase: "withdrawn" })];
    const end = { ruleKey: 1, time: now, foundAt: now };
    const found = { alerts: [alert, gone], notices: [newNotice(alert)], ended: [end, { ...end, withdrawn: alert.id }] };
    await follow.commit([{ device: 7, head: emptyHead, days: [day(1, 5)], ...found }]);
    await follow.heads([7, 20_001]);
    await follow.lateDevices(7, 100);
    await follow.days(7, { order: "last", limit: 5 });
    await follow.sumsBefore(7, 20_005);
    await follow.daysBefore([7, 8], 20_005);
    await follow.forgetDays(8, 20_005);
    await refused.add([{ device: 7, receivedAt: now, time: 1, cause: "past", report: "{}" }]);
    await devices.remove(9);
    await store.close();
    const plans = readFileSync(server.log, "utf8")
      .slice(from)
      .matchAll(/plan:\n((?:\t.*\n)+)/g);
    const read = [...plans].map(([, text = ""]) => JSON.parse(text));
    assert.ok(read.length > 80, `${read.length} plans were told`);
    const whole = read
      .filter(({ Plan }) => scanned(Plan).length > 0)
      .map((one) => ({ tables: scanned(one.Plan), statement: one["Query Text"] }));
    assert.deepEqual(whole, []);
  });
});
