import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { NewNotice, NoticeTarget } from "../../src/model/notice.ts";
import type { BusEvent } from "../../src/ports/bus.ts";
import {
  command,
  commitAlerts,
  email,
  newAlert,
  newNotice,
  sms,
  target,
  webhook,
} from "../contract/store/alert-values.ts";
import { runBehindStore } from "../support/engine.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let token: string;
let device = 0;
let notices: NewNotice[] = [];
const url = "/api/devices/d/notifications";
const list = (query = "", as = token) => rest.call("GET", `${url}${query}`, { token: as });
const resend = (id: string, as = token) => rest.call("POST", `${url}/${id}/resend`, { token: as });

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000 } });
  token = await rest.ownerToken();
  for (const id of ["d", "e"]) await rest.call("POST", "/api/devices", { token, body: { id } });
  device = (await rest.store.devices.find("d"))?.key ?? 0;
  const body = { name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices: ["d"] };
  const { id: ruleId } = (await rest.call("POST", "/api/alertRules", { token, body })).json;
  const alert = newAlert(device, 1, { ruleId });
  const suppressed = { state: "suppressed", reason: "repeated" } as const;
  notices = [
    newNotice(alert, { target: email }),
    newNotice(alert, { target: sms, ...suppressed }),
    newNotice(alert, { target: webhook, ...suppressed }),
    newNotice(alert, { target: command, ...suppressed }),
  ];
  await commitAlerts(rest.store, device, [alert], notices);
});
after(() => endRest(rest));

test("notices are told newest first, with what became of them and no secret", async () => {
  const { json, body } = await list();
  const [ofCommand, ofWebhook, ofSms, ofEmail] = json.notifications;
  assert.equal(json.notifications.length, 4);
  assert.deepEqual(ofEmail, {
    id: notices[0]?.id,
    alertId: notices[0]?.alertId,
    alertName: "Speed",
    channel: "Email",
    recipient: "ana@example.org",
    state: "queued",
    reason: null,
    attempts: 0,
    creation: new Date(notices[0]?.creation ?? 0).toISOString(),
    finishedAt: null,
  });
  assert.deepEqual(
    [ofSms, ofWebhook, ofCommand].map(({ channel, recipient, state, reason }) => [channel, recipient, state, reason]),
    [
      ["SMS", "+573001112233", "suppressed", "repeated"],
      ["Webhook", "https://example.org/hook", "suppressed", "repeated"],
      ["Command", "stop\n☂", "suppressed", "repeated"],
    ],
  );
  assert.equal(body.includes("0123456789abcdef"), false);
});

test("to whom is told to who sees the rule, and what a peer said; of a webhook the origin and path alone", async () => {
  await rest.call("POST", "/api/devices", { token, body: { id: "f" } });
  const key = (await rest.store.devices.find("f"))?.key ?? 0;
  const makeRule = async (devices: string[]) => {
    const body = { name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices };
    return (await rest.call("POST", "/api/alertRules", { token, body })).json.id;
  };
  const seen = newAlert(key, 1, { ruleId: await makeRule(["f"]) });
  const unseen = newAlert(key, 2, { ruleId: await makeRule(["f", "e"]) });
  const deleted = newAlert(key, 3, { ruleId: "deleted" });
  const secretUrl: NoticeTarget = {
    ...target,
    channel: "webhook",
    url: "https://ana:word@example.org:8443/hook?token=t#f",
  };
  const made = [seen, unseen, deleted].flatMap((alert) => [
    newNotice(alert, { target: email }),
    newNotice(alert, { target: secretUrl, state: "suppressed", reason: "repeated" }),
    newNotice(alert, { target: command, state: "suppressed", reason: "late" }),
  ]);
  await commitAlerts(rest.store, key, [seen, unseen, deleted], made);
  const reason = "the mail server refused it: 550 <ana@example.org>: no such user";
  for (const { id } of made.filter((each) => each.target === email)) {
    const notice = await rest.store.notices.find(key, id);
    await rest.store.notices.claim(notice?.key ?? 0, 0, undefined);
    await rest.store.notices.finish(notice?.key ?? 0, { state: "failed", reason, peerId: null, dueAt: 0 }, 0);
  }
  const told = async (as: string) => {
    const { json } = await rest.call("GET", "/api/devices/f/notifications", { token: as });
    const views: { id: string; recipient: string | null; reason: string | null }[] = json.notifications;
    return made.map(({ id }) => {
      const view = views.find((each) => each.id === id);
      return [view?.recipient, view?.reason];
    });
  };
  const open = [
    ["ana@example.org", reason],
    ["https://example.org:8443/hook", "repeated"],
    ["stop\n☂", "late"],
  ];
  const closed = [
    [null, null],
    [null, "repeated"],
    [null, "late"],
  ];
  assert.deepEqual(await told(token), [...open, ...open, ...open]);
  const writer = await rest.userToken({ deviceId: "f", privileges: ["write"] });
  assert.deepEqual(await told(writer), [...open, ...closed, ...closed]);
  const again = await rest.call("POST", `/api/devices/f/notifications/${made[4]?.id}/resend`, { token: writer });
  assert.deepEqual([again.status, again.json.error], [404, "notification not found"], "who does not see its rule");
});

