import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { exitCodes } from "../../src/cli/exit.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { pagesOf, spoil } from "../support/pages.ts";
import { anyPorts, dataFolder, end, register, removeFolder, startService } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { commandLine } from "../support/waybeam.ts";

const program = join(import.meta.dirname, "../../src/main.ts");

/**
 * Starts the service with a data folder that can't be used. A start that never ends is killed, and its exit code is
 * null.
 */
function serve(data: string) {
  return spawnSync(process.execPath, [program, "serve"], {
    encoding: "utf8",
    env: { ...process.env, ...anyPorts, WAYBEAM_DATA: data, WAYBEAM_LOG_LEVEL: "info" },
    timeout: 20_000,
    killSignal: "SIGKILL",
  });
}

/** One sentence with the folder, one with what to do, and nothing else: no stack, no line of a log. */
function explains(data: string, why: RegExp): void {
  const { status, stdout, stderr } = serve(data);
  assert.equal(status, exitCodes.failure.code, stderr);
  assert.equal(stdout, "");
  assert.match(stderr, /^(?:Making the database in [^\n]+\n)?waybeam: [^\n]+\n {2}[A-Z][^\n]+\.\n$/);
  assert.ok(stderr.includes(data), stderr);
  assert.match(stderr, why);
}

/** A folder where nobody can make a file, not even root. */
const noFiles = "/proc";
const withoutProc = !existsSync(noFiles) && "this system has no /proc";

