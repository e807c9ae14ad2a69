import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, test } from "node:test";
import { systemIds } from "../../src/observe/index.ts";
import type { Store } from "../../src/ports/store.ts";
import type { OpenedStore } from "../../src/store/opened.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { commitAlerts, newAlert, newNotice, ruleFields } from "../contract/store/alert-values.ts";
import { makeAccount, makeDevice, makeUser, now } from "../contract/store/harness.ts";
import { folderOf, startService } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { commandLine } from "../support/waybeam.ts";

const root = join(import.meta.dirname, "../..");
const url = "https://hooks.example/T00/very-secret-path";
const secret = "very-secret-signing-key";
const plain = [
  "very-secret-path",
  secret,
  "very-secret-token-key",
  "very-secret-private-key",
  "very-secret-cursor-key",
  "VERYSECRETKEYOFCODES",
];

/** Opens a folder with its key, or as versions did that had none. */
async function open(directory: string, sealed = true): Promise<OpenedStore> {
  const secrets = { file: join(directory, "secret.key"), ids: systemIds };
  const store = await openSqliteStore({ directory, log: silentLog, pid: process.pid, ...(sealed && { secrets }) });
  const close = store.close.bind(store);
  opened.set(store, close);
  return Object.assign(store, {
    close: async () => {
      opened.delete(store);
      await close();
    },
  });
}

/** Stores that a test has left open, which would keep the process from ending. */
const opened = new Map<OpenedStore, () => Promise<void>>();
afterEach(async () => {
  for (const close of opened.values()) await close();
  opened.clear();
});

/** Puts secrets of every kind into a store. */
async function fill(store: Store): Promise<{ account: number; device: number; user: number; rules: number[] }> {
  const account = await makeAccount(store);
  const device = await makeDevice(store, account.key);
  const channels = { email: [], sms: [], webhook: [{ url, secret }] };
  const rules: number[] = [];
  for (let count = 0; count < 300; count++) {
    const rule = await store.alertRules.create(account.key, 1, systemIds.uuid(), ruleFields({ channels }), now);
    rules.push(rule.key);
  }
  const alert = newAlert(device.key, 1);
  const target = { channel: "webhook", url, secret } as const;
  const notices = Array.from({ length: 300 }, () => newNotice(alert, { target }));
  await commitAlerts(store, device.key, [alert], notices);
  await store.accounts.setting("tokenKey", () => "very-secret-token-key");
  await store.accounts.setting("passwordKey", () => "very-secret-private-key");
  await store.accounts.setting("cursorKey", () => "very-secret-cursor-key");
  const user = await makeUser(store, account.key);
  await store.secondFactors.begin(user.key, "VERYSECRETKEYOFCODES");
  return { account: account.key, device: device.key, user: user.key, rules };
}

/** Sees that all of them are there. */
async function check(store: Store, { account, device, user, rules }: Awaited<ReturnType<typeof fill>>): Promise<void> {
  const found = await store.alertRules.list(account);
  assert.deepEqual(
    found.map(({ key, channels }) => [key, channels.webhook]),
    rules.map((key) => [key, [{ url, secret }]]),
  );
  const notices = await store.notices.list(device, { limit: 1000 });
  assert.equal(notices.length, 300);
  for (const { target } of notices) assert.deepEqual(target, { channel: "webhook", url, secret });
  assert.equal(await store.accounts.findSetting("tokenKey"), "very-secret-token-key");
  assert.equal(await store.accounts.setting("passwordKey", () => "new"), "very-secret-private-key");
  assert.equal((await store.secondFactors.find(user))?.secret, "VERYSECRETKEYOFCODES");
}

/** Which of the secrets stand readable in the files of the folder. */
function readable(directory: string): readonly string[] {
  const files = readdirSync(directory).filter((name) => name !== "secret.key");
  const bytes = Buffer.concat(files.map((name) => readFileSync(join(directory, name))));
  return plain.filter((text) => bytes.includes(text));
}

