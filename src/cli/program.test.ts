import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { api, failure, ok, type Reply, waybeam } from "../../test/support/command-line.ts";
import { exitCodes } from "./exit.ts";

test("help and version are data, and end well; a mistake is told on standard error, and ends with 2", async () => {
  const help = await waybeam(["device", "add", "--help"]);
  assert.equal(help.code, 0);
  assert.match(help.out, /Examples:\n {2}waybeam device add/);
  assert.deepEqual(await waybeam(["--version"]), { code: 0, out: "1.2.3\n", err: "" });
  for (const args of [["devic"], ["last"], ["history", "1", "--limit", "0"], ["simulate", "--devices", "x"]]) {
    const { code, out, err } = await waybeam(args);
    assert.deepEqual([code, out], [2, ""], args.join(" "));
    assert.match(err, /--help/);
  }
});

test("every command's help has an example", async () => {
  for (const name of ["serve", "demo", "config", "last", "history", "trace", "decode", "simulate"])
    assert.match((await waybeam([name, "--help"])).out, /Examples:/, name);
  const inner = {
    device: ["add", "list", "set", "remove", "unknown"],
    account: ["show", "list", "add", "set"],
    user: ["list", "add", "show", "set", "remove", "key"],
    group: ["list", "add", "show", "set", "remove"],
  };
  for (const [group, names] of Object.entries(inner))
    for (const name of names) assert.match((await waybeam([group, name, "--help"])).out, /Examples:/, name);
});

test("device list gets one token and prints a table, or JSON Lines", async (context) => {
  const devices = [
    { id: "1", name: "Truck\u001b[2J", expires: null, min: null, tags: { plate: "A" } },
    { id: "22", name: "Van", expires: "2027-01-01T00:00:00.000Z", min: "+57", tags: {} },
  ];
  const { url, requests } = await api(context, () => ok({ devices }));
  const { code, out } = await waybeam(["device", "list"], { url });
  assert.equal(code, 0);
  assert.equal(
    out,
    "ID  NAME       EXPIRES                   PHONE  TAGS\n1   Truck?[2J  never                            plate=A\n22  Van        2027-01-01T00:00:00.000Z  +57\n",
  );
  assert.deepEqual(requests[0]?.body, { userName: "owner@example.com", apiKey: "key" });
  assert.equal(requests[1]?.authorization, "Bearer token1");
  const json = await waybeam(["device", "list", "--json"], { url });
  assert.deepEqual(
    json.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
    devices,
  );
});

test("device add takes arguments and a file, and says of each that fails why", async (context) => {
  const { url, requests } = await api(context, ({ body }) =>
    JSON.stringify(body).includes('"2"') ? failure(409, "device already exists") : ok({ device: body }),
  );
  const one = await waybeam(["device", "add", "1", "--name", "Truck 12", "--tag", "plate=A=B", "--tag", "x=y"], {
    url,
  });
  assert.equal(one.code, 0);
  assert.deepEqual(requests[1]?.body, { name: "Truck 12", id: "1", tags: { plate: "A=B", x: "y" } });
  const input = '2\n\n{"id":"3","name":"Van","tags":{"x":"own"}}\n';
  const many = await waybeam(["device", "add", "--file", "-", "--tag", "x=y", "--json"], { url, input });
  assert.equal(many.code, exitCodes.conflict.code);
  assert.match(many.err, /^waybeam: 2 \(standard input, line 1\): device already exists$/m);
  assert.match(many.err, /^1 added, 1 not$/m);
  assert.deepEqual(JSON.parse(many.out), { id: "3", name: "Van", tags: { x: "own" } });
  assert.equal((await waybeam(["device", "add"], { url })).code, 2);
});

