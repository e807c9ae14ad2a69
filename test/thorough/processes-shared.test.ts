import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it, type TestContext } from "node:test";
import { protocolById } from "../../src/protocols/index.ts";
import { AckedTracker, speechOf } from "../support/acked-tracker.ts";
import { EventStream } from "../support/event-stream.ts";
import { Peer, until } from "../support/gateway.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { type Member, SeveralServices } from "../support/several-services.ts";

/** A user of the service, by a token. */
async function userOf(member: Member, fields: object) {
  const email = `u${Math.random()}@example.com`;
  const body = { name: "U", email, country: "CO", timeZone: "Etc/UTC", ...fields };
  const user = await member.call<{ readonly id: string }>("POST", "/api/users", body);
  const { apiKey: presentSecret } = JSON.parse(
    readFileSync(join(member.service.directory, "credentials.json"), "utf8"),
  );
  const { apiKey } = await member.call<{ apiKey: string }>("POST", `/api/users/${user.id}/apiKey`, { presentSecret });
  const { json } = await member.ask("POST", "/api/Auth/Token", { userName: email, apiKey }, {});
  return { id: user.id, email, body, headers: { authorization: `Bearer ${json.token}` } };
}

const start = Date.UTC(2026, 0, 1);
const range = { from: "2025-12-31T00:00:00Z", to: "2026-01-02T00:00:00Z" };

