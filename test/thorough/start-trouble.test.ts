import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { exitCodes } from "../../src/cli/exit.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { pagesOf, spoil } from "../support/pages.ts";
import { anyPorts, dataFolder, end, register, removeFolder, startService } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";

const program = join(import.meta.dirname, "../../src/main.ts");

/** Starts the service with a data folder that can't be used. A start that never ends is killed, and its exit code is null. */
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

  /** A log's header for pages of this size, and a frame of one. */
  function logOf(pageSize: number): Buffer {
    const log = Buffer.alloc(32 + 24 + pageSize);
    log.writeUInt32BE(0x377f0682, 0);
    log.writeUInt32BE(3_007_000, 4);
    log.writeUInt32BE(pageSize, 8);
    return log;
  }

  it("where waybeam.db is missing or empty and other files of a service are there", () => {
    untouched("log alone", { "waybeam.db-wal": logOf(8192) }, /waybeam\.db is missing, though its log/);
    untouched("emptied", { "waybeam.db": "", "waybeam.db-wal": logOf(8192) }, /waybeam\.db is empty, though its log/);
    untouched("keys alone", { "credentials.json": "{}" }, /waybeam\.db is missing, though credentials\.json/);
  });

  /** The file of a database that another program made and closed. */
  function madeBy(name: string, statements: string): Buffer {
    const file = inside(name);
    const database = new DatabaseSync(file);
    database.exec(statements);
    database.close();
    return readFileSync(file);
  }

  it("where waybeam.db has other tables than the service's, or none beside its keys", () => {
    const other = madeBy("other.db", "pragma journal_mode = wal; create table x (a)");
    untouched("other tables", { "waybeam.db": other, "credentials.json": "{}" }, /is another program's database/);
    const empty = madeBy("empty.db", "create table x (a); drop table x");
    untouched("no tables", { "waybeam.db": empty, "credentials.json": "{}" }, /waybeam\.db is empty, though/);
  });

  it("where the log is another database's, or none", () => {
    const own = inside("own.db");
    const database = new DatabaseSync(own);
    database.exec("pragma page_size = 8192; pragma journal_mode = wal; create table any (one)");
    database.close();
    const content = readFileSync(own);
    untouched("other log", { "waybeam.db": content, "waybeam.db-wal": logOf(4096) }, /the log of another database/);
    untouched("no log", { "waybeam.db": content, "waybeam.db-wal": "text ".repeat(100) }, /is no log of SQLite/);
  });

  /** The files of a service that was killed while it had written something, at the end of each of its lives. */
  async function killed(name: string, lives: number): Promise<Readonly<Record<string, Buffer>>[]> {
    const data = inside(name);
    const files: Record<string, Buffer>[] = [];
    for (let life = 1; life <= lives; life++) {
      const service = await startService(data);
      await register(service, [`device-${life}`]);
      await service.kill();
      files.push(
        Object.fromEntries(["waybeam.db", "waybeam.db-wal"].map((file) => [file, readFileSync(join(data, file))])),
      );
    }
    return files;
  }

  it("where a log is gone that holds what was acknowledged, and where the database is older than its log", async () => {
    const [first, second] = await killed("killed", 2);
    const open = { "waybeam.db-open": readFileSync(inside("killed/waybeam.db-open")) };
    assert.ok(first?.["waybeam.db"] && second?.["waybeam.db"] && second["waybeam.db-wal"]);
    const alone = { "waybeam.db": second["waybeam.db"] };
    untouched("database alone", alone, /waybeam\.db-wal is missing/);
    untouched("emptied log", { ...alone, "waybeam.db-wal": "" }, /waybeam\.db-wal is missing/);
    const older = { ...second, ...open, "waybeam.db": first["waybeam.db"] };
    untouched("older database", older, /the log of another state of the database/);
    const whole = inside("whole");
    mkdirSync(whole);
    cpSync(inside("killed/secret.key"), join(whole, "secret.key"));
    for (const [file, content] of Object.entries({ ...second, ...open })) writeFileSync(join(whole, file), content);
    await (await openSqliteStore({ directory: whole, log: silentLog, pid: process.pid })).close();
    // After a clean end there is no log, and nothing is missed.
    assert.deepEqual(readdirSync(whole).toSorted(), ["lock.db", "secret.key", "waybeam.db"]);
    await (await openSqliteStore({ directory: whole, log: silentLog, pid: process.pid })).close();
  });

  it("where a place in the log is damaged, before commits that were acknowledged", async () => {
    const data = inside("damaged");
    const service = await startService(data);
    for (const id of ["one", "two", "three"]) await register(service, [id]);
    await service.kill();
    const read = (file: string) => readFileSync(join(data, file));
    const files = Object.fromEntries(
      ["waybeam.db", "waybeam.db-open", "waybeam.db-wal"].map((file) => [file, read(file)]),
    );
    const log = read("waybeam.db-wal");
    const damagedAt = (place: number) => {
      const bytes = Buffer.from(log);
      bytes.writeUInt8(bytes.readUInt8(place) ^ 0xff, place);
      return { ...files, "waybeam.db-wal": bytes };
    };
    // Its header, and the header and the page of the first frame.
    for (const place of [20, 40, 1000])
      untouched(`damaged at ${place}`, damagedAt(place), /waybeam\.db-wal is damaged/);
  });

  it("but not where SQLite's own backup made the database, nor after a second Ctrl-C", async () => {
    const data = inside("backed up");
    const service = await startService(data);
    await register(service, ["one"]);
    const source = new DatabaseSync(join(data, "waybeam.db"));
    const copies = ["backup", "vacuum"].map((name) => inside(name));
    for (const copy of copies) {
      mkdirSync(copy);
      cpSync(join(data, "secret.key"), join(copy, "secret.key"));
    }
    await backup(source, inside("backup/waybeam.db"));
    source.exec(`vacuum into '${inside("vacuum/waybeam.db")}'`);
    source.close();
    service.child.kill("SIGSTOP");
    service.child.kill("SIGTERM");
    // Two within a second are one, as under npm.
    await new Promise((resolve) => setTimeout(resolve, 1200));
    service.child.kill("SIGCONT");
    service.child.kill("SIGTERM");
    await end(service.child);
    for (const directory of [data, ...copies])
      await (await openSqliteStore({ directory, log: silentLog, pid: process.pid })).close();
  });

  it("where a newer program wrote the data", () => {
    const data = inside("newer");
    mkdirSync(data);
    const database = new DatabaseSync(join(data, "waybeam.db"));
    database.exec("create table migration (number integer primary key, name text not null)");
    database.exec("insert into migration values (999, 'from the future')");
    database.close();
    explains(data, /newer/);
  });

  it("where credentials.json can't be written", () => {
    const data = inside("credentials");
    mkdirSync(join(data, "credentials.json.new"), { recursive: true, mode: 0o700 });
    explains(data, /credentials\.json/);
  });
});
