import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Notice } from "../../src/model/notice.ts";
import type { SmsSender } from "../../src/ports/sms.ts";
import { commitAlerts, email, makeNotice, newAlert, newNotice } from "../contract/store/alert-values.ts";
import { OutboxBench } from "../support/outbox.ts";
import { capsOfTests, endRest, operatorKey, type Rest, startRest } from "../support/rest.ts";
import { SmtpPeer } from "../support/smtp-peer.ts";

const limits = { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000, tokenSeconds: 1_000_000 };
const sender: SmsSender = {
  binary: true,
  parts: () => 1,
  send: async () => ({ outcome: "accepted", ids: ["1"] }),
  onReceipt: () => {},
  close: async () => {},
};
let rest: Rest;
let first: string;
let north: { id: string; token: string };

const call = (method: string, url: string, token: string, body?: unknown) => rest.call(method, url, { token, body });
async function told(method: string, url: string, token: string, body?: unknown) {
  const { status, json } = await call(method, url, token, body);
  return status < 300 ? status : [status, json.error];
}

before(async () => {
  rest = await startRest({ limits, sms: sender, resends: { perMinute: 6, ofNotice: 2 } });
  first = await rest.ownerToken();
  const owner = { name: "Eva", email: "eva@example.com", country: "CO", timeZone: "America/Bogota" };
  const account = { name: "North", timeZone: "America/Bogota", licenses: 5, dailySms: 3, deviceDailySms: 2 };
  const made = (await call("POST", "/api/admin/accounts", operatorKey, { ...account, owner })).json;
  const key = { userName: owner.email, apiKey: made.owner.apiKey };
  north = { id: made.account.id, token: (await rest.call("POST", "/api/Auth/Token", { body: key })).json.token };
});
after(() => endRest(rest));

describe("what the operator allows an account", () => {
  test("is set for each, or comes from the settings; the first account has no cap; both see it, with its use", async () => {
    const own = (await call("GET", "/api/account", north.token)).json;
    assert.deepEqual(
      [own.dailyEmails, own.dailySms, own.deviceDailyEmails, own.deviceDailySms],
      [{ limit: capsOfTests.dailyEmails, used: 0 }, { limit: 3, used: 0 }, capsOfTests.deviceDailyEmails, 2],
    );
    assert.deepEqual(own.identifiers, { limit: 20, used: 0 });
    const ofFirst = (await call("GET", "/api/account", first)).json;
    assert.deepEqual([ofFirst.dailySms.limit, ofFirst.deviceDailySms], [1e9, 1e6]);
    const path = `/api/admin/accounts/${north.id}`;
    const steps = [{ op: "add", path: "/dailyEmails", value: 7 }];
    assert.deepEqual((await call("PATCH", path, operatorKey, steps)).json.account.dailyEmails, { limit: 7, used: 0 });
    const read = (await call("GET", path, operatorKey)).json.account;
    assert.deepEqual([read.dailyEmails.limit, read.dailySms.limit], [7, 3]);
    assert.equal((await call("GET", "/api/account", north.token)).json.dailyEmails.limit, 7);
    const put = { name: "North", timeZone: "America/Bogota", licenses: 5, dailySms: 3, deviceDailySms: 2 };
    assert.equal((await call("PUT", path, operatorKey, put)).json.account.dailyEmails.limit, capsOfTests.dailyEmails);
    assert.deepEqual(await told("PATCH", path, north.token, steps), [403, "permission denied"]);
  });

  test("bounds its devices' limits, and what all of them send in a day", async () => {
    for (const id of ["n1", "n2"]) await call("POST", "/api/devices", north.token, { id, min: "+573001112233" });
    const limitsOf = (id: string) => `/api/devices/${id}/limits`;
    assert.deepEqual(await told("PUT", limitsOf("n1"), north.token, { dailySmsLimit: 3 }), [
      409,
      "limit above the account's",
    ]);
    assert.equal(await told("PUT", limitsOf("n1"), north.token, { dailySmsLimit: 2 }), 200);
    assert.equal((await call("GET", limitsOf("n2"), north.token)).json.dailySmsLimit, 2, "10 unless set");
    const send = (id: string) =>
      call("POST", `/api/devices/${id}/sendCommand`, north.token, { command: "x", sms: true });
    assert.deepEqual([(await send("n1")).status, (await send("n1")).status], [200, 200]);
    assert.deepEqual(await send("n1").then(({ status, json }) => [status, json.error]), [
      429,
      "daily SMS limit reached",
    ]);
    assert.equal((await send("n2")).status, 200);
    const beyond = await send("n2");
    assert.deepEqual([beyond.status, beyond.json.error], [429, "daily SMS limit reached"]);
    assert.deepEqual(beyond.json.details, ["the SMS of the account's day do not suffice"]);
    assert.ok(Number(beyond.headers["retry-after"]) > 0);
    assert.deepEqual((await call("GET", "/api/account", north.token)).json.dailySms, { limit: 3, used: 3 });
    await call("DELETE", "/api/devices/n1", north.token);
    await call("POST", "/api/devices", north.token, { id: "n1", min: "+573001112233" });
    assert.equal((await send("n1")).status, 429, "a device made anew brings no further places");
    rest.clock.jump(86_400_000);
    assert.equal((await send("n1")).status, 200);
    rest.clock.jump(-86_400_000);
    await call("PUT", limitsOf("n1"), first, {});
  });

  test("suppresses notices beyond the day, and says so", async () => {
    const peer = new SmtpPeer();
    const bench = await OutboxBench.make({ mail: { port: await peer.listen() } });
    try {
      const { device } = bench;
      const account = await bench.store.accounts.find(device.accountKey);
      assert.ok(account);
      const { key, id: _id, creation: _creation, ...fields } = account;
      await bench.store.accounts.replace(key, { ...fields, caps: { ...account.caps, dailyEmails: 2 } });
      bench.outbox.start();
      const target = (to: string) => ({ ...email, to });
      const ids = await bench.commit([target("a@example.org"), target("b@example.org"), target("c@example.org")]);
      const ended = await bench.ended(ids);
      assert.deepEqual(ended.map(({ state, reason }) => [state, reason]).toSorted(), [
        ["sent", null],
        ["sent", null],
        ["suppressed", "daily e-mail limit of the account reached"],
      ]);
      assert.equal(peer.taken.length, 2);
    } finally {
      await bench.close();
      await peer.close();
    }
  });
});

