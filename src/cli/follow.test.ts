import assert from "node:assert/strict";
import { test } from "node:test";
import { api, failure, ok, type Reply, waybeam } from "../../test/support/command-line.ts";
import { exitCodes } from "./exit.ts";

function alert(id: string) {
  const happened = { dateTime: "2026-11-20T23:59:00.000Z", alerts: ["Speed"], text: `text ${id}`, phase: "raised" };
  return { deviceId: "d1", id, ...happened, notifications: [] };
}

/** A stand-in that gives these lists one after the other, each behind the cursor of the one before, and then nothing. */
function following(...steps: readonly (readonly object[] | Reply)[]) {
  let asked = 0;
  return ({ path }: { readonly path: string }) => {
    const cursor = new URLSearchParams(path.split("?")[1]).get("cursor");
    assert.equal(cursor, asked === 0 ? null : `c${asked}`);
    const step = steps[asked] ?? [];
    if (!Array.isArray(step)) {
      steps = steps.toSpliced(asked, 1);
      return step as Reply;
    }
    asked += 1;
    return ok({ alerts: step, nextCursor: `c${asked}` });
  };
}

test("alert follow prints what is found, once and in its order, and Ctrl-C ends it well", async (context) => {
  const { url, requests } = await api(context, following([], [alert("one"), alert("two")], [], [alert("three")]));
  const { code, out, err } = await waybeam(["alert", "follow"], { url, until: /text three/ });
  assert.equal(code, 0);
  const line = (id: string) => `d1 +2026-11-20T23:59:00.000Z +Speed +text ${id}\n`;
  assert.match(out, new RegExp(`^${line("one")}${line("two")}${line("three")}$`));
  assert.match(err, /^Following the alerts of all devices\./);
  assert.equal(
    requests.some(({ path }) => path.includes("/devices")),
    false,
  );
});

test("alert follow of some devices asks for these alone", async (context) => {
  const { url, requests } = await api(context, following([], [alert("one")]));
  const { out } = await waybeam(["alert", "follow", "d1", "d2", "--json"], { url, until: /text one/ });
  assert.deepEqual(JSON.parse(out), alert("one"));
  for (const { path } of requests.slice(1)) assert.match(path, /^\/api\/alerts\?.*device=d1%2Cd2/);
});

test("alert follow tells when the service does not answer, goes on, and misses nothing", async (context) => {
  const away = () => failure(503, "Service Unavailable", [], { "Retry-After": "1" });
  const { url } = await api(context, following([], away(), away(), [alert("while away")]));
  const { code, out, err } = await waybeam(["alert", "follow"], { url, until: /while away/ });
  assert.equal(code, 0);
  assert.match(out, /while away/);
  assert.equal(err.match(/Service Unavailable; trying again/g)?.length, 1);
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
