import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { systemIds } from "../../src/observe/index.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { end, folderOf, startService } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore } from "../support/store.ts";
import { commandLine } from "../support/waybeam.ts";

/** Reads the database in one transaction until it is ended, as a backup does: the log can't be moved into the database meanwhile. */
const reader = `
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(process.argv[1], { readOnly: true });
  database.exec("begin");
  database.prepare("select count(*) from migration").get();
  process.stdout.write("reads");
  setInterval(() => {}, 1000);
`;

test("a service that stops, starts and is killed while a backup reads its database starts again", {
  timeout: 120_000,
}, async (context) => {
  const directory = folderOf(context);
  const file = join(directory, "waybeam.db");
  await (await startService(directory)).stop();
  assert.ok(!existsSync(`${file}-open`), "a clean end without a reader leaves no mark");
  const child = spawn(process.execPath, ["-e", reader, file]);
  context.after(() => end(child, "SIGKILL"));
  await once(child.stdout, "data");
  for (let round = 0; round < 2; round++) {
    await (await startService(directory)).stop();
    assert.ok(existsSync(`${file}-wal`), "the log stays while somebody reads");
    await (await startService(directory)).kill();
  }
  await end(child, "SIGKILL");
  await (await startService(directory)).kill();
  await (await startService(directory)).stop();
  assert.ok(!existsSync(`${file}-open`), `${existsSync(`${file}-open`) && readFileSync(`${file}-open`, "latin1")}`);
});

test("a running service keeps its lock on the database, so that no other program deletes the log", {
  skip: !existsSync("/proc/locks") && "only Linux lists the locks of files",
}, async (context) => {
  const directory = folderOf(context);
  const service = await startService(directory);
  const { ino } = statSync(join(directory, "waybeam.db"));
  const locks = readFileSync("/proc/locks", "utf8").split("\n");
  assert.ok(
    locks.some((line) => line.includes(` ${service.child.pid} `) && line.includes(`:${ino} `)),
    locks.join("\n"),
  );
  await service.stop();
});

const program = join(import.meta.dirname, "../support/ending-store.ts");

