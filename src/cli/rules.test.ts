import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { api, failure, ok, type Reply, waybeam } from "../../test/support/command-line.ts";
import { exitCodes } from "./exit.ts";

const speed = {
  ...{ id: "r1", name: "Speed", type: "speedOver", enabled: true, critical: true, devices: ["d1", "d2"], groups: [] },
  ...{ channels: { email: [{ to: "a@b.c" }], sms: [], webhook: [] }, problems: ["the device d2 is gone"] },
};
const zones = [
  { id: "z1", name: "Depot", geometry: { type: "Point", coordinates: [1, 2], radius: 0.5 } },
  { id: "z2", name: "Road", geometry: { type: "LineString", coordinates: [], width: 0.2 } },
];

/** A stand-in that has a rule, two zones and a group, and answers a POST with its body. */
function service(context: TestContext, more: (path: string, body: unknown) => Reply | undefined = () => undefined) {
  return api(context, ({ method, path, body }) => {
    const given = more(path, body);
    if (given) return given;
    if (method === "GET" && path === "/api/alertRules") return ok({ rules: [speed] });
    if (method === "GET" && path === "/api/geofences") return ok({ geofences: zones });
    if (path === "/api/groups") return ok({ groups: [{ id: "g1", name: "North" }] });
    if (method === "POST" && typeof body === "object") return ok({ id: "new", ...body, problems: [] });
    return method === "DELETE" || method === "GET" ? ok({}) : failure(404, "alert rule not found");
  });
}

test("rule list shows what a rule watches, whom it tells, and what is wrong with it", async (context) => {
  const { url } = await service(context);
  const { out, code } = await waybeam(["rule", "list"], { url });
  assert.match(out, /^ID +NAME +TYPE +WATCHES +TELLS +STATE +PROBLEMS\n/);
  assert.match(out, /\nr1 +Speed +speedOver +2 devices +1 email +on, critical +the device d2 is gone\n$/);
  assert.equal(code, 0);
});

test("rule add makes the body of its options: numbers as such, zones and groups by name", async (context) => {
  const { url, requests } = await service(context);
  const sent = async (...args: string[]) => {
    const { code, err } = await waybeam(["rule", "add", ...args], { url });
    assert.equal(code, 0, err);
    return requests.at(-1)?.body;
  };
  const limits = ["--set", "kmh=80", "--device", "d1", "--device", "d2", "--email", "ops@example.com"];
  assert.deepEqual(await sent("Speed", "--type", "speedOver", ...limits, "--hold", "1m30s"), {
    ...{ name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices: ["d1", "d2"] },
    ...{ channels: { email: [{ to: "ops@example.com" }] }, hysteresis: { holdSeconds: 90 } },
  });
  assert.deepEqual(
    await sent("--type", "allowedZone", "--zone", "depot", "--zone", "z2", "--group", "north", "--critical"),
    {
      ...{ name: "allowedZone", type: "allowedZone", parameters: { zones: ["z1", "z2"] }, groups: ["g1"] },
      ...{ channels: {}, critical: true },
    },
  );
  const equal = ["--set", "attribute=door", "--set", "value=007", "--when-over"];
  assert.deepEqual(await sent("--type", "attributeEqual", ...equal), {
    ...{ name: "attributeEqual", type: "attributeEqual", parameters: { attribute: "door", value: "007" } },
    ...{ channels: {}, notifyWhenOver: true },
  });
});

test("rule add --file takes what rule show --json gave; options come on top", async (context) => {
  const { url, requests } = await service(context);
  const input = JSON.stringify({
    ...speed,
    parameters: { kmh: 80 },
    hysteresis: { holdSeconds: 5, cooldownSeconds: 9 },
  });
  const { code } = await waybeam(
    ["rule", "add", "--file", "-", "--set", "kmh=90", "--cooldown", "1h", "--sms", "+57300"],
    {
      url,
      input,
    },
  );
  assert.equal(code, 0);
  const { id: _, problems: __, ...fields } = speed;
  assert.deepEqual(requests.at(-1)?.body, {
    ...{ ...fields, parameters: { kmh: 90 }, hysteresis: { holdSeconds: 5, cooldownSeconds: 3600 } },
    channels: { email: [{ to: "a@b.c" }], sms: [{ to: "+57300" }], webhook: [] },
  });
});

