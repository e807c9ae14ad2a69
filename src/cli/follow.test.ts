import assert from "node:assert/strict";
import { test } from "node:test";
import { api, failure, ok, type Reply, waybeam } from "../../test/support/command-line.ts";
import { exitCodes } from "./exit.ts";

function alert(id: string) {
  const happened = { dateTime: "2026-11-20T23:59:00.000Z", alerts: ["Speed"], text: `text ${id}`, phase: "raised" };
  return { deviceId: "d1", id, ...happened, notifications: [] };
}

/** Events of a live stream; each has its place in all of them as its id. */
function events(...told: readonly (readonly [string, object])[]): Reply {
  const text = ([event, data]: readonly [string, object], index: number) =>
    `id: ${index + 1}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  return { body: undefined, events: `: \nid: 0\n\n${told.map(text).join("")}` };
}

const live = ["live", {}] as const;
const away = () => failure(503, "Service Unavailable", [], { "Retry-After": "1" });

/**
 * A stand-in whose streams are these, one after the other, each of which ends; and whose list of missed alerts has
 * these.
 */
function following(streams: readonly Reply[], missed: readonly object[] = []) {
  let [opened, listed] = [0, 0];
  return ({ path }: { readonly path: string }) => {
    if (path.startsWith("/api/stream")) return streams[opened++] ?? away();
    listed += 1;
    return ok({ alerts: listed === 2 ? missed : [], nextCursor: `c${listed}` });
  };
}

test("alert follow prints what is found and what becomes of it, and Ctrl-C ends it well", async (context) => {
  const one = alert("one");
  const seen = { ...one, acknowledgement: { user: "ana@example.com", note: "mine" } };
  const ended = { ...seen, endedAt: "2026-11-20T23:59:30.000Z", closing: { user: null, note: null } };
  const told = [one, alert("two"), seen, ended].map((data) => ["alert", data] as const);
  const { url, requests } = await api(context, following([events(live, ...told)]));
  const { code, out, err } = await waybeam(["alert", "follow"], { url, until: /ended/ });
  assert.equal(code, 0);
  const cells = out
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd().split(/ {2,}/));
  const happened = ["d1", "2026-11-20T23:59:00.000Z", "Speed"];
  const by = "acknowledged by ana@example.com (mine)";
  assert.deepEqual(cells, [
    [...happened, "text one"],
    [...happened, "text two"],
    [...happened, "text one", by],
    [...happened, "text one", `ended 2026-11-20T23:59:30.000Z, ${by}`],
  ]);
  assert.match(err, /^Following the alerts of all devices\./);
  assert.equal(requests.at(-1)?.path, "/api/stream?kind=alert");
});

test("alert follow of some devices asks for these alone", async (context) => {
  const { url, requests } = await api(context, following([events(live, ["alert", alert("one")])]));
  const { out } = await waybeam(["alert", "follow", "d1", "d2", "--json"], { url, until: /text one/ });
  assert.deepEqual(JSON.parse(out), alert("one"));
  for (const { path } of requests.slice(1)) assert.match(path, /^\/api\/(alerts|stream)\?.*device=d1%2Cd2/);
});

test("alert follow tells when the service does not answer, and goes on where it was", async (context) => {
  const streams = [events(live, ["alert", alert("one")]), away(), events(["alert", alert("while away")], live)];
  const { url, requests } = await api(context, following(streams));
  const { code, err } = await waybeam(["alert", "follow"], { url, until: /while away/ });
  assert.equal(code, 0);
  assert.equal(err.match(/trying again/g)?.length, 1);
  assert.match(err, /the service ended the stream; trying again/);
  assert.match(requests.at(-1)?.path ?? "", /lastEventId=2$/);
});

test("alert follow lists what a stream that begins anew does not tell, once", async (context) => {
  const reset = ["reset", { reason: "unknownId" }] as const;
  const streams = [events(live, ["alert", alert("one")]), events(reset, live, ["alert", alert("three")])];
  const { url, requests } = await api(context, following(streams, [alert("one"), alert("two")]));
  const { out } = await waybeam(["alert", "follow", "--json"], { url, until: /text three/ });
  const ids = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).id);
  assert.deepEqual(ids, ["one", "two", "three"]);
  assert.deepEqual(
    requests.map(({ path }) => path).filter((path) => path.startsWith("/api/alerts")),
    ["/api/alerts?follow=true", "/api/alerts?follow=true&cursor=c1", "/api/alerts?follow=true&cursor=c2"],
  );
});

test("alert follow of a device that is not there fails at once", async (context) => {
  const { url } = await api(context, () => failure(404, "device not found"));
  const { code, err } = await waybeam(["alert", "follow", "nope"], { url });
  assert.equal(code, exitCodes.notFound.code);
  assert.match(err, /nope: device not found/);
  assert.equal((await waybeam(["alert", "follow"], { url: "http://127.0.0.1:1" })).code, exitCodes.unreachable.code);
});

test("alert inbox asks as the options say, page by page; acknowledge and close send what was named", async (context) => {
  const shown = { ...alert("a1"), deviceName: "Truck", state: "acknowledged", critical: true };
  const { url, requests } = await api(context, ({ method, path, body }) => {
    if (method === "POST") return ok({ alerts: Object(body).ids.map((id: string) => ({ id, state: "closed" })) });
    if (path.includes("cursor=c1")) return ok({ alerts: [alert("a2")] });
    return ok({ alerts: [{ ...shown, acknowledgement: { user: "ana@example.com", note: "mine" } }], nextCursor: "c1" });
  });
  const inbox = await waybeam(["alert", "inbox", "--state", "open", "--device", "d1,d2", "--critical"], { url });
  assert.match(inbox.out, /a1 .*Truck +acknowledged, critical +Speed +text a1 +ana@example.com: mine\n.*a2 /s);
  const asked = requests.filter(({ path }) => path.startsWith("/api/alerts?"));
  assert.equal(asked.length, 2);
  for (const { path } of asked) assert.match(path, /state=open&device=d1%2Cd2&critical=true/);
  const closed = await waybeam(["alert", "close", "a1", "a2", "--note", "done"], { url });
  assert.deepEqual(requests.at(-1)?.body, { ids: ["a1", "a2"], note: "done" });
  assert.equal(requests.at(-1)?.path, "/api/alerts/close");
  assert.match(closed.err, /2 of 2 alerts are closed/);
});