/** Opens the store of a folder in a process that ends in this way (see the program); gives how many changes it committed. `before`: a command that runs it. */
function run(directory: string, how: readonly string[], before: readonly string[] = []): number {
  const [command = "", ...args] = [...before, process.execPath, program, directory, ...how];
  const { stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  assert.equal(stderr, "", how.join(" "));
  return Number(stdout);
}

/** Opens the store as a start does, and checks that so many changes are there. */
async function startsWith(directory: string, commits: number, how: string): Promise<void> {
  await assert.doesNotReject(
    openStore(directory).then((store) => store.close()),
    how,
  );
  const database = new DatabaseSync(join(directory, "waybeam.db"), { readOnly: true });
  const changes = 1 + Number(database.prepare("select value from setting where name = 'check'").get()?.value);
  database.close();
  // One that ended at once may have committed more than it told.
  assert.ok(changes >= commits, `${how}: ${changes} of ${commits}`);
}

test("a service that was killed, and ends at once while it starts, starts again", {
  timeout: 120_000,
}, async (context) => {
  const directory = folderOf(context);
  let commits = 0;
  for (const call of ["sql", "scan", "mark"])
    for (const ms of ["0", "2"]) {
      commits += run(directory, ["killed"]);
      commits += run(directory, [call, ms]);
      await startsWith(directory, commits, `${call} ${ms}`);
    }
});

test("a service that ends at once while it closes starts again", { timeout: 120_000 }, async (context) => {
  const directory = folderOf(context);
  let commits = 0;
  for (const call of ["close", "unmark"])
    for (const ms of ["0", "1", "3", "6"]) {
      commits += run(directory, [call, ms]);
      await startsWith(directory, commits, `${call} ${ms}`);
    }
});

/** No file grows beyond 3 MB: the log is full before it is moved into the database, and there is room in the database. */
const onSmallDisk = ["sh", "-c", 'ulimit -f 6144; exec "$@"', "sh"];

test("a service whose log has no room for its close starts again", { timeout: 120_000 }, async (context) => {
  const directory = folderOf(context);
  const commits = run(directory, ["closed"]);
  const more = run(directory, ["full"], onSmallDisk);
  assert.ok(more > 100 && more < 10_000, String(more));
  await startsWith(directory, commits + more, "full");
});

test("a database elsewhere, with a link in its place, has its log looked after there", {
  timeout: 120_000,
}, async (context) => {
  const directory = folderOf(context);
  const elsewhere = join(folderOf(context), "fleet.db");
  symlinkSync(elsewhere, join(directory, "waybeam.db"));
  let commits = run(directory, ["killed"]);
  assert.ok(existsSync(`${elsewhere}-wal`) && existsSync(`${elsewhere}-open`));
  await startsWith(directory, commits, "killed");
  assert.ok(!existsSync(`${elsewhere}-open`));
  commits += run(directory, ["killed"]);
  const { waybeam } = commandLine(directory);
  const target = join(folderOf(context), "backup");
  const made = await waybeam(["backup", target]);
  assert.equal(made.code, 0, made.err);
  const log = readFileSync(`${elsewhere}-wal`);
  log.writeUInt8(log.readUInt8(40) ^ 0xff, 40);
  writeFileSync(`${elsewhere}-wal`, log);
  await assert.rejects(openStore(directory), /waybeam\.db-wal is damaged/);
  const read = await waybeam(["check"]);
  assert.match(read.err, /waybeam\.db-wal is damaged/);
});

test("a copy that SQLite's backup made starts again after a kill, also where the log could not be moved before", {
  timeout: 120_000,
}, async (context) => {
  const directory = folderOf(context);
  const file = join(directory, "waybeam.db");
  const original = folderOf(context);
  let commits = run(original, ["killed"]);
  const database = new DatabaseSync(join(original, "waybeam.db"), { readOnly: true });
  await backup(database, file);
  database.close();
  const child = spawn(process.execPath, ["-e", reader, file]);
  context.after(() => end(child, "SIGKILL"));
  await once(child.stdout, "data");
  commits += run(directory, ["killed"]);
  await end(child, "SIGKILL");
  await startsWith(directory, commits, "a copy");
});

/** A change (the second argument) by a process that is killed right after. */
const killedChange = `
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(process.argv[1]);
  database.exec(process.argv[2]);
  process.kill(process.pid, "SIGKILL");
`;

test("a service whose log another program moved starts again, also where it is killed before it marks the database", {
  timeout: 120_000,
}, async (context) => {
  const directory = folderOf(context);
  const file = join(directory, "waybeam.db");
  let commits = run(directory, ["killed"]);
  const other = new DatabaseSync(file);
  other.exec("pragma user_version = 0");
  other.close();
  assert.ok(existsSync(`${file}-open`) && !existsSync(`${file}-wal`));
  commits += run(directory, ["scan", "0"]);
  // What the service writes before it marks the database, a new table say.
  const change = "update setting set value = value + 1 where name = 'check'";
  spawnSync(process.execPath, ["-e", killedChange, file, change]);
  await startsWith(directory, commits + 1, "the log is gone");
});

test("a service that was killed starts again where the next start ends at once after it sealed what an older version left open", {
  timeout: 120_000,
}, async (context) => {
  const directory = folderOf(context);
  const secrets = { file: join(directory, "secret.key"), ids: systemIds };
  await (await openSqliteStore({ directory, log: silentLog, pid: process.pid, secrets })).close();
  const commits = run(directory, ["killed"]);
  const change = "insert into setting (name, value) values ('cursorKey', 'open')";
  spawnSync(process.execPath, ["-e", killedChange, join(directory, "waybeam.db"), change]);
  // The database is written anew by then, and the log is empty.
  assert.equal(run(directory, ["scan", "0"]), 0);
  await startsWith(directory, commits, "sealed");
});