describe("what several processes share", { skip: noPostgres, timeout: 300_000 }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start({ settings: [["max_connections", "100"]] });
  });
  const two = async (context: TestContext, environment: Record<string, string> = {}) => {
    const services = await SeveralServices.start(context, server, 2, environment);
    return [services.of(0), services.of(1)] as const;
  };

  it("is what trackers reported to any of them", async (context) => {
    const [a, b] = await two(context);
    const teltonika = protocolById("teltonika");
    assert.ok(teltonika);
    const trackers = [0, 1, 2, 3].map(
      (index) => new AckedTracker(`35299200000000${index}`, speechOf(teltonika, start)),
    );
    for (const { device: id } of trackers) await a.call("POST", "/api/devices", { id });
    for (const [index, tracker] of trackers.entries()) tracker.run((index % 2 ? a : b).service.devicePort);
    await until(() => trackers.every(({ acked }) => acked >= 20));
    await Promise.all(trackers.map((tracker) => tracker.finish()));
    for (const { device, acked } of trackers) {
      const history = (member: Member) => member.ask("POST", `/api/devices/${device}/locations`, range);
      const [one, other] = [(await history(a)).json.locations, (await history(b)).json.locations];
      assert.equal(one.length, acked);
      assert.deepEqual(one, other);
      const last = async (member: Member) =>
        (await member.ask("GET", `/api/devices/${device}/lastLocation`)).json.lastLocation;
      // The follower comes by a moment later.
      const known = async (member: Member) => JSON.stringify(await last(member)) === JSON.stringify(one.at(-1));
      await until(() => known(a));
      await until(() => known(b));
    }
  });

  it("is what streams tell: alerts that another process finds, and not the places in its stream", async (context) => {
    const [a, b] = await two(context);
    const teltonika = protocolById("teltonika");
    assert.ok(teltonika);
    const trackers = Array.from(
      { length: 4 },
      (_, index) => new AckedTracker(`35299200000001${index}`, speechOf(teltonika, start)),
    );
    const devices = trackers.map(({ device }) => device);
    for (const id of devices) await a.call("POST", "/api/devices", { id });
    await a.call("POST", "/api/alertRules", { name: "Fast", type: "speedOver", parameters: { kmh: 20 }, devices });
    const streams = await Promise.all([a, b].map(({ service: { url, token } }) => EventStream.open({ url, token })));
    for (const stream of streams) await stream.next("live");
    for (const tracker of trackers) tracker.run(b.service.devicePort);
    for (const { events } of streams) {
      const told = () => new Set(events.flatMap(({ event, data }) => (event === "alert" ? [data.deviceId] : [])));
      await until(() => told().size === trackers.length);
    }
    await Promise.all(trackers.map((tracker) => tracker.finish()));
    const [last] = streams.map(({ lastId }) => lastId);
    const { url, token } = b.service;
    const resumed = await EventStream.open({ url, token, headers: { "last-event-id": last ?? "" } });
    assert.equal((await resumed.next("reset")).data.reason, "unknownId");
    for (const stream of [...streams, resumed]) stream.close();
  });

  it("is who may do what: taken away at one process, it is gone at the other", async (context) => {
    const [a, b] = await two(context);
    await a.call("POST", "/api/devices", { id: "van" });
    const group = await a.call<{ readonly id: string }>("POST", "/api/groups", { name: "G", devices: ["van"] });
    const user = await userOf(a, { privileges: ["read"], group: group.id });
    const sees = async (member: Member) =>
      (await member.ask("GET", "/api/devices/van", undefined, user.headers)).status;
    await until(async () => (await sees(b)) === 200);
    const stream = await EventStream.open({ url: b.service.url, headers: user.headers });
    await stream.next("live");
    await a.call("PUT", `/api/groups/${group.id}`, { name: "G", devices: [] });
    await until(async () => (await sees(b)) === 404);
    assert.equal((await stream.next("reset")).data.reason, "visibility");
    await b.call("PUT", `/api/groups/${group.id}`, { name: "G", devices: ["van"] });
    await until(async () => (await sees(a)) === 200);
    // A user that is disabled, and one whose key goes.
    await b.call("PUT", `/api/users/${user.id}`, { ...user.body, disabled: true });
    await until(async () => (await sees(a)) === 403);
    await stream.ended;
    await a.call("PUT", `/api/users/${user.id}`, { ...user.body, disabled: false });
    await until(async () => (await sees(b)) === 200);
    await b.call("DELETE", `/api/users/${user.id}/apiKey`);
    await until(async () => (await sees(a)) === 401);
    // A link.
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    type Link = { readonly share: { readonly id: string }; readonly token: string };
    const link = await a.call<Link>("POST", "/api/shares", { deviceId: "van", expires });
    const opens = async (member: Member) =>
      (await member.ask("GET", "/api/shared", undefined, { authorization: `Bearer ${link.token}` })).status;
    await until(async () => (await opens(b)) === 200);
    await a.call("DELETE", `/api/shares/${link.share.id}`);
    await until(async () => (await opens(b)) !== 200);
    // A device.
    await b.call("DELETE", "/api/devices/van");
    await until(async () => (await a.ask("GET", "/api/devices/van")).status === 404);
  });

  it("is how often somebody may guess", async (context) => {
    const [a, b] = await two(context, {
      WAYBEAM_SESSIONS_TRIES_PER_MINUTE: "1000",
      WAYBEAM_API_TOKEN_REQUESTS_PER_MINUTE: "6",
    });
    const guess = async (member: Member) =>
      (await member.ask("POST", "/api/session", { email: "x@example.com", password: "wrong-wrong" }, {})).status;
    for (let tries = 0; tries < 9; tries++) assert.equal(await guess(tries % 2 ? a : b), 401);
    // A tenth may pass at either before it is told of.
    await until(async () => (await guess(a)) === 429);
    await until(async () => (await guess(b)) === 429);
    const ask = async (member: Member) =>
      (await member.ask("POST", "/api/Auth/Token", { userName: "x@example.com", apiKey: "wrong" }, {})).status;
    for (let tries = 0; tries < 4; tries++) await ask(tries % 2 ? a : b);
    await until(async () => (await ask(a)) === 429);
    await until(async () => (await ask(b)) === 429);
  });

  it("is what may be read of a device in a day", async (context) => {
    const [a, b] = await two(context, { WAYBEAM_API_DAILY_RESULTS: "30" });
    const teltonika = protocolById("teltonika");
    assert.ok(teltonika);
    const tracker = new AckedTracker("352992000000009", speechOf(teltonika, start));
    await a.call("POST", "/api/devices", { id: tracker.device });
    tracker.run(a.service.devicePort);
    await until(() => tracker.acked >= 10);
    await tracker.finish();
    const read = async (member: Member) => {
      const body = { ...range, limit: 10 };
      return (await member.ask("POST", `/api/devices/${tracker.device}/locations`, body)).status;
    };
    // Both have its count in memory.
    assert.deepEqual([await read(a), await read(b)], [200, 200]);
    assert.equal(await read(a), 200);
    await until(async () => (await read(b)) === 429);
    await until(async () => (await read(a)) === 429);
  });

  it("is how a device is connected, also where it speaks to another process with each datagram", async (context) => {
    const [a, b] = await two(context, { WAYBEAM_API_COMMAND_WAIT_SECONDS: "1" });
    const imei = "100000000000004";
    await a.call("POST", "/api/devices", { id: imei });
    const streams = await Promise.all(
      [a, b].map(({ service: { url, token } }) =>
        EventStream.open({ url, token, query: { events: "status,location" } }),
      ),
    );
    for (const stream of streams) await stream.next("live");
    const login = protocolById("gt06")?.simulate?.login;
    assert.ok(login);
    const peer = new Peer(b.service.devicePort);
    peer.send(login(imei, 1));
    for (const stream of streams) await until(() => stream.events.at(-1)?.data.status?.connected === true);
    peer.end();
    for (const stream of streams) await until(() => stream.events.at(-1)?.data.status?.connected === false);
    // Datagrams by one socket, in turn to both.
    const h02 = "*HQ,4109179024,V1,120000,A,0440.0000,N,07400.0000,W,010.00,000,010126,FFFFFFFF#";
    await a.call("POST", "/api/devices", { id: "4109179024" });
    const socket = createSocket("udp4");
    context.after(() => socket.close());
    const received: string[] = [];
    socket.on("message", (bytes) => received.push(bytes.toString("latin1")));
    const speakTo = (member: Member) => socket.send(h02, member.service.devicePort, "127.0.0.1");
    const connected = () =>
      streams.map(
        ({ events }) => events.findLast(({ data }) => data.deviceId === "4109179024")?.data.status?.connected,
      );
    speakTo(a);
    await until(() => connected().every((one) => one === true));
    for (let turn = 0; turn < 10; turn++) {
      speakTo(turn % 2 === 0 ? b : a);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    const states = streams.map(({ events }) =>
      events.flatMap(({ data }) => (data.deviceId === "4109179024" ? [data.status?.connected] : [])),
    );
    // It is not connected before it speaks for the first time.
    for (const own of states) assert.ok(!own.slice(own.indexOf(true)).includes(false), JSON.stringify(own));
    // A command given to either process goes to where it spoke last.
    speakTo(b);
    for (const [index, member] of [a, b].entries()) {
      const command = `*HQ,4109179024,S2${index}#`;
      await member.ask("POST", "/api/devices/4109179024/sendCommand", { command });
      await until(() => received.join("").includes(command));
      assert.equal(received.filter((text) => text.includes(command)).length, 1);
    }
  });

  it("is the first start: one owner and one account, whoever is first", async (context) => {
    const services = await SeveralServices.atOnce(context, server, 2);
    const accounts = await services.query("select name from account");
    const owners = await services.query('select email from "user" where owner = 1');
    assert.deepEqual([accounts.length, owners.length], [1, 1]);
    // One of them was told the owner's key, and it holds at both.
    const headers = services.members.flatMap(({ service: { token } }) =>
      token === "" ? [] : [{ authorization: `Bearer ${token}` }],
    );
    assert.equal(headers.length, 1);
    for (const member of services.members)
      assert.equal((await member.ask("GET", "/api/devices", undefined, headers[0])).status, 200);
  });
});