describe("sending a notice again", () => {
  test("asks for sight of its rule, and has a limit for each notice and each user", async () => {
    for (const id of ["r1", "r2"]) await call("POST", "/api/devices", first, { id });
    const key = (await rest.store.devices.find("r1"))?.key ?? 0;
    const makeRule = async (devices: string[]) => {
      const body = { name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices };
      return (await call("POST", "/api/alertRules", first, body)).json.id;
    };
    const seen = newAlert(key, 1, { ruleId: await makeRule(["r1"]) });
    const unseen = newAlert(key, 2, { ruleId: await makeRule(["r1", "r2"]) });
    const suppressed = { target: email, state: "suppressed", reason: "repeated" } as const;
    const made = [seen, unseen].map((alert) => newNotice(alert, suppressed));
    await commitAlerts(rest.store, key, [seen, unseen], made);
    const resend = (id: string | undefined, token: string) =>
      told("POST", `/api/devices/r1/notifications/${id}/resend`, token);
    const writer = await rest.userToken({ deviceId: "r1", privileges: ["write"] });
    assert.deepEqual(await resend(made[1]?.id, writer), [404, "notification not found"]);
    assert.equal(await resend(made[1]?.id, first), 200);
    const end = async () => {
      const notice = await rest.store.notices.find(key, made[0]?.id ?? "");
      await rest.store.notices.claim(notice?.key ?? 0, 0, undefined);
      await rest.store.notices.finish(notice?.key ?? 0, { state: "sent", reason: null, peerId: null, dueAt: 0 }, 1);
    };
    assert.equal(await resend(made[0]?.id, writer), 200);
    await end();
    assert.equal(await resend(made[0]?.id, writer), 200);
    await end();
    assert.deepEqual(await resend(made[0]?.id, writer), [409, "notification resent too often"]);
    const others: Notice[] = [];
    for (let at = 0; at < 4; at++) others.push(await makeNotice(rest.store, key, { ...suppressed, alertId: seen.id }));
    const codes = [];
    for (const { id } of others) codes.push(await resend(id, writer));
    assert.deepEqual(codes, [200, 200, 200, [429, "Too Many Requests"]]);
    rest.clock.pass(60_000);
    assert.equal(await resend(others[3]?.id, writer), 200);
  });
});