describe("a start that fails says in a sentence which folder, why, and what to do", () => {
  const directory = dataFolder();
  const inside = (name: string) => join(directory, name);
  before(() => writeFileSync(inside("file"), "text"));
  after(() => removeFolder(directory));

  it("where the data folder is a file, or would be in one", () => {
    explains(inside("file"), /not a folder/);
    explains(inside("file/below/it"), /can't be made \(ENOTDIR/);
  });

  it("where the folder can't be made", { skip: withoutProc }, () => {
    explains(join(noFiles, "nope"), /can't be made/);
    explains(join(noFiles, "nope/data"), /can't be made/);
  });

  it("where it leads nowhere", () => {
    symlinkSync("nowhere", inside("link"));
    explains(inside("link"), /can't be made/);
  });

  it("where a page can't be read that all need, also once the store is open", async () => {
    const made = inside("spoiled");
    await (await startService(made)).stop();
    const [page = 0] = pagesOf(made, "user_account");
    spoil(made, page, 0);
    explains(made, /waybeam\.db: database disk image is malformed/);
  });

  it("where the folder can only be read", { skip: withoutProc }, () => {
    explains(noFiles, /no file can be made/);
  });

  it("where waybeam.db or lock.db holds something else", () => {
    for (const name of ["waybeam.db", "lock.db"]) {
      const data = inside(`junk-${name}`);
      mkdirSync(data);
      writeFileSync(join(data, name), "junk that is no database. ".repeat(400));
      explains(data, new RegExp(`${name}: file is not a database`));
    }
  });

  it("where waybeam.db is another program's database", () => {
    const data = inside("other");
    mkdirSync(data);
    const database = new DatabaseSync(join(data, "waybeam.db"));
    database.exec("create table device (other text); create table account (other text)");
    database.close();
    explains(data, /waybeam\.db/);
  });

  it("where waybeam.db is a folder", () => {
    const data = inside("folder");
    mkdirSync(join(data, "waybeam.db"), { recursive: true });
    explains(data, /waybeam\.db is not a file/);
  });

  /** A data folder with these files, which a start that is refused leaves as they are. */
  function untouched(name: string, files: Readonly<Record<string, string | Buffer>>, why: RegExp): void {
    const data = inside(name);
    mkdirSync(data);
    for (const [file, content] of Object.entries(files)) writeFileSync(join(data, file), content);
    explains(data, why);
    for (const [file, content] of Object.entries(files))
      assert.deepEqual(readFileSync(join(data, file)), Buffer.from(content), file);
    const added = readdirSync(data).filter((file) => !(file in files));
    assert.deepEqual(added, ["lock.db"]);
  }

  it("where waybeam.db is missing or empty and other files of a service are there", () => {
    untouched("positions alone", { "positions.db": "x" }, /waybeam\.db is missing, though positions\.db is there/);
    untouched("emptied", { "waybeam.db": "", "positions.db": "x" }, /waybeam\.db is missing, though positions\.db/);
    untouched("keys alone", { "credentials.json": "{}" }, /waybeam\.db is missing, though credentials\.json/);
    const rows = madeBy(
      "rows.db",
      "create table migration (number integer primary key, name text not null); insert into migration values (1, 'tables')",
    );
    untouched("rows alone", { "waybeam.db": rows }, /positions\.db is missing, though waybeam\.db is there/);
  });

  /** The file of a database that another program made and closed. */
  function madeBy(name: string, statements: string): Buffer {
    const file = inside(name);
    const database = new DatabaseSync(file);
    database.exec(statements);
    database.close();
    return readFileSync(file);
  }

  it("where positions.db is empty, another folder's, another program's, or no database", async () => {
    const [own, other] = [inside("own"), inside("foreign")];
    for (const data of [own, other]) await (await startService(data)).stop();
    const backup = inside("own-backup");
    assert.equal((await commandLine(own).waybeam(["backup", backup])).code, 0);
    const whole = ["waybeam.db", "secret.key", "credentials.json"];
    const files = Object.fromEntries(whole.map((file) => [file, readFileSync(join(own, file))]));
    const belongs = /positions\.db is not the one that belongs to waybeam\.db/;
    const foreign = readFileSync(join(other, "positions.db"));
    const tables = madeBy("foreign-positions.db", "create table x (a)");
    for (const [name, content, why] of [
      ["empty", Buffer.alloc(0), belongs],
      ["of another folder", foreign, belongs],
      ["of another program", tables, belongs],
      ["junk", Buffer.from("junk that is no database. ".repeat(400)), /positions\.db: file is not a database/],
    ] as const)
      untouched(`positions ${name}`, { ...files, "positions.db": content }, why);
    // A backup's databases belong together as well.
    assert.equal((await commandLine(inside("again")).waybeam(["restore", backup])).code, 0);
    await (await startService(inside("again"))).stop();
    // Whoever checks is told the same.
    rmSync(join(other, "positions.db"));
    const missing = /positions\.db is missing, though waybeam\.db is there/;
    assert.match((await commandLine(other).waybeam(["check"])).err, missing);
    rmSync(join(backup, "backup.json"));
    writeFileSync(join(backup, "positions.db"), foreign);
    assert.match((await commandLine(inside("anew")).waybeam(["check", backup])).out, belongs);
  });

  it("where waybeam.db has other tables than the service's", () => {
    const other = madeBy("other.db", "pragma journal_mode = wal; create table x (a)");
    const files = { "waybeam.db": other, "positions.db": "", "credentials.json": "{}" };
    untouched("other tables", files, /is another program's database/);
  });

  it("but not after a second Ctrl-C", async () => {
    const data = inside("killed");
    const service = await startService(data);
    await register(service, ["one"]);
    service.child.kill("SIGSTOP");
    service.child.kill("SIGTERM");
    // Two within a second are one, as under npm.
    await new Promise((resolve) => setTimeout(resolve, 1200));
    service.child.kill("SIGCONT");
    service.child.kill("SIGTERM");
    await end(service.child);
    await (await openSqliteStore({ directory: data, log: silentLog, pid: process.pid })).close();
  });

  it("where a newer program wrote the data", () => {
    const data = inside("newer");
    mkdirSync(data);
    const database = new DatabaseSync(join(data, "waybeam.db"));
    database.exec("create table migration (number integer primary key, name text not null)");
    database.exec("insert into migration values (1, 'tables'), (999, 'from the future')");
    database.close();
    writeFileSync(join(data, "positions.db"), "");
    explains(data, /newer/);
  });

  it("where the data are of before the first release", () => {
    const data = inside("unreleased");
    mkdirSync(data);
    const database = new DatabaseSync(join(data, "waybeam.db"));
    database.exec("create table migration (number integer primary key, name text not null)");
    database.exec("insert into migration values (1, 'first'), (2, 'tenants')");
    database.close();
    writeFileSync(join(data, "positions.db"), "");
    explains(data, /made by an earlier, unreleased version: start with an empty folder/);
  });

  it("where credentials.json can't be written", () => {
    const data = inside("credentials");
    mkdirSync(join(data, "credentials.json.new"), { recursive: true, mode: 0o700 });
    explains(data, /credentials\.json/);
  });
});