test("history follows cursors to the end, and its range is in UTC", async (context) => {
  const location = (n: number) => ({ dateTime: `t${n}`, latitude: n, longitude: -n, attributes: {} });
  const { url, requests } = await api(context, ({ body }) =>
    JSON.stringify(body).includes("cursor")
      ? ok({ locations: [location(3)] })
      : ok({ locations: [location(1), location(2)], nextCursor: "next" }),
  );
  const { code, out } = await waybeam(["history", "a/b", "--from", "2h", "--json"], { url });
  assert.equal(code, 0);
  assert.deepEqual(
    out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).dateTime),
    ["t1", "t2", "t3"],
  );
  const range = { from: "2026-11-20T22:00:00.000Z", to: "2026-11-21T00:00:00.000Z", limit: 5000 };
  assert.deepEqual(
    requests.slice(1).map(({ path, body }) => [path, body]),
    [
      ["/api/devices/a%2Fb/locations", range],
      ["/api/devices/a%2Fb/locations", { ...range, cursor: "next" }],
    ],
  );
  const limited = await waybeam(["history", "1", "--limit", "2"], { url });
  assert.match(limited.out, /^TIME .*\nt1 +1\.000000 +-1\.000000\nt2 /);
  assert.match(limited.err, /there are more/);
  assert.equal((await waybeam(["history", "1", "--from", "1h", "--to", "2h"], { url })).code, 2);
});

test("last prints what is known, and says so where nothing is", async (context) => {
  let lastLocation: object | null = { dateTime: "t", latitude: 1.5, alerts: [], attributes: { satellites: "9" } };
  const { url } = await api(context, () => ok({ lastLocation }));
  const known = await waybeam(["last", "1"], { url });
  assert.equal(known.out, "dateTime         t\nlatitude         1.5\nattributes       satellites=9\n");
  lastLocation = null;
  assert.equal((await waybeam(["last", "1", "--json"], { url })).out, "null\n");
  assert.match((await waybeam(["last", "1"], { url })).err, /never reported/);
});

test("a failure's exit code says what kind it is, and standard error what to do", async (context) => {
  let reply = ok({});
  const { url } = await api(context, () => reply);
  const cases: readonly [Reply, number][] = [
    [failure(404, "device not found"), 3],
    [failure(401, "authentication failed, invalid token"), 4],
    [failure(403, "permission denied"), 4],
    [failure(409, "no license available"), 6],
    [failure(400, "Bad Request", ["id: too long"]), 2],
    [failure(503, "Service Unavailable", [], { "Retry-After": "7" }), 7],
    [failure(429, "daily results limit reached", [], { "Retry-After": "70" }), 7],
    [failure(500, "Internal Server Error"), 1],
  ];
  for (const [answer, expected] of cases) {
    reply = answer;
    const { code, out, err } = await waybeam(["last", "1", "--json"], { url });
    assert.deepEqual([code, out], [expected, ""]);
    assert.match(err, /^waybeam: /);
  }
  const unreachable = await waybeam(["last", "1"], { url: "http://127.0.0.1:1" });
  assert.equal(unreachable.code, 5);
  assert.match(unreachable.err, /\.\/waybeam serve/);
  assert.equal((await waybeam(["last", "1"], { url: "nonsense" })).code, 2);
});

test("over the limit of requests the client waits as it is told; a refused token is renewed once", async (context) => {
  let asked = 0;
  const { url, requests } = await api(context, () => {
    asked += 1;
    if (asked === 1) return failure(429, "Too Many Requests", [], { "Retry-After": "0" });
    return asked === 2 ? failure(401, "authentication failed, invalid token") : ok({ lastLocation: null });
  });
  const { code } = await waybeam(["last", "1", "--json"], { url });
  assert.equal(code, 0);
  assert.deepEqual(
    requests.map(({ authorization }) => authorization),
    [undefined, "Bearer token1", "Bearer token1", undefined, "Bearer token2"],
  );
});

test("credentials come from the data folder; a variable wins; without any it says what to do", async (context) => {
  const { url, requests } = await api(context, () => ok({ devices: [] }));
  const data = mkdtempSync(join(tmpdir(), "waybeam-"));
  context.after(() => rmSync(data, { recursive: true }));
  const none = await waybeam(["device", "list"], { env: {}, data });
  assert.equal(none.code, 4);
  assert.match(none.err, /waybeam serve/);
  writeFileSync(join(data, "credentials.json"), JSON.stringify({ userName: "u", apiKey: "k", url }));
  assert.equal((await waybeam(["device", "list"], { env: { WAYBEAM_USER: "v" }, data })).code, 0);
  assert.deepEqual(requests[0]?.body, { userName: "v", apiKey: "k" });
});