test("rule set sends what differs, each field with its present value as a condition", async (context) => {
  const { url, requests } = await service(context, (path) =>
    path === "/api/alertRules/r1" ? ok({ ...speed, text: null, parameters: {} }) : undefined,
  );
  const sent = async (...args: string[]) => {
    const { code, err } = await waybeam(["rule", "set", "Speed", ...args], { url });
    assert.equal(code, 0, err);
    return requests.at(-1)?.body;
  };
  const change = (name: keyof typeof speed, value: unknown) => [
    { op: "test", path: `/${name}`, value: speed[name] },
    { op: "add", path: `/${name}`, value },
  ];
  assert.deepEqual(await sent("--name", "Fast", "--disable"), [...change("name", "Fast"), ...change("enabled", false)]);
  assert.deepEqual(await sent("--unset", "devices", "--group", "North"), [
    ...change("devices", []),
    ...change("groups", ["g1"]),
  ]);
  const { channels } = speed;
  const slack = { url: "https://hooks.example.com/a", format: "slack" };
  assert.deepEqual(
    await sent("--slack", slack.url, "--telegram", "-100", "--email", "x@y.z"),
    change("channels", {
      ...{ email: [...channels.email, { to: "x@y.z" }], sms: [], webhook: [slack], telegram: [{ chat: "-100" }] },
    }),
  );
  const nothing = await waybeam(["rule", "set", "Speed"], { url });
  assert.deepEqual([nothing.code, /^name +Speed$/m.test(nothing.out)], [0, true]);
  assert.equal((await waybeam(["rule", "set", "Speed", "--unset", "mood"], { url })).code, exitCodes.usage.code);
});

test("rules that can't be meant end with 2 before anything is sent", async (context) => {
  const { url, requests } = await service(context);
  const wrong = [
    ["rule", "add", "x"],
    ["rule", "add", "--type", "boredom"],
    ["rule", "add", "--type", "speedOver", "--hold", "long"],
    ["rule", "add", "--file", "/does/not/exist"],
    ["rule", "try", "Speed", "--type", "speedOver", "--device", "d1"],
    ["rule", "try", "--device", "d1"],
  ];
  for (const args of wrong) assert.equal((await waybeam(args, { url })).code, exitCodes.usage.code, args.join(" "));
  assert.deepEqual(
    requests.filter(({ method, path }) => method === "POST" && !path.endsWith("Token")),
    [],
  );
  const unknown = await waybeam(["rule", "show", "nope"], { url });
  assert.deepEqual([unknown.code, unknown.err.includes("`waybeam rule list`")], [exitCodes.notFound.code, true]);
});

const alert = { dateTime: "t1", alerts: ["Speed"], text: "Speed 92 km/h", phase: "raised", notifications: ["Email"] };

test("rule try prints alerts as they come, counts at the end, and fails where the trial does", async (context) => {
  const lines: unknown[] = [{ progress: 0.5, positions: 10 }, { alert }, { progress: 1, positions: 20 }];
  const end = { done: true, success: true, alerts: 1, positions: 20 };
  const { url, requests } = await service(context, (path) =>
    path === "/api/alertRules/try" ? { body: undefined, lines } : undefined,
  );
  lines.push(end);
  const shown = await waybeam(["rule", "try", "Speed", "--device", "d1", "--from", "2h"], { url });
  assert.match(shown.out, /^TIME .*\nt1 +Speed +Speed 92 km\/h +told by Email\n$/);
  assert.equal(shown.err, "1 alert in 20 positions\n");
  assert.deepEqual(requests.at(-1)?.body, {
    ...{ deviceId: "d1", from: "2026-11-20T22:00:00.000Z", to: "2026-11-21T00:00:00.000Z", ruleId: "r1" },
  });
  const described = ["rule", "try", "--type", "speedOver", "--set", "kmh=1", "--device", "d1", "--json"];
  assert.deepEqual(JSON.parse((await waybeam(described, { url })).out), alert);
  lines[3] = { success: false, error: "Service Unavailable" };
  const failed = await waybeam(described, { url });
  assert.deepEqual([failed.code, failed.err.includes("Service Unavailable")], [exitCodes.failure.code, true]);
  lines.pop();
  assert.equal((await waybeam(described, { url })).code, exitCodes.unreachable.code);
});

