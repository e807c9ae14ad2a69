import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { api, failure, ok, waybeam } from "../../test/support/command-line.ts";

const email = "ana@example.com";
const secret = "wbk_the-new-key";
const owner = { id: "u1", email, apiKey: secret };
const place = ["--country", "CO", "--time-zone", "America/Bogota"];

/** Every command that makes an API key. */
const commands = [
  ["account", "add", "North", "--licenses", "1", "--owner", "Ana", "--email", email, ...place],
  ["account", "owner-key", "a1"],
  ["user", "key", email],
  ["user", "add", email, "--name", "Ana", ...place, "--key"],
];

/** A service that makes keys, and a data folder. */
async function setUp(context: TestContext) {
  const data = mkdtempSync(join(tmpdir(), "waybeam-key-"));
  context.after(() => rmSync(data, { recursive: true }));
  const { url, requests } = await api(context, ({ method, path }) => {
    if (path.endsWith("/ownerApiKey")) return ok({ owner });
    if (path.startsWith("/api/admin"))
      return ok(method === "GET" ? { accounts: [{ id: "a1" }] } : { account: { id: "a1" }, owner });
    if (path.endsWith("/apiKey")) return ok({ apiKey: secret });
    return ok(method === "GET" ? { users: [owner] } : { id: "u1", email });
  });
  const env = {
    WAYBEAM_URL: url,
    WAYBEAM_USER: "owner@example.com",
    WAYBEAM_API_KEY: "key",
    WAYBEAM_OPERATOR_KEY: "operator",
  };
  return {
    data,
    requests,
    url,
    run: (args: readonly string[], outIsTty = false) => waybeam(args, { env, data, outIsTty }),
  };
}

test("a new key is printed to a terminal only; any other output says which private file holds the key", async (context) => {
  const { data, url, run } = await setUp(context);
  for (const args of commands)
    for (const json of [[], ["--json"]]) {
      const what = [...args, ...json].join(" ");
      const shown = await run([...args, ...json], true);
      assert.equal(shown.code, 0, shown.err);
      assert.match(shown.out, new RegExp(secret), what);
      assert.match(shown.err, /not shown again/, what);
      assert.deepEqual(readdirSync(data), [], what);

      const kept = await run([...args, ...json]);
      assert.equal(kept.code, 0, kept.err);
      assert.doesNotMatch(kept.out + kept.err, new RegExp(secret), what);
      const file = join(data, `api-key-${email}.json`);
      assert.ok(kept.out.includes(file) && kept.err.includes(file), what);
      assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { url, userName: email, apiKey: secret });
      assert.equal(statSync(file).mode & 0o777, 0o600, what);
      assert.deepEqual(readdirSync(data), [`api-key-${email}.json`], what);
      rmSync(file);
    }
});

test("--key-file names the file, also at a terminal; a link in its place is replaced, not followed", async (context) => {
  const { data, run } = await setUp(context);
  const [file, elsewhere] = [join(data, "ana.json"), join(data, "elsewhere")];
  writeFileSync(elsewhere, "as it was");
  for (const args of commands) {
    symlinkSync(elsewhere, file);
    const { code, out, err } = await run([...args, "--key-file", file], true);
    assert.equal(code, 0, err);
    assert.doesNotMatch(out + err, new RegExp(secret));
    assert.equal(JSON.parse(readFileSync(file, "utf8")).apiKey, secret);
    assert.equal(readFileSync(elsewhere, "utf8"), "as it was");
    rmSync(file);
  }
});