test("of a credentials file that is damaged it does not say to start the service, which would leave it as it is", async (context) => {
  const data = mkdtempSync(join(tmpdir(), "waybeam-"));
  context.after(() => rmSync(data, { recursive: true }));
  for (const damaged of ["", '{"userName": "u", "ap', '{"userName": "u"}']) {
    writeFileSync(join(data, "credentials.json"), damaged);
    const { code, err } = await waybeam(["device", "list"], { env: {}, data });
    assert.equal(code, 4);
    assert.match(err, /from a backup, or set WAYBEAM_URL, WAYBEAM_USER and WAYBEAM_API_KEY/);
    assert.doesNotMatch(err, /waybeam serve/);
  }
});

test("a token is kept between commands, for the data folder's own credentials only, and renewed when it is refused", async (context) => {
  let good = "Bearer token1";
  const { url, requests } = await api(context, ({ authorization }) =>
    authorization === good ? ok({ devices: [] }) : failure(401, "authentication failed, invalid token"),
  );
  const data = mkdtempSync(join(tmpdir(), "waybeam-"));
  context.after(() => rmSync(data, { recursive: true }));
  writeFileSync(join(data, "credentials.json"), JSON.stringify({ userName: "u", apiKey: "k", url }));
  const list = async (env: Record<string, string> = {}) => (await waybeam(["device", "list"], { env, data })).code;
  const tokenRequests = () => requests.filter(({ path }) => path === "/api/Auth/Token").length;
  assert.deepEqual([await list(), await list(), tokenRequests()], [0, 0, 1]);
  assert.equal(statSync(join(data, "token")).mode & 0o077, 0);
  good = "Bearer token2";
  assert.deepEqual([await list(), await list(), tokenRequests()], [0, 0, 2]);
  good = "Bearer token3";
  assert.deepEqual([await list({ WAYBEAM_API_KEY: "other" }), tokenRequests()], [0, 3]);
});

test("serve says once who may use it, and stops when it is told to", async () => {
  let stopped = 0;
  const created = { userName: "owner", apiKey: "secret" };
  const stop = async () => void stopped++;
  const service = { url: "http://localhost:1", devicePort: 2, credentialsFile: "data/credentials.json", stop };
  const { code, err } = await waybeam(["serve"], { service: { ...service, created }, errIsTty: true });
  assert.deepEqual([code, stopped], [0, 1]);
  assert.match(err, /API key +secret/);
  const again = await waybeam(["serve"], { service, errIsTty: true });
  assert.doesNotMatch(again.err, /API key/);
  assert.doesNotMatch(again.err, /plain HTTP/);
  const open = await waybeam(["serve"], { service: { ...service, plainAt: "0.0.0.0" } });
  assert.match(open.err, /plain HTTP on every address of this machine.*docs\/network\.md.*WAYBEAM_HTTP_HOST/s);
  const upgraded = await waybeam(["serve"], { service: { ...service, operatorKey: "wbo_x" }, errIsTty: true });
  assert.match(upgraded.err, /Operator key +wbo_x/);
  const piped = await waybeam(["serve"], { service: { ...service, created, operatorKey: "wbo_x" } });
  assert.doesNotMatch(piped.err, /secret|wbo_x/);
  assert.match(piped.err, /API key of the owner, and the operator's key.*data\/credentials\.json/);
  assert.equal((await waybeam(["serve"])).code, exitCodes.inUse.code);
});

test("config prints what is in force", async () => {
  assert.equal(
    (await waybeam(["config"])).out,
    "KEY        VALUE  FROM     VARIABLE\nhttp.port  8080   default  WAYBEAM_HTTP_PORT\n",
  );
  assert.equal(JSON.parse((await waybeam(["config", "--json"])).out).from, "default");
});

test("decode answers each line of standard input", async () => {
  const { code, out } = await waybeam(["decode"], { input: 'nonsense\n{"messages":["00"]}\n' });
  assert.equal(code, exitCodes.usage.code);
  assert.equal(out.trim().split("\n").length, 2);
});
