import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { exitCodes } from "../../src/cli/exit.ts";
import { protocols } from "../../src/protocols/index.ts";
import { freePort } from "../support/free-port.ts";
import type { Location } from "../support/location-content.ts";
import { servedCommandLine } from "../support/served-command-line.ts";
import { anyPorts, call, dataFolder, end, removeFolder } from "../support/service.ts";
import { ended, jsonLines } from "../support/waybeam.ts";

const { directory, service, start, waybeam } = servedCommandLine();

test("the first start leaves credentials that only their owner can read, and the commands find them", async () => {
  const file = join(directory, "credentials.json");
  assert.equal(statSync(file).mode & 0o077, 0);
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(file, "utf8"))).sort(), [
    "apiKey",
    "firstToken",
    "operatorKey",
    "trackers",
    "url",
    "userName",
  ]);
  const { code, err } = await waybeam(["device", "list"]);
  assert.deepEqual([code, err.includes("no device yet")], [0, true]);
});

test("devices are added, listed and removed; exit codes tell the failures apart", async () => {
  const added = await waybeam(["device", "add", "cli-1", "--name", "Truck", "--tag", "plate=A", "--json"]);
  assert.equal(added.code, 0, added.err);
  assert.equal(jsonLines(added.out)[0]?.name, "Truck");
  const many = await waybeam(["device", "add", "--file", "-"], "cli-2\ncli-1\n");
  assert.equal(many.code, exitCodes.conflict.code);
  const listed = jsonLines((await waybeam(["device", "list", "--json"])).out).map(({ id }) => id);
  assert.deepEqual(listed, ["cli-1", "cli-2"]);
  assert.equal((await waybeam(["device", "add", "no blank"])).code, exitCodes.usage.code);
  assert.equal((await waybeam(["device", "remove", "cli-1", "cli-2"])).code, 0);
  assert.equal((await waybeam(["last", "cli-1"])).code, exitCodes.notFound.code);
  assert.equal((await waybeam(["device", "list"], "", { WAYBEAM_API_KEY: "wrong" })).code, exitCodes.denied.code);
  assert.equal(
    (await waybeam(["device", "list"], "", { WAYBEAM_URL: "http://127.0.0.1:1" })).code,
    exitCodes.unreachable.code,
  );
});

test("a fleet that finds nobody at its port says so; the port may come from the service's own variable", async () => {
  const nobody = String(await freePort());
  const fleet = start(["simulate", "--devices", "1", "--interval", "1"], { WAYBEAM_DEVICE_PORT: nobody });
  const done = ended(fleet);
  // Long enough to start and to try on a busy machine.
  setTimeout(() => fleet.kill("SIGINT"), 12_000);
  const { code, err } = await done;
  assert.equal(code, exitCodes.unreachable.code, err);
  assert.match(err, new RegExp(`no tracker could connect to localhost at port ${nobody}`));
  assert.equal((await waybeam(["device", "remove", "--tag", "simulated=true"])).code, 0);
});

test("a simulated fleet of every protocol: each report that was acknowledged is in the history", async () => {
  const fleet = protocols.flatMap(({ simulate }) => (simulate === undefined ? [] : [simulate]));
  const count = fleet.length;
  const answered = fleet.filter(({ answer }) => answer !== undefined).length;
  // H02 tells time in whole seconds: reports of a parked car within one second would be the same.
  const size = ["--devices", String(count), "--interval", "1", "--count", "3", "--seed", "cli"];
  const { code, out, err } = await waybeam(["simulate", ...size, "--json"]);
  assert.equal(code, 0, err);
  const [summary] = jsonLines(out);
  assert.deepEqual([summary?.acked, summary?.refused, summary?.waiting], [answered * 3, 0, 0], out);
  const devices = jsonLines((await waybeam(["device", "list", "--json"])).out);
  assert.equal(devices.length, count);
  for (const { id, name } of devices) {
    const range = { from: "2000-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" };
    const path = `/api/devices/${id}`;
    const { locations } = await call<{ locations: Location[] }>(service(), "POST", `${path}/locations`, range);
    // What a login says of its tracker repeats the place that is known at the time: it is no report of the three.
    const reports = locations.filter(({ attributes }) => !Object.hasOwn(attributes, "positionTime"));
    assert.equal(reports.length, 3, String(name));
    const last = await call<{ lastLocation: Location }>(service(), "GET", `${path}/lastLocation`);
    assert.deepEqual(last.lastLocation, locations.at(-1), String(name));
  }
  // The commands print what the API answers, of whatever protocol.
  const id = String(devices[0]?.id);
  const history = jsonLines((await waybeam(["history", id, "--from", "10m", "--to", "now", "--json"])).out);
  assert.ok(history.length >= 3);
  assert.deepEqual(JSON.parse((await waybeam(["last", id, "--json"])).out), history.at(-1));
});