const keysIn = (directory: string) =>
  readFileSync(join(directory, "secret.key"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

test("secrets are sealed by a key outside the database, which only its owner reads", async (context) => {
  const directory = folderOf(context);
  const store = await open(directory);
  const made = await fill(store);
  await check(store, made);
  assert.deepEqual(readable(directory), []);
  await store.close();
  assert.deepEqual(readable(directory), []);
  assert.equal(statSync(join(directory, "secret.key")).mode & 0o777, 0o600);
  assert.equal(Buffer.from(keysIn(directory).join(), "base64").length, 32);
  const again = await open(directory);
  await check(again, made);
  await again.close();
});

test("the database of a version that sealed nothing is sealed at its first start, and nothing of it stays readable", async (context) => {
  const directory = folderOf(context);
  const before = await open(directory, false);
  const made = await fill(before);
  await before.close();
  assert.deepEqual(readable(directory), plain);
  const after = await open(directory);
  await check(after, made);
  assert.deepEqual(readable(directory), []);
  await after.close();
  assert.deepEqual(readable(directory), []);
});

test("a setting that a version before did not seal is sealed at the next start", async (context) => {
  const directory = folderOf(context);
  const first = await open(directory);
  await fill(first);
  await first.close();
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database.exec("update setting set value = 'very-secret-cursor-key' where name = 'cursorKey'");
  database.close();
  assert.deepEqual(readable(directory), ["very-secret-cursor-key"]);
  const store = await open(directory);
  assert.equal(await store.accounts.findSetting("cursorKey"), "very-secret-cursor-key");
  await store.close();
  assert.deepEqual(readable(directory), []);
});

test("a notice whose sealed target is damaged fails alone", async (context) => {
  const directory = folderOf(context);
  const first = await open(directory);
  const made = await fill(first);
  await first.close();
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database.exec(
    "update notice set target = substr(target, 1, length(target) - 4) || 'AAAA' where key = (select min(key) from notice)",
  );
  database.close();
  const store = await open(directory);
  const { notices: due } = await store.notices.due("webhook", now + 1e9, { limit: 1000 });
  assert.equal(due.length, 299);
  for (const { target } of due) assert.deepEqual(target, { channel: "webhook", url, secret });
  const [damaged, ...others] = (await store.notices.list(made.device, { limit: 1000 })).filter(
    ({ state }) => state !== "queued",
  );
  assert.deepEqual([damaged?.state, damaged?.reason], ["failed", "its target is damaged in the database"]);
  assert.deepEqual(others, []);
  // It is listed and found as what it is.
  assert.equal(damaged?.damaged, "webhook");
  const { rows } = await store.notices.page(made.device, { limit: 1000, bytes: 1e9 });
  assert.equal(rows.filter((notice) => notice.damaged === undefined).length, 299);
  assert.equal((await store.notices.find(made.device, damaged.id))?.damaged, "webhook");
  await store.close();
});

test("rows with damaged secrets stop neither a rotation nor the start after it, and the log names them", async (context) => {
  const directory = folderOf(context);
  const first = await open(directory);
  const made = await fill(first);
  await first.close();
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database.exec(
    `update notice set target = substr(target, 1, length(target) - 4) || 'AAAA' where key = (select min(key) from notice);
     update alert_rule set definition = json_set(definition, '$.channels.webhook', json_extract(definition, '$.channels.webhook') || 'AAAA')
     where key = (select min(key) from alert_rule)`,
  );
  database.close();
  const [before] = keysIn(directory);
  const { waybeam } = commandLine(directory);
  const rotated = await waybeam(["secret", "rotate"]);
  assert.equal(rotated.code, 0, rotated.err);
  assert.match(rotated.out + rotated.err, /damaged in the database/);
  assert.notEqual(keysIn(directory).join(), before);
  const store = await open(directory);
  const notices = await store.notices.list(made.device, { limit: 1000 });
  assert.equal(notices.filter(({ damaged }) => damaged === undefined).length, 299);
  const rules = await store.alertRules.list(made.account);
  assert.equal(rules.filter(({ channels }) => channels.webhook.length > 0).length, 299);
  await store.close();
});

test("a rule whose sealed webhooks are damaged is read without them, and the account's other rules as ever", async (context) => {
  const directory = folderOf(context);
  const first = await open(directory);
  const { account } = await fill(first);
  await first.close();
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database.exec(
    `update alert_rule set definition = json_set(definition, '$.channels.webhook', json_extract(definition, '$.channels.webhook') || 'AAAA')
     where key = (select min(key) from alert_rule)`,
  );
  database.close();
  const store = await open(directory);
  const [damaged, ...others] = await store.alertRules.list(account);
  assert.deepEqual(damaged?.channels.webhook, []);
  assert.equal(others.length, 299);
  for (const { channels } of others) assert.deepEqual(channels.webhook, [{ url, secret }]);
  await store.close();
});

test("a missing, wrong or damaged key stops the start, says what to do, and changes nothing", async (context) => {
  const directory = folderOf(context);
  const key = join(directory, "secret.key");
  const store = await open(directory);
  const made = await fill(store);
  await store.close();
  copyFileSync(key, `${key}.kept`);
  const { waybeam } = commandLine(directory);
  const bytes = () => readFileSync(join(directory, "waybeam.db"));
  const before = bytes();

  for (const [spoil, why] of [
    [() => rmSync(key), /secret\.key is missing.*\n.*Put the file back/],
    [() => writeFileSync(key, `${Buffer.alloc(32, 7).toString("base64")}\n`), /is not the one.*\n.*Put the file back/],
    [() => writeFileSync(key, "not a key\n"), /not 32 bytes in base64/],
    [() => writeFileSync(key, ""), /it holds none/],
  ] as const) {
    spoil();
    const left = readdirSync(directory).includes("secret.key") ? readFileSync(key, "utf8") : undefined;
    for (const command of [["serve"], ["secret", "rotate"]]) {
      const { code, err } = await waybeam(command);
      assert.equal(code, 1, err);
      assert.match(err, why);
      assert.ok(err.includes(directory), err);
    }
    assert.ok(bytes().equals(before));
    assert.equal(readdirSync(directory).includes("secret.key") ? readFileSync(key, "utf8") : undefined, left);
  }
  renameSync(`${key}.kept`, key);
  const again = await open(directory);
  await check(again, made);
  await again.close();
});

test("the key may be elsewhere, as the operator made it; tokens outlive its rotation", async (context) => {
  const directory = folderOf(context);
  const file = join(folderOf(context), "mounted/key");
  mkdirSync(join(file, ".."));
  writeFileSync(file, Buffer.alloc(32, 9).toString("base64"), { mode: 0o600 });
  const environment = { WAYBEAM_SECRET_FILE: file };
  const service = await startService(directory, environment);
  context.after(() => service.stop());
  assert.ok(!readdirSync(directory).includes("secret.key"));
  const { waybeam } = commandLine(directory);
  // Never under a running service.
  const busy = await waybeam(["secret", "rotate"], "", environment);
  assert.equal(busy.code, 8, busy.err);
  assert.equal(await service.stop(), 0);
  const before = readFileSync(file, "utf8");
  const rotated = await waybeam(["secret", "rotate"], "", environment);
  assert.equal(rotated.code, 0, rotated.err);
  assert.ok(rotated.err.includes(file));
  assert.ok(!readFileSync(file, "utf8").includes(before));
  const again = await startService(directory, environment);
  context.after(() => again.stop());
  const answer = await fetch(`${again.url}/api/devices`, { headers: { authorization: `Bearer ${service.token}` } });
  assert.equal(answer.status, 200);
});

test("a key that the superuser replaces still belongs to the service", {
  skip: process.getuid?.() !== 0 && "only the superuser gives files away",
}, async (context) => {
  const service = 12_345;
  const directory = folderOf(context);
  const inside = join(directory, "secret.key");
  const elsewhere = join(folderOf(context), "key");
  await (await open(directory)).close();
  copyFileSync(inside, elsewhere);
  const { waybeam } = commandLine(directory);
  const rotate = async (file: string) => {
    const files = () => [file, ...readdirSync(directory).map((name) => join(directory, name))];
    for (const path of [directory, ...files()]) chownSync(path, service, service);
    const { code, err } = await waybeam(["secret", "rotate"], "", { WAYBEAM_SECRET_FILE: file });
    assert.equal(code, 0, err);
    for (const path of files()) assert.equal(statSync(path).uid, service, path);
  };
  await rotate(elsewhere);
  copyFileSync(elsewhere, inside);
  await rotate(inside);
});

test("a rotation that is killed at any moment goes on with the next one, and loses nothing", async (context) => {
  const directory = folderOf(context);
  const store = await open(directory);
  const made = await fill(store);
  await store.close();
  const [first = ""] = keysIn(directory);
  for (let round = 0; round < 8; round++) {
    const child = spawn(process.execPath, [join(root, "src/main.ts"), "secret", "rotate"], {
      env: { ...process.env, WAYBEAM_DATA: directory },
      stdio: "ignore",
    });
    // Most of the time goes into starting; so the later ones are killed in the midst of their work.
    const timer = setTimeout(() => child.kill("SIGKILL"), 150 + 60 * round);
    await once(child, "exit");
    clearTimeout(timer);
    const keys = keysIn(directory).length;
    assert.ok(keys === 1 || keys === 2, String(keys));
  }
  const after = await open(directory);
  await check(after, made);
  await after.close();
  assert.equal(keysIn(directory).length, 1);
  assert.deepEqual(readable(directory), []);
  const done = await commandLine(directory).waybeam(["secret", "rotate"]);
  assert.equal(done.code, 0, done.err);
  assert.notEqual(keysIn(directory)[0], first);
});
