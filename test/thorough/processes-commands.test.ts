import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { protocols } from "../../src/protocols/index.ts";
import { Peer, until } from "../support/gateway.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { type Member, SeveralServices } from "../support/several-services.ts";

const simulate = protocols.find(({ id }) => id === "gt06")?.simulate;

interface Outcome {
  readonly result: string;
  readonly commandId: string;
}

interface Records {
  readonly commands: readonly {
    readonly id: string;
    readonly command: string;
    readonly state: string;
    readonly reply: string | null;
    readonly failure: string | null;
  }[];
}

/** A tracker that is logged in, and what it was sent since. */
async function connected(member: Member, imei: string): Promise<Peer & { readonly since: number }> {
  assert.ok(simulate?.login);
  const peer = new Peer(member.service.devicePort);
  peer.send(simulate.login(imei, 1));
  await until(() => peer.received.length > 0);
  return Object.assign(peer, { since: peer.received.length });
}

/** Waits until a process knows that the device came. Others tell it within a second. */
async function untilSeen(member: Member, imei: string): Promise<void> {
  type Identity = { readonly identity: { readonly lastSeen: object | null } };
  const lastSeen = async () => (await member.call<Identity>("GET", `/api/devices/${imei}/identity`)).identity.lastSeen;
  await until(async () => (await lastSeen()) !== null);
}

/** Waits until the tracker was sent this text. */
const sentTo = (peer: Peer, text: string) => until(() => peer.received.includes(text));

const records = async (member: Member, imei: string) =>
  (await member.call<Records>("GET", `/api/devices/${imei}/commands`)).commands;

async function recordOf(member: Member, imei: string, command: string) {
  return (await records(member, imei)).find((one) => one.command === command);
}

describe("commands with several processes", { skip: noPostgres, timeout: 300_000 }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });

  it("reach the process with the connection, and say so where they were given", async (context) => {
    const services = await SeveralServices.start(context, server, 2, { WAYBEAM_API_COMMAND_WAIT_SECONDS: "3" });
    const [a, b] = [services.of(0), services.of(1)];
    const imei = "100000000000001";
    const send = (member: Member, body: object) =>
      member.call<Outcome>("POST", `/api/devices/${imei}/sendCommand`, body);
    await a.call("POST", "/api/devices", { id: imei });
    const peer = await connected(b, imei);
    await untilSeen(a, imei);
    // What was asked at A is answered once B has written it and waited.
    const waited = await send(a, { command: "FIRST" });
    assert.match(waited.result, /^sent, no reply came/);
    assert.equal(peer.received.slice(peer.since), "FIRST");
    assert.deepEqual(await records(a, imei), await records(b, imei));
    // One that must not wait, too.
    const atOnce = await send(a, { command: "SECOND", ttlSeconds: 0 });
    assert.match(atOnce.result, /^sent, no reply came/);
    assert.equal(peer.received.slice(peer.since), "FIRSTSECOND");
    // And many at a time from both, once each.
    const texts = Array.from({ length: 10 }, (_, index) => `<${index}>`);
    await Promise.all(texts.map((command, index) => send(index % 2 === 0 ? a : b, { command })));
    await until(() => texts.every((text) => peer.received.includes(text)));
    const all = peer.received.slice(peer.since + "FIRSTSECOND".length);
    assert.deepEqual(all.match(/<\d>/g)?.toSorted(), texts);
    peer.end();
  });

  it("wait where no process has the connection, and go to the one that gets it", async (context) => {
    const services = await SeveralServices.start(context, server, 2, { WAYBEAM_API_COMMAND_WAIT_SECONDS: "1" });
    const [a, b] = [services.of(0), services.of(1)];
    const imei = "100000000000002";
    const path = `/api/devices/${imei}/sendCommand`;
    await a.call("POST", "/api/devices", { id: imei });
    const { result } = await a.call<Outcome>("POST", path, { command: "QUEUED" });
    assert.match(result, /^queued: the device is not connected/);
    assert.match((await a.call<Outcome>("POST", path, { command: "NOW", ttlSeconds: 0 })).result, /^failed/);
    const first = await connected(b, imei);
    await sentTo(first, "QUEUED");
    // The tracker moves to the other process: the connection that it had ends, and commands follow it.
    const second = await connected(a, imei);
    await first.closed;
    assert.ok(!second.received.includes("QUEUED"));
    await b.call<Outcome>("POST", path, { command: "MOVED" });
    await sentTo(second, "MOVED");
    assert.ok(!second.received.includes("NOW"));
    second.end();
  });

  it("of a process that is killed are never written twice, and what nobody began goes to the next connection", async (context) => {
    const services = await SeveralServices.start(context, server, 2, { WAYBEAM_API_COMMAND_WAIT_SECONDS: "8" });
    const [a, b] = [services.of(0), services.of(1)];
    const imei = "100000000000003";
    const path = `/api/devices/${imei}/sendCommand`;
    await a.call("POST", "/api/devices", { id: imei });
    const first = await connected(b, imei);
    await untilSeen(a, imei);
    const answer = a.call<Outcome>("POST", path, { command: "WRITTEN" });
    await sentTo(first, "WRITTEN");
    // It has none as long as its outcome is waited for.
    await until(async () => (await recordOf(a, imei, "WRITTEN"))?.failure === null);
    const queued = a.call<Outcome>("POST", path, { command: "NEXT" });
    await until(async () => (await recordOf(a, imei, "NEXT"))?.state === "queued");
    await b.kill();
    const second = await connected(a, imei);
    await sentTo(second, "NEXT");
    assert.ok(!second.received.includes("WRITTEN"));
    await until(async () => ((await recordOf(a, imei, "WRITTEN"))?.failure ?? "") !== "");
    assert.match((await recordOf(a, imei, "WRITTEN"))?.failure ?? "", /^no outcome was recorded/);
    assert.match((await answer).result, /^sent: no outcome was recorded/);
    second.end();
    await queued;
  });
});