test("zones come of GeoJSON: a geometry, a feature, or many", async (context) => {
  const { url, requests } = await service(context);
  const sent = async (value: object, ...args: string[]) => {
    requests.length = 0;
    const { code, err } = await waybeam(["zone", "add", "--file", "-", ...args], { url, input: JSON.stringify(value) });
    assert.equal(code, 0, err);
    return requests.filter(({ path }) => path === "/api/geofences").map(({ body }) => body);
  };
  const point = { type: "Point", coordinates: [1, 2] };
  const line = {
    type: "LineString",
    coordinates: [
      [1, 2],
      [3, 4],
    ],
  };
  assert.deepEqual(await sent(point, "Depot", "--radius", "0.5"), [
    { name: "Depot", geometry: { ...point, radius: 0.5 } },
  ]);
  const features = [
    { type: "Feature", properties: { name: "A", radius: 2 }, geometry: point },
    { type: "Feature", properties: { name: "B", description: "b" }, geometry: { ...line, width: 1 } },
  ];
  assert.deepEqual(await sent({ type: "FeatureCollection", features }), [
    { name: "A", geometry: { ...point, radius: 2 } },
    { name: "B", description: "b", geometry: { ...line, width: 1 } },
  ]);
  for (const input of ["nonsense", "[]", JSON.stringify(point)])
    assert.equal((await waybeam(["zone", "add", "--file", "-"], { url, input })).code, exitCodes.usage.code, input);
  assert.match(
    (await waybeam(["zone", "list"], { url })).out,
    /z1 +Depot +circle of 0.5 km\nz2 +Road +route, 0.2 km wide\n/,
  );
});

test("alert list reads to the end, whatever the size of the answers", async (context) => {
  const pages: Record<string, unknown> = {
    undefined: { alerts: [alert], nextCursor: "c" },
    c: { alerts: [{ ...alert, dateTime: "t2", phase: "over", late: true, critical: true, notifications: [] }] },
  };
  const { url } = await service(context, (path, body) => {
    if (!path.endsWith("/alerts")) return undefined;
    const { cursor } = Object(body);
    return ok(Object(pages[String(cursor)]));
  });
  const { out, err } = await waybeam(["alert", "list", "d1", "--name", "Speed"], { url });
  assert.match(out, /^TIME.*\nt1 .*told by Email\nt2 .*over, critical, late\n$/);
  assert.equal(err, "2 alerts\n");
});

test("notice list asks for a state, and resend tells what became of it", async (context) => {
  const notice = { id: "n1", creation: "t", state: "failed", channel: "Email", recipient: "a@b.c", alertName: "Speed" };
  const { url, requests } = await service(context, (path) =>
    path.endsWith("/resend") ? ok({ notification: { ...notice, state: "queued" } }) : ok({ notifications: [notice] }),
  );
  const { out } = await waybeam(["notice", "list", "d1", "--state", "failed"], { url });
  assert.equal(requests.at(-1)?.path, "/api/devices/d1/notifications?limit=20&state=failed");
  assert.match(out, /n1 +t +failed +Email +a@b.c +Speed/);
  assert.match((await waybeam(["notice", "resend", "d1", "n1"], { url })).out, /state +queued/);
  assert.equal((await waybeam(["notice", "list", "d1", "--state", "lost"], { url })).code, exitCodes.usage.code);
});