describe("identifiers", () => {
  const create = (body: object, token = north.token) => told("POST", "/api/devices", token, body);

  test("an expired device can't be made; one that is there may be ended so", async () => {
    const expires = new Date(rest.clock.now() - 1000).toISOString();
    assert.deepEqual(await create({ id: "old", expires }), [409, "device expired"]);
    assert.equal(await rest.store.devices.find("old"), undefined);
    assert.equal(await create({ id: "old", expires: new Date(rest.clock.now() + 60_000).toISOString() }), 201);
    assert.equal(await told("PUT", "/api/devices/old/limits", north.token, { expires }), 200);
    assert.equal(await told("DELETE", "/api/devices/old", north.token), 200);
  });

  test("an alias asks for the right to register it, also one that is a part of the device's id", async () => {
    const id = "490154203237518";
    assert.equal(await create({ id, aliases: ["54203237518", "49015420323751"] }), 201);
    const group = (await call("POST", "/api/groups", north.token, { name: "G", devices: [id, "serial-7"] })).json;
    assert.equal(group.devices.length, 2);
    const accountKey = (await rest.store.accounts.findById(north.id))?.key ?? 0;
    const writer = await rest.userToken({ accountKey, group: "G", privileges: ["write"] });
    const alias = (name: string, token = north.token) =>
      told("PATCH", `/api/devices/${id}`, token, [{ op: "add", path: "/aliases/-", value: name }]);
    assert.deepEqual(await alias("serial-8", writer), [403, "permission denied"]);
    assert.equal(await alias("serial-7", writer), 200);
    assert.deepEqual(await alias("03237518", writer), [403, "permission denied"]);
    const put = { aliases: ["54203237518", "3237518"] };
    assert.deepEqual(await told("PUT", `/api/devices/${id}`, writer, put), [403, "permission denied"]);
    assert.equal(await alias("serial-8"), 200);
    assert.equal(await told("PATCH", `/api/devices/${id}`, writer, [{ op: "add", path: "/name", value: "Kept" }]), 200);
  });

  test("nobody's unregistered tracker is captured: neither by its IMEI nor while it knocks; all refusals say the same of whose it is", async () => {
    const tracker = "356938035643809";
    assert.deepEqual(await create({ id: "trap", aliases: [tracker] }), [409, "alias not allowed"]);
    assert.deepEqual(await create({ id: "trap", aliases: [`0${tracker}`] }), [409, "alias not allowed"]);
    rest.quarantine.add({
      cause: "unknown",
      ids: ["1234567890"],
      protocol: "h02",
      transport: "tcp",
      address: "192.0.2.1",
    });
    await call("POST", "/api/devices", first, { id: "of-first", aliases: ["alias-of-first"] });
    const answers = await Promise.all(
      ["1234567890", "of-first", "alias-of-first"].map((alias) =>
        call("POST", "/api/devices", north.token, { id: "trap", aliases: [alias] }),
      ),
    );
    for (const { status, json } of answers)
      assert.deepEqual([status, json.error, json.details], [409, "device already exists", answers[0]?.json.details]);
    assert.equal(await create({ id: "of-first-2", aliases: [tracker] }, first), 201, "who runs the service may");
  });

  test("a tracker that knocks is not captured by a device whose id is a digit in front of what it reports", async () => {
    for (const tracker of ["353001020000006", "350000000000001", "2345678901"]) {
      rest.quarantine.add({
        cause: "unknown",
        ids: [tracker],
        protocol: "h02",
        transport: "tcp",
        address: "192.0.2.2",
      });
      const refused = [409, tracker.length === 15 ? "alias not allowed" : "device already exists"];
      for (const id of [`1${tracker}`, `0${tracker}`, `35000${tracker}`])
        assert.deepEqual(await create({ id, aliases: [tracker] }), refused, id);
      const trap = `1${tracker}`;
      assert.equal(await create({ id: trap }), 201);
      const steps = [{ op: "add", path: "/aliases/-", value: tracker }];
      assert.deepEqual(await told("PUT", `/api/devices/${trap}`, north.token, { aliases: [tracker] }), refused);
      assert.deepEqual(await told("PATCH", `/api/devices/${trap}`, north.token, steps), refused);
      assert.equal(await told("DELETE", `/api/devices/${trap}`, north.token), 200);
      assert.ok(rest.quarantine.unknown().some(({ ids }) => ids.includes(tracker)));
      assert.equal(await create({ id: tracker }, first), 201, "the rightful account registers it");
    }
  });

  test("of two accounts that take one at once, as id or alias, one gets it", async () => {
    for (let at = 0; at < 10; at++) {
      const taken = await Promise.all([
        create({ id: `race-${at}`, aliases: [`other-${at}`] }, first),
        create({ id: `other-${at}` }, north.token),
      ]);
      assert.deepEqual(taken.filter((each) => each === 201).length, 1);
      for (const id of [`race-${at}`, `other-${at}`])
        await Promise.all([first, north.token].map((token) => told("DELETE", `/api/devices/${id}`, token)));
    }
  });

  test("an account holds so many for its licences, expired devices counted", async () => {
    const { identifiers } = (await call("GET", "/api/account", north.token)).json;
    const free = identifiers.limit - identifiers.used;
    const names = (count: number, of: string) => Array.from({ length: count }, (_, at) => `${of}-${at}`);
    assert.deepEqual(await create({ id: "many", aliases: names(free, "a") }), [409, "identifier limit reached"]);
    assert.equal(await create({ id: "many", aliases: names(free - 1, "a") }), 201);
    const soon = new Date(rest.clock.now() - 1).toISOString();
    assert.equal(await told("PUT", "/api/devices/many/limits", north.token, { expires: soon }), 200);
    assert.deepEqual(await create({ id: "one-more" }), [409, "identifier limit reached"]);
    assert.equal(await told("PUT", "/api/devices/many", north.token, { aliases: names(2, "b") }), 200);
    assert.equal(await create({ id: "one-more" }), 201);
  });
});
