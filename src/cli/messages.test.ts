import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { api, failure, ok, waybeam } from "../../test/support/command-line.ts";
import { exitCodes } from "./exit.ts";

/** A stand-in for the API that knows these devices. */
function withDevices(context: TestContext, devices: readonly { id: string; tags?: object }[]) {
  return api(context, ({ method, path, body }) => {
    if (path === "/api/devices" && method === "GET") return ok({ devices });
    if (path === "/api/devices")
      return JSON.stringify(body).includes("bad") ? failure(400, "invalid device id") : ok({ device: body });
    const known = devices.some(({ id }) => path.startsWith(`/api/devices/${id}`));
    return known ? ok({ lastLocation: null, locations: [] }) : failure(404, "device not found");
  });
}

test("a failure about a device names it", async (context) => {
  const { url } = await withDevices(context, []);
  for (const args of [["last"], ["history"], ["trace"], ["device", "remove"], ["device", "set", "--name", "x"]]) {
    const { code, err } = await waybeam([...args, "nope"], { url });
    assert.equal(code, exitCodes.notFound.code);
    assert.match(err, /^waybeam: nope: device not found\n {2}`waybeam device list`/m, args.join(" "));
  }
});

test("device remove goes on after one that can't be removed, and says how many were", async (context) => {
  const { url, requests } = await withDevices(context, [{ id: "a1" }, { id: "a2" }]);
  const { code, out, err } = await waybeam(["device", "remove", "a1", "nope", "a2"], { url });
  assert.deepEqual([code, out], [exitCodes.notFound.code, ""]);
  assert.match(
    err,
    /^waybeam: nope: device not found\n(.*\n)*2 removed, 1 not\nwaybeam: 1 of 3 devices was not removed\n/m,
  );
  assert.equal(requests.filter(({ method }) => method === "DELETE").length, 3);
});

test("device remove --tag removes those that have every one of the tags", async (context) => {
  const devices = [
    { id: "a1", tags: { simulated: "true", city: "Bogota" } },
    { id: "a2", tags: { simulated: "true" } },
    { id: "a3", tags: { simulated: "false" } },
    { id: "a4" },
  ];
  const { url, requests } = await withDevices(context, devices);
  const removed = async (...args: string[]) => {
    requests.length = 0;
    const { code } = await waybeam(["device", "remove", ...args], { url });
    return [code, ...requests.filter(({ method }) => method === "DELETE").map(({ path }) => path.slice(-2))];
  };
  assert.deepEqual(await removed("--tag", "simulated=true"), [0, "a1", "a2"]);
  assert.deepEqual(await removed("--tag", "simulated=true", "--tag", "city=Bogota"), [0, "a1"]);
  assert.deepEqual(await removed("--tag", "simulated=maybe"), [exitCodes.notFound.code]);
  assert.deepEqual(await removed(), [exitCodes.usage.code]);
  assert.deepEqual(await removed("a3", "--tag", "simulated=true"), [exitCodes.usage.code]);
});

test("device add --file names the file and the line that is wrong, and adds nothing then", async (context) => {
  const { url, requests } = await withDevices(context, []);
  const directory = mkdtempSync(join(tmpdir(), "waybeam-"));
  context.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "ids.txt");
  writeFileSync(file, '1\n\n{"id":2}\n3\n');
  const wrong = await waybeam(["device", "add", "--file", file], { url });
  assert.equal(wrong.code, exitCodes.usage.code);
  assert.match(
    wrong.err,
    /^waybeam: .*ids\.txt, line 3: not a JSON object with an id: \{"id":2\}\n {2}Nothing was added/,
  );
  assert.equal(requests.length, 0);
  const refused = await waybeam(["device", "add", "--file", "-"], { url, input: "1\n\nbad\n" });
  assert.match(refused.err, /^waybeam: bad \(standard input, line 3\): invalid device id\n1 added, 1 not\n/m);
});

test("decode ends with 2 after the last line where lines could not be decoded, and says which", async () => {
  const good = '{"protocol":"gt06","messages":["78780d01012345678901234500018cdd0d0a"]}';
  const { code, out, err } = await waybeam(["decode"], { input: `nonsense\n${good}\n{"messages":1}\n${good}\n` });
  assert.equal(code, exitCodes.usage.code);
  assert.equal(out.trim().split("\n").length, 4);
  assert.equal(err, "waybeam: 2 of 4 lines could not be decoded, the first is line 1\n");
  assert.equal((await waybeam(["decode"], { input: `${good}\n\n` })).code, 0);
});

test("decode --json gives what hex says in the form of a line", async () => {
  const login = "78780d01012345678901234500018cdd0d0a";
  const { code, out } = await waybeam(["decode", "--json", `${login}${login}`]);
  const line = await waybeam(["decode"], { input: JSON.stringify({ messages: [login, login] }) });
  assert.deepEqual([code, out], [0, line.out]);
  const half = await waybeam(["decode", "--json", login, "7878"]);
  assert.match(half.err, /2 bytes at the end/);
  assert.equal((await waybeam(["decode", "--json"], { input: JSON.stringify({ messages: [login, login] }) })).out, out);
});

test("history shows briefly what else was reported", async (context) => {
  const location = {
    ...{ dateTime: "t", latitude: 1, longitude: 2, speed: 0, milleage: 1.5 },
    ...{ battery: 87, temperature: -3.5, sensorTime1: 0, sensorTime2: 60, rpm: 900 },
    ...{ alerts: ["sos", "lowBattery"], alertTexts: ["SOS", "Low battery"], warnings: [], warningTexts: [] },
    ...{ hasCriticalAlert: true, inputs: [true, false, false], outputs: [], attributes: { satellites: "9" } },
    accessoriesAttributes: [{ accessoryType: "door", accessoryStatus: "open" }],
  };
  const { url } = await api(context, () => ok({ locations: [location] }));
  const { out, err } = await waybeam(["history", "1"], { url });
  assert.ok(
    out.endsWith(
      "  alerts=sos,lowBattery; critical; battery=87; temperature=-3.5; sensorTime2=60; rpm=900; inputs=100; door=open; satellites=9\n",
    ),
    out,
  );
  assert.equal(err, "1 location\n");
});

test("last leaves out what is empty", async (context) => {
  const { url } = await api(context, () =>
    ok({ lastLocation: { dateTime: "t", attributes: {}, alerts: [], inputs: [true, false] } }),
  );
  assert.equal((await waybeam(["last", "1"], { url })).out, "dateTime         t\ninputs           [true,false]\n");
});

test("serve says that it stops, and that it has", async () => {
  const said: string[] = [];
  const stop = async () => void said.push("stop");
  const { err } = await waybeam(["serve"], {
    service: { url: "http://localhost:1", devicePort: 2, credentialsFile: "c", stop },
  });
  assert.deepEqual(said, ["stop"]);
  assert.match(err, /\nStopping \.\.\.\nStopped; everything that was acknowledged is stored\.\n$/);
});
