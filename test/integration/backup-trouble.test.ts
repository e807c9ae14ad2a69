import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import fs, { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { makeBackup } from "../../src/store/backup/backup.ts";
import { check } from "../../src/store/backup/check.ts";
import { holdsKeys } from "../../src/store/backup/keys.ts";
import type { LongWork } from "../../src/store/backup/refused.ts";
import { restore } from "../../src/store/backup/restore.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { end, folderOf } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore, secretsOf } from "../support/store.ts";

const { pid } = process;
const work: LongWork = { signal: new AbortController().signal, progress() {} };

/** A stopped data folder with a key. */
async function stopped(context: TestContext): Promise<{ directory: string; secretFile: string }> {
  const directory = folderOf(context);
  await (await openStore(directory, silentLog, secretsOf(directory))).close();
  return { directory, secretFile: join(directory, "secret.key") };
}

async function backedUp(folder: { directory: string; secretFile: string }, target: string) {
  const wish = { target, replace: false, full: false, withoutKeys: false, program: "test", pid, now: 0 };
  return await makeBackup({ ...folder, ...wish }, work);
}

/** Runs a script in another process and waits until it prints; the process ends with the test. */
async function otherProcess(context: TestContext, script: string, file: string): Promise<void> {
  const child = spawn(process.execPath, ["-e", script, file], { stdio: ["ignore", "pipe", "inherit"] });
  context.after(() => end(child, "SIGKILL"));
  await once(child.stdout, "data");
}

/** Locks a database for a while, as a service does that moves its log into the database at its end. */
const closing = `
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(process.argv[1]);
  database.exec("pragma locking_mode = exclusive; begin immediate; commit");
  process.stdout.write("locked");
  setTimeout(() => database.close(), 1000);
`;

test("a check and a backup wait while a service that closes has its database locked", async (context) => {
  const folder = await stopped(context);
  const file = join(folder.directory, "waybeam.db");
  await otherProcess(context, closing, file);
  assert.deepEqual((await check({ ...folder, pid }, work)).findings, []);
  await otherProcess(context, closing, file);
  const { withKey } = await backedUp(folder, join(folderOf(context), "backup"));
  assert.ok(withKey);
});

test("a copy of a backup is a data folder that opens as it is", async (context) => {
  const directory = join(folderOf(context), "backup");
  await backedUp(await stopped(context), directory);
  const secrets = secretsOf(directory);
  await (await openStore(directory, silentLog, secrets)).close();
  assert.deepEqual((await check({ directory, secretFile: secrets.file, pid }, work)).findings, []);
});

test("a restore leaves a key in its place that opens the backup", async (context) => {
  const { directory, secretFile } = await stopped(context);
  const target = join(folderOf(context), "backup");
  await backedUp({ directory, secretFile }, target);
  const text = `# mounted into the folder\n${readFileSync(secretFile, "utf8")}`;
  writeFileSync(secretFile, text);
  const { replaced } = await restore({ backup: target, directory, secretFile, replace: true, pid }, work);
  assert.equal(readFileSync(secretFile, "utf8"), text);
  assert.ok(replaced !== undefined && !existsSync(join(replaced, "secret.key")));
  await (await openStore(directory, silentLog, secretsOf(directory))).close();
});

test("a backup has the key that opens it, also where the key is replaced meanwhile", async (context) => {
  const { directory, secretFile } = await stopped(context);
  const target = join(folderOf(context), "backup");
  const { readFileSync: read } = fs;
  let reads = 0;
  const rotates = (...args: Parameters<typeof read>) => {
    const text = read(...args);
    if (args[0] === secretFile && reads++ === 0) writeFileSync(secretFile, `${randomBytes(32).toString("base64")}\n`);
    return text;
  };
  Object.assign(fs, { readFileSync: rotates });
  syncBuiltinESMExports();
  try {
    await backedUp({ directory, secretFile }, target);
  } finally {
    Object.assign(fs, { readFileSync: read });
    syncBuiltinESMExports();
  }
  const { keys } = JSON.parse(readFileSync(join(target, "backup.json"), "utf8"));
  assert.ok(keys.length > 0 && holdsKeys(join(target, "secret.key"), keys));
});

/** Has the lock of a data folder for a while, as a check does that reads the log of a killed service. */
const checking = `
  import(process.argv[1]).then(({ lockFolder }) => {
    const lock = lockFolder(process.argv[2], process.pid);
    process.stdout.write("locked");
    setTimeout(() => lock.release(), 1000);
  });
`;

test("a service that starts waits for a check that looks at its folder", async (context) => {
  const { directory } = await stopped(context);
  const module = new URL("../../src/store/sqlite/lock.ts", import.meta.url).href;
  const child = spawn(process.execPath, ["-e", checking, module, directory], { stdio: ["ignore", "pipe", "inherit"] });
  context.after(() => end(child, "SIGKILL"));
  await once(child.stdout, "data");
  const store = await openSqliteStore({ directory, log: silentLog, pid, secrets: secretsOf(directory) });
  await store.close();
  rmSync(directory, { recursive: true });
});
