import assert from "node:assert/strict";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { exitCodes } from "../../src/cli/exit.ts";
import { servedCommandLine } from "../support/served-command-line.ts";
import { dataFolder, removeFolder, type Service, startService } from "../support/service.ts";
import { jsonLines } from "../support/waybeam.ts";

const { service, waybeam } = servedCommandLine();

/** The one object that a command prints; it must end well. */
async function one(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { code, out, err } = await waybeam([...args, "--json"], "", env);
  assert.equal(code, 0, `${args.join(" ")}: ${err}`);
  const [object = {}] = jsonLines(out);
  return object;
}

/** The key that a command made; its output is no terminal here, so a file holds the key. */
function keyIn({ keyFile }: Readonly<Record<string, unknown>>): string {
  assert.equal(statSync(String(keyFile)).mode & 0o777, 0o600);
  return JSON.parse(readFileSync(String(keyFile), "utf8")).apiKey;
}

const code = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  (await waybeam(args, "", env)).code;

test("the operator makes an account, whose owner uses it; a wrong key opens nothing", async () => {
  const made = await one([
    ...["account", "add", "North Fleet", "--time-zone", "America/Bogota", "--licenses", "1"],
    ...["--owner", "Ana", "--email", "ana@example.com", "--country", "CO"],
  ]);
  const owner = made.owner as { email: string; keyFile: string };
  const as = { WAYBEAM_URL: service().url, WAYBEAM_USER: owner.email, WAYBEAM_API_KEY: keyIn(owner) };
  assert.deepEqual((await one(["account", "show"], as)).licenses, { total: 1, used: 0, free: 1 });
  assert.equal(await code(["device", "add", "north-1"], as), 0);
  assert.equal(await code(["device", "add", "north-2"], as), exitCodes.conflict.code);
  await one(["account", "set", "north fleet", "--licenses", "2", "--name", "North"]);
  assert.equal((await one(["account", "set", "North", "--language", "es"])).language, "es");
  assert.equal(await code(["account", "set", "North", "--language", "fr"]), exitCodes.usage.code);
  assert.equal(await code(["device", "add", "north-2"], as), 0);
  const listed = await waybeam(["account", "list"]);
  assert.match(listed.out, /North +America\/Bogota +2 +2 +0/);
  assert.equal(await code(["account", "set", "nobody", "--licenses", "2"]), exitCodes.notFound.code);
  assert.equal(await code(["account", "set", "North"]), exitCodes.usage.code);
  const wrong = await waybeam(["account", "list"], "", { WAYBEAM_OPERATOR_KEY: "w".repeat(32) });
  assert.equal(wrong.code, exitCodes.denied.code);
  assert.match(wrong.err, /WAYBEAM_OPERATOR_KEY/);
});

test("users: added with a key, shown, changed, let in no more, removed", async () => {
  const email = "bo@example.com";
  const place = ["--country", "CO", "--time-zone", "America/Bogota"];
  const made = await one([
    "user",
    "add",
    email,
    "--name",
    "Bo",
    ...place,
    "--device",
    "cli-1",
    "--tag",
    "a=1",
    "--key",
  ]);
  const as = { WAYBEAM_URL: service().url, WAYBEAM_USER: email, WAYBEAM_API_KEY: keyIn(made) };
  assert.equal(await code(["device", "list"], as), 0);
  assert.equal(await code(["device", "add", "cli-1"], as), exitCodes.denied.code);
  const changed = await one(["user", "set", email, "--privilege", "write", "--tag", "b=2", "--untag", "a"]);
  assert.deepEqual([changed.privileges, changed.tags], [["write"], { b: "2" }]);
  assert.equal(await code(["device", "add", "cli-1"], as), 0);
  const disabled = await one(["user", "set", email, "--disable", "left", "--unset", "deviceId"]);
  assert.deepEqual([disabled.disabled, disabled.disabledMessage, disabled.deviceId], [true, "left", null]);
  assert.match((await waybeam(["device", "list"], "", as)).err, /user disabled: left/);
  await one(["user", "set", String(made.id), "--enable"]);
  const key = keyIn(await one(["user", "key", email]));
  assert.equal(await code(["device", "list"], as), exitCodes.denied.code);
  assert.equal(await code(["device", "list"], { ...as, WAYBEAM_API_KEY: key }), 0);
  assert.equal(await code(["user", "key", email, "--remove"]), 0);
  assert.equal(await code(["device", "list"], { ...as, WAYBEAM_API_KEY: key }), exitCodes.denied.code);
  assert.match((await waybeam(["user", "list"])).out, /bo@example\.com/);
  assert.equal((await one(["user", "show", "BO@example.com"])).email, email);
  assert.equal(await code(["user", "remove", email]), 0);
  assert.equal(await code(["user", "show", email]), exitCodes.notFound.code);
  assert.equal(
    await code(["user", "add", "x@example.com", "--name", "X", "--country", "Atlantis", ...place.slice(2)]),
    2,
  );
});