test("history --readings shows what came without a position too", async () => {
  assert.equal((await waybeam(["device", "add", "sensor"])).code, 0);
  const at = Date.now();
  const report = { device_id: "sensor", location: { timestamp: new Date(at).toISOString(), battery: { level: 0.5 } } };
  const answer = await fetch(`http://127.0.0.1:${service().devicePort}/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(report),
  });
  assert.equal(answer.status, 200);
  const range = ["--from", "10m", "--to", "now"];
  const [reading, ...more] = jsonLines((await waybeam(["history", "sensor", ...range, "--readings", "--json"])).out);
  assert.deepEqual([reading?.dateTime, reading?.battery, more], [new Date(at).toISOString(), 50, []]);
  const { out, err } = await waybeam(["history", "sensor", ...range, "--readings"]);
  assert.match(out, /battery=50/);
  assert.match(err, /^1 reading$/m);
  assert.deepEqual(jsonLines((await waybeam(["history", "sensor", ...range, "--json"])).out), []);
});

test("trace shows what a device sends, and ends well with Ctrl-C", async () => {
  const registered = async () =>
    jsonLines((await waybeam(["device", "list", "--json"])).out).map(({ id }) => String(id));
  const before = new Set(await registered());
  const size = ["--devices", "1", "--interval", "0.2", "--seed", "trace", "--protocol", "teltonika"];
  const fleet = start(["simulate", ...size]);
  try {
    let device: string | undefined;
    while (device === undefined) device = (await registered()).find((id) => !before.has(id));
    const trace = start(["trace", device, "--json"]);
    const result = ended(trace);
    await new Promise((resolve) => trace.stdout?.once("data", resolve));
    trace.kill("SIGINT");
    const { code, out, err } = await result;
    assert.equal(code, 0, err);
    const [entry] = jsonLines(out);
    assert.equal(entry?.protocol, "teltonika");
    assert.match(String(entry?.message), /^[0-9a-f]+$/);
  } finally {
    assert.equal(await end(fleet), 0);
  }
});

test("a second process on the same data says so and ends; so does one whose port is taken", async () => {
  const sameData = await waybeam(["serve"], "", anyPorts);
  assert.equal(sameData.code, exitCodes.inUse.code, sameData.err);
  const other = dataFolder();
  const samePort = await waybeam(["serve"], "", {
    ...anyPorts,
    WAYBEAM_DATA: other,
    WAYBEAM_HTTP_PORT: new URL(service().url).port,
  });
  assert.equal(samePort.code, exitCodes.inUse.code, samePort.err);
  assert.match(samePort.err, /waybeam: another process uses port \d+ of /);
  removeFolder(other);
});

test("completions for shells come from the commands and options that there are", async () => {
  const of = async (...words: string[]) => (await waybeam(["complete", "--", ...words])).out;
  assert.match(await of("rule", ""), /^add\t.*\n(.*\n)*set\t/m);
  assert.match(await of("alert", "inbox", "--state", ""), /^open\n|^open\t/m);
  assert.match(await of("device", "add", "--ne"), /^--network\t/);
  for (const shell of ["bash", "zsh", "fish"]) assert.match((await waybeam(["complete", shell])).out, /waybeam/);
  assert.equal((await waybeam(["complete", "tcsh"])).code, exitCodes.usage.code);
});

test("a wrong configuration stops the start with every problem listed", async () => {
  const { code, err } = await waybeam(["serve"], "", { WAYBEAM_HTTP_PROT: "1", WAYBEAM_LICENSES: "many" });
  assert.equal(code, exitCodes.usage.code);
  assert.match(err, /WAYBEAM_HTTP_PORT\?/);
  assert.match(err, /licenses/);
});

test("decode needs no service", async () => {
  const line = '{"protocol":"teltonika","transport":"tcp","messages":["000f393930303030303030303030303030"]}\n';
  const { code, out } = await waybeam(["decode"], line, { WAYBEAM_URL: "http://127.0.0.1:1" });
  assert.equal(code, 0);
  assert.deepEqual(jsonLines(out)[0]?.effects, [
    [
      { type: "identify", ids: ["990000000000000"] },
      { type: "reply", bytes: "01", when: "identified" },
    ],
  ]);
});