test("no key is made where it can't be kept, and no file is left where no key is made", async (context) => {
  const { data, requests, run } = await setUp(context);
  for (const args of commands) {
    const { code, err } = await run([...args, "--key-file", join(data, "missing", "key.json")]);
    assert.equal(code, 1);
    assert.match(err, /can't write to .*missing/);
  }
  // A folder, and what is no place to keep a key, must not be found out when the key is made.
  symlinkSync("/dev/null", join(data, "device"));
  for (const place of [data, `${data}/`, join(data, "device")])
    for (const args of commands) {
      const { code, err } = await run([...args, "--key-file", place]);
      assert.equal(code, 1, place);
      assert.match(err, /can't write to .*no file/);
    }
  rmSync(join(data, "device"));
  for (const args of commands) {
    const { code, err } = await run([...args, "--key-file", join(data, "k".repeat(300))]);
    assert.equal(code, 1);
    assert.match(err, /can't write to .*ENAMETOOLONG/);
  }
  assert.ok(requests.every(({ method, path }) => method === "GET" || path === "/api/Auth/Token"));
  const refusing = await api(context, () => failure(403, "no permission"));
  const { code } = await waybeam(["user", "add", email, "--name", "Ana", ...place, "--key"], {
    url: refusing.url,
    data,
  });
  assert.equal(code, 4);
  assert.deepEqual(readdirSync(data), []);
});

test("no key is made on a disk without room for it", async (context) => {
  const { data, url, requests } = await setUp(context);
  const program = fileURLToPath(new URL("../../waybeam", import.meta.url));
  // Files of no length are all that may be made: to whoever writes, the same as a full disk.
  const args = ["-c", 'ulimit -f 0 && exec "$0" "$@"', program, "user", "key", email];
  const env = { ...process.env, WAYBEAM_URL: url, WAYBEAM_USER: "owner@example.com", WAYBEAM_API_KEY: "key" };
  const child = spawn("sh", [...args, "--key-file", join(data, "key.json")], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let err = "";
  child.stderr.on("data", (bytes) => {
    err += bytes;
  });
  const [code] = await once(child, "close");
  assert.match(err, /can't write to .*EFBIG/);
  assert.equal(code, 1);
  assert.ok(requests.every(({ method, path }) => method === "GET" || path === "/api/Auth/Token"));
  assert.deepEqual(readdirSync(data), []);
});

test("a key whose file can't get its name is kept where it is", async (context) => {
  const { data, run } = await setUp(context);
  mkdirSync(join(data, `api-key-${email}.json`, "full"), { recursive: true });
  const { code, out, err } = await run(["user", "key", email]);
  assert.equal(code, 0, err);
  const [folder = ""] = readdirSync(data).filter((name) => name.startsWith(".api-key-"));
  const file = join(data, folder, "key");
  assert.ok(out.includes(file) && err.includes(file), out + err);
  assert.equal(JSON.parse(readFileSync(file, "utf8")).apiKey, secret);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("a user name that is no file name stays within the folder", async (context) => {
  const { data } = await setUp(context);
  const { url } = await api(context, ({ method, path }) =>
    path.endsWith("/apiKey")
      ? ok({ apiKey: secret })
      : ok(method === "GET" ? { users: [{ id: "u1", email: "../a/b@example.com" }] } : {}),
  );
  assert.equal((await waybeam(["user", "key", "u1"], { url, data })).code, 0);
  assert.ok(existsSync(join(data, "api-key-.._a_b@example.com.json")));
});

test("a new key of the user whose key is in credentials.json takes its place there, of anybody else it does not", async (context) => {
  const { data, url, run } = await setUp(context);
  const file = join(data, "credentials.json");
  const stored = { userName: "Ana@example.com", apiKey: "the-key-before", operatorKey: "operator", url };
  for (const outIsTty of [true, false]) {
    writeFileSync(file, JSON.stringify(stored));
    const { code, err } = await run(["user", "key", email], outIsTty);
    assert.equal(code, 0, err);
    assert.match(err, /credentials\.json has the new key too/);
    assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { ...stored, apiKey: secret });
  }
  for (const other of [{ userName: "bo@example.com" }, { url: "http://localhost:1" }]) {
    writeFileSync(file, JSON.stringify({ ...stored, ...other }));
    assert.equal((await run(["user", "key", email])).code, 0);
    assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { ...stored, ...other });
  }
});