test("pages lead on by a cursor that is the device's alone; `state` picks", async () => {
  const first = (await list("?limit=3")).json;
  const next = (await list(`?limit=3&cursor=${first.nextCursor}`)).json;
  assert.deepEqual([first.notifications.length, next.notifications.length, next.nextCursor], [3, 1, undefined]);
  assert.equal((await list("?state=suppressed&limit=3")).json.nextCursor, undefined);
  assert.equal((await list("?state=queued")).json.notifications.length, 1);
  for (const query of ["?limit=0", "?limit=10001", "?state=lost", "?cursor=x"])
    assert.deepEqual([(await list(query)).status, (await list(query)).json.error], [400, "Bad Request"], query);
  const other = await rest.call("GET", `/api/devices/e/notifications?cursor=${first.nextCursor}`, { token });
  assert.equal(other.status, 400);
});

test("a final one is sent again by who may; the outbox is told", async () => {
  const events: BusEvent["type"][] = [];
  rest.bus.subscribe(({ type }) => type === "noticesQueued" && events.push(type));
  const [queued, bySms, byWebhook, byCommand] = notices.map(({ id }) => id);
  const writer = await rest.userToken({ deviceId: "d", privileges: ["write"] });
  const reader = await rest.userToken({ deviceId: "d" });
  const error = async (id: string | undefined, as = token) => {
    const { status, json } = await resend(id ?? "", as);
    return [status, json.error];
  };
  assert.deepEqual(await error(queued), [409, "notification not finished"]);
  assert.deepEqual(await error("unknown"), [404, "notification not found"]);
  assert.deepEqual(await error(byWebhook, reader), [403, "permission denied"]);
  assert.deepEqual(await error(bySms, writer), [403, "permission denied"]);
  assert.deepEqual(await error(byCommand, writer), [403, "permission denied"]);
  const other = await rest.call("POST", `/api/devices/e/notifications/${byWebhook}/resend`, { token });
  assert.deepEqual([other.status, other.json.error], [404, "notification not found"]);
  assert.deepEqual(events, []);
  const { status, json } = await resend(byWebhook ?? "", writer);
  const { id, state, reason, attempts, finishedAt } = json.notification;
  assert.deepEqual([status, id, state, reason, attempts, finishedAt], [200, byWebhook, "queued", null, 0, null]);
  assert.deepEqual(await error(byWebhook), [409, "notification not finished"]);
  const able = await rest.userToken({ deviceId: "d", privileges: ["write", "sendSmsAlerts", "sendCommands"] });
  assert.deepEqual([await error(bySms, able), await error(byCommand, able)], Array(2).fill([200, null]));
  assert.deepEqual(events, Array(3).fill("noticesQueued"));
});

test("who does not see the device sees none of its notices", async () => {
  const stranger = await rest.userToken({ privileges: ["write"] });
  assert.equal((await list("", stranger)).json.error, "device not found");
  assert.equal((await resend(notices[1]?.id ?? "", stranger)).json.error, "device not found");
});

test("a command's fields that there are not are warned of", async () => {
  const body = { command: "x", ttl: 5, ttlSeconds: 0 };
  const { json } = await rest.call("POST", "/api/devices/d/sendCommand", { token, body });
  assert.deepEqual(json.warnings, ["body/ttl: not a field of this request; ignored"]);
});

test("one whose target is damaged is listed as that, and can't be sent again", async () => {
  const alert = newAlert(device, 9);
  const made = [
    newNotice(alert, { target: email, state: "suppressed", reason: null }),
    newNotice(alert, { target: sms }),
  ];
  await commitAlerts(rest.store, device, [alert], made);
  for (const { id } of made)
    await runBehindStore(rest.directory, `update notice set target = substr(target, 3) where id = '${id}'`);
  const found = await list("?limit=2");
  assert.equal(found.status, 200, found.body);
  assert.deepEqual(
    found.json.notifications.map(({ channel, recipient, reason }: Told) => [channel, recipient, reason]),
    [
      ["SMS", null, "its target is damaged in the database"],
      ["Email", null, "its target is damaged in the database"],
    ],
  );
  const again = await resend(made[0]?.id ?? "");
  assert.deepEqual(
    [again.status, again.json.error, again.json.details],
    [404, "notification not found", ["its target is damaged in the database"]],
  );
});

interface Told {
  readonly channel: string;
  readonly recipient: string | null;
  readonly reason: string | null;
}