test("positions: how long they are kept is set for an account and a device, and can be looked at before", async () => {
  const [account = {}] = jsonLines((await waybeam(["account", "list", "--json"])).out);
  const name = String(account.name);
  assert.equal((await one(["account", "set", name, "--position-days", "365"])).positionDays, 365);
  assert.equal((await one(["account", "set", name, "--unset", "positionDays"])).positionDays, null);
  assert.equal(await code(["account", "set", name, "--position-days", "soon"]), exitCodes.usage.code);
  assert.equal(await code(["device", "add", "cli-kept"]), 0);
  assert.equal((await one(["device", "set", "cli-kept", "--position-days", "30"])).positionDays, 30);
  for (const words of [["account"], ["device", "cli-kept"]]) {
    const [kind = "", ...ids] = words;
    const found = await one([kind, "old-positions", ...ids, "--days", "30"]);
    assert.deepEqual([found.days, found.devices, found.positions, found.from], [30, 0, 0, null]);
  }
  assert.equal((await one(["account", "old-positions", "--days", "7", "--account", name])).days, 7);
  assert.equal(await code(["account", "old-positions"]), exitCodes.usage.code);
  assert.equal(await code(["device", "old-positions", "nothing", "--days", "7"]), exitCodes.notFound.code);
  assert.equal(await code(["device", "remove", "cli-kept"]), 0);
});

test("groups: added, shown, changed, removed", async () => {
  const added = await waybeam(["group", "add", "Trucks", "--device", "cli-7", "--device", "cli-8", "--json"]);
  assert.equal(added.code, 0, added.err);
  assert.match(added.err, /warning: /);
  const set = await one([
    "group",
    "set",
    "trucks",
    "--device",
    "cli-9",
    "--remove-device",
    "cli-7",
    "--description",
    "All",
  ]);
  assert.deepEqual([set.devices, set.description], [["cli-8", "cli-9"], "All"]);
  assert.equal((await one(["group", "set", "Trucks", "--unset", "description"])).description, null);
  assert.match((await waybeam(["group", "list"])).out, /Trucks +2/);
  assert.equal((await one(["group", "show", String(set.id)])).name, "Trucks");
  assert.equal(await code(["group", "remove", "Trucks"]), 0);
  assert.equal(await code(["group", "show", "Trucks"]), exitCodes.notFound.code);
});

test("rules: added, changed with their recipients, and shown", async () => {
  assert.equal(await code(["device", "add", "cli-ruled"]), 0);
  const added = await waybeam([
    "rule",
    "add",
    "Speed",
    "--type",
    "speedOver",
    "--set",
    "kmh=80",
    "--device",
    "cli-ruled",
  ]);
  assert.match(added.err, /^added Speed \([0-9a-f-]{36}\)$/m);
  const slack = "https://hooks.example.com/services/T/B/X";
  const set = await one([
    "rule",
    "set",
    "speed",
    "--set",
    "kmh=90",
    "--slack",
    slack,
    "--disable",
    "--text",
    "{{DeviceName}}",
  ]);
  assert.deepEqual([set.parameters, set.enabled, set.text], [{ kmh: 90 }, false, "{{DeviceName}}"]);
  const again = await one(["rule", "set", "Speed", "--unset", "text", "--enable", "--email", "ops@example.com"]);
  assert.deepEqual([again.text, again.enabled], [null, true]);
  const shown = JSON.stringify((await one(["rule", "show", "Speed"])).channels);
  assert.match(shown, /ops@example.com/);
  assert.match(shown, /"format":"slack"/);
  assert.equal(await code(["rule", "set", "Speed", "--slack", "no address"]), exitCodes.usage.code);
  assert.equal(await code(["rule", "remove", "Speed"]), 0);
});

test("devices are changed: fields, tags, aliases, and what is unset", async () => {
  assert.equal(await code(["device", "add", "cli-2", "--tag", "a=1"]), 0);
  const set = await one([
    ...["device", "set", "cli-2", "--name", "Van", "--expires", "2035-01-01", "--alias", "alias-2"],
    ...["--tag", "b=2", "--untag", "a", "--mileage-start", "12.5"],
  ]);
  assert.deepEqual(
    [set.name, set.expires, set.aliases, set.tags, set.milleageStart],
    ["Van", "2035-01-01T00:00:00.000Z", ["alias-2"], { b: "2" }, 12.5],
  );
  const unset = await one(["device", "set", "cli-2", "--unset", "expires", "--remove-alias", "alias-2"]);
  assert.deepEqual([unset.expires, unset.aliases, unset.name], [null, [], "Van"]);
  assert.equal(await code(["device", "set", "cli-2", "--name", "X", "--unset", "name"]), exitCodes.usage.code);
  assert.equal(await code(["device", "set", "nothing", "--name", "X"]), exitCodes.notFound.code);
});

test("a data folder of before there were operators gets its key at the next start; a configured key stands alone", async () => {
  const folder = dataFolder();
  const file = join(folder, "credentials.json");
  const stored = () => JSON.parse(readFileSync(file, "utf8"));
  const own = "k".repeat(40);
  const configured = await startService(folder, { WAYBEAM_OPERATOR_KEY: own });
  assert.deepEqual(Object.keys(stored()).toSorted(), ["apiKey", "firstToken", "trackers", "url", "userName"]);
  const list = (key: string, { url }: Service) =>
    fetch(`${url}/api/admin/accounts`, { headers: { authorization: `Bearer ${key}` } }).then(({ status }) => status);
  assert.equal(await list(own, configured), 200);
  await configured.stop();
  // The user name and the key stay as they are.
  const before = stored();
  const upgraded = await startService(folder);
  const { operatorKey, ...rest } = stored();
  const elsewhere = { url: "", trackers: "" };
  assert.deepEqual({ ...rest, ...elsewhere }, { ...before, ...elsewhere });
  assert.deepEqual([await list(operatorKey, upgraded), await list(own, upgraded)], [200, 401]);
  await upgraded.stop();
  // A third start makes no other, and does not bring back what was removed from the file.
  writeFileSync(file, JSON.stringify(rest));
  const third = await startService(folder);
  assert.equal(stored().operatorKey, undefined);
  assert.equal(await list(operatorKey, third), 200);
  await third.stop();
  rmSync(file);
  removeFolder(folder);
});
