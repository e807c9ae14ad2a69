import assert from "node:assert/strict";
import { test } from "node:test";
import { api, failure, ok, waybeam } from "../../test/support/command-line.ts";
import { exitCodes } from "./exit.ts";

/** The test's host lives at this moment. */
const now = Date.UTC(2026, 10, 21);

function alert(id: string, minutesAgo = 1) {
  const dateTime = new Date(now - minutesAgo * 60_000).toISOString();
  return { id, dateTime, alerts: ["Speed"], text: `text ${id}`, phase: "raised", notifications: [] };
}

test("alert follow prints what is new once, late ones too, and Ctrl-C ends it well", async (context) => {
  const stored = [alert("old"), alert("older", 300)];
  let looks = 0;
  const { url } = await api(context, ({ path, body }) => {
    if (path === "/api/devices") return ok({ devices: [{ id: "d1" }] });
    looks += 1;
    if (looks === 2) stored.push(alert("new"));
    if (looks === 5) stored.push(alert("late", 600));
    const { from, to } = Object(body);
    return ok({ alerts: stored.filter(({ dateTime }) => dateTime >= from && dateTime <= to) });
  });
  const { code, out, err } = await waybeam(["alert", "follow"], { url, until: /text late/, step: 20_000 });
  assert.equal(code, 0);
  assert.match(
    out,
    /^d1 +2026-11-20T23:59:00.000Z +Speed +text new\nd1 +2026-11-20T14:00:00.000Z +Speed +text late\n$/,
  );
  assert.match(err, /^Following the alerts of 1 device;/);
});

test("alert follow tells what a tracker kept in its order, though the end of it happened just now", async (context) => {
  let looks = 0;
  const { url } = await api(context, ({ body }) => {
    looks += 1;
    const { from, to } = Object(body);
    const stored = looks < 2 ? [] : [alert("began", 20), alert("is over", 1)];
    return ok({ alerts: stored.filter(({ dateTime }) => dateTime >= from && dateTime <= to) });
  });
  const { out } = await waybeam(["alert", "follow", "d1"], { url, until: /text is over/, step: 5000 });
  assert.match(out, /^d1 .*text began\nd1 .*text is over\n$/);
});

test("a device that is registered while alerts are followed is followed from its first alert on", async (context) => {
  let lists = 0;
  const { url } = await api(context, ({ path }) => {
    if (path !== "/api/devices") return ok({ alerts: path.includes("d2") ? [alert("of d2")] : [alert("old")] });
    lists += 1;
    return ok({ devices: lists === 1 ? [{ id: "d1" }] : [{ id: "d1" }, { id: "d2" }] });
  });
  const { out } = await waybeam(["alert", "follow"], { url, until: /text of d2/, step: 20_000 });
  assert.match(out, /^d2 .*text of d2\n$/);
});

test("alert follow tells when the service does not answer, goes on, and misses nothing", async (context) => {
  let looks = 0;
  const { url } = await api(context, () => {
    looks += 1;
    if (looks === 2 || looks === 3) return failure(503, "Service Unavailable", [], { "Retry-After": "1" });
    return ok({ alerts: looks < 4 ? [] : [alert("while away")] });
  });
  const setup = { url, until: /while away/, step: 5000 };
  const { code, out, err } = await waybeam(["alert", "follow", "d1", "--json"], setup);
  assert.equal(code, 0);
  assert.equal(JSON.parse(out).deviceId, "d1");
  assert.equal(err.match(/Service Unavailable; trying again/g)?.length, 1);
});

test("alert follow of a device that is not there fails at once", async (context) => {
  const { url } = await api(context, () => failure(404, "device not found"));
  const { code, err } = await waybeam(["alert", "follow", "nope"], { url });
  assert.equal(code, exitCodes.notFound.code);
  assert.match(err, /nope: device not found/);
  assert.equal((await waybeam(["alert", "follow"], { url: "http://127.0.0.1:1" })).code, exitCodes.unreachable.code);
});

test("a device whose results of the day are used up rests, and the others are followed on", async (context) => {
  let looks = 0;
  const { url } = await api(context, ({ path }) => {
    looks += 1;
    if (looks > 2 && path.includes("d1"))
      return failure(429, "daily results limit reached", [], { "Retry-After": "9999" });
    return ok({ alerts: looks > 8 ? [alert("of d2")] : [] });
  });
  const { out, err } = await waybeam(["alert", "follow", "d1", "d2"], { url, until: /of d2/, step: 5000 });
  assert.match(out, /^d2 .*of d2\n$/);
  assert.equal(err.match(/d1: daily results limit reached; looking again/g)?.length, 1);
});
