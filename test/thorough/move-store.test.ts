import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { dataVersion, movingNumber } from "../../src/store/migrations/migrations.ts";
import { movedTables } from "../../src/store/move/tables.ts";
import { makeAccount } from "../contract/store/harness.ts";
import { assertSame, contentOf, oddFolder } from "../support/move-store.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres } from "../support/postgres-store.ts";
import { anyPorts, call, folderOf, register, type Service, startService } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore, secretsOf } from "../support/store.ts";
import { commandLine } from "../support/waybeam.ts";

const sumOf = (directory: string) =>
  createHash("sha256")
    .update(readFileSync(join(directory, "waybeam.db")))
    .digest("hex");

/** Changes a data folder that nobody has open. */
function change(directory: string, sql: string): void {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database.exec(sql);
  database.close();
}

/** Kills a command some time after a condition is met. False: it had done its work by then. */
async function killedOnce(child: ChildProcess, isSo: () => Promise<boolean>, ms: number): Promise<boolean> {
  const exit = once(child, "exit");
  while (child.exitCode === null && !(await isSo())) await pause(5);
  const timer = setTimeout(() => child.kill("SIGKILL"), ms);
  if (child.exitCode === null) await exit;
  clearTimeout(timer);
  return child.exitCode !== 0;
}

const databaseOf = (url: string) => new URL(url).pathname.slice(1);

describe("waybeam move-store", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  const ask = (url: string, question: string) => server.ask(databaseOf(url), question);

  /** A command that must do what it is to do; what it said. */
  async function done(directory: string, ...args: string[]): Promise<string> {
    const { code, err } = await commandLine(directory).waybeam(["move-store", ...args]);
    assert.equal(code, 0, err);
    return err;
  }

  /** One that must not, and says this. */
  async function refused(directory: string, args: readonly string[], said: RegExp, code = 1): Promise<void> {
    const ended = await commandLine(directory).waybeam(["move-store", ...args]);
    assert.equal(ended.code, code, ended.err);
    assert.match(ended.err, said);
  }

  it("copies every value of every table to a database and back, and new rows get new numbers", async (context) => {
    const directory = await oddFolder(context);
    const content = contentOf(directory);
    for (const { name } of movedTables)
      if (!["rule_target", "rule_zone"].includes(name))
        context.diagnostic(`${name}: ${content.get(name)?.length} rows`);
    const url = await server.database();
    const sum = sumOf(directory);
    const said = await done(directory, "--to", url);
    assert.equal(sumOf(directory), sum, "the source is as it was");
    assert.match(said, /^Moved 3 devices and \d+ positions, .* found them the same\.\nSet WAYBEAM_STORE_URL/m);
    const numbers = "select key from account order by key desc limit 1";
    const [{ key: last } = {}] = await ask(url, numbers);
    const back = join(folderOf(context), "back");
    const again = await done(directory, "--from", url, "--to", back);
    assert.match(again, new RegExp(`set WAYBEAM_DATA \\(data\\) to ${back}, and start the service`));
    assertSame(directory, back);
    assert.equal(readFileSync(join(back, "secret.key"), "utf8"), readFileSync(join(directory, "secret.key"), "utf8"));

    const onPostgres = await openPostgres(url, silentLog, { secrets: secretsOf(directory) });
    const onSqlite = await openStore(back, silentLog, secretsOf(back));
    for (const store of [onPostgres, onSqlite]) assert.equal((await makeAccount(store)).key, Number(last) + 1);
    await Promise.all([onPostgres.close(), onSqlite.close()]);
  });

  it("moves every table that there is", async (context) => {
    const content = contentOf(await oddFolder(context, 1));
    const tables = [...content.keys()].filter((name) => !["schema", "sqlite_sequence", "migration"].includes(name));
    assert.deepEqual(movedTables.map(({ name }) => name).toSorted(), tables.toSorted());
  });

  for (const way of ["to a database", "to a folder"])
    it(`begins anew wherever it was killed: ${way}`, { timeout: 200_000 }, async (context) => {
      const directory = await oddFolder(context);
      const url = await server.database();
      if (way === "to a folder") await done(directory, "--to", url);
      const back = join(folderOf(context), "back");
      const args = way === "to a folder" ? ["--from", url, "--to", back] : ["--to", url];
      const place = way === "to a folder" ? back : url;
      const { start } = commandLine(directory);
      let isKilled = true;
      for (let round = 0; round < 3 && isKilled; round++)
        isKilled = await killedOnce(start(["move-store", ...args]), () => isHalf(place), 40 * round);
      if (await isHalf(place)) {
        const env = way === "to a folder" ? { WAYBEAM_DATA: back } : { WAYBEAM_STORE_URL: url };
        const { code, err } = await commandLine(directory).waybeam(["serve"], "", { ...anyPorts, ...env });
        assert.equal(code, 1, err);
        assert.match(err, /has copied so far, and that has not ended/);
      }
      // What has ended does not begin anew.
      if (isKilled) await done(directory, ...args);
      if (way === "to a database") await done(directory, "--from", url, "--to", back);
      assertSame(directory, back);
    });

  it("takes along what a kill left to be followed", async (context) => {
    const directory = folderOf(context);
    const service = await startService(directory);
    await register(service, ["d1"]);
    for (let at = 0; at < 3; at++) {
      const query = `id=d1&lat=${48 + at / 100}&lon=11&timestamp=${1_790_000_000 + 60 * at}`;
      assert.equal((await fetch(`http://127.0.0.1:${service.devicePort}/?${query}`)).status, 200);
    }
    const lastOf = async (of: Service) =>
      (await call<{ lastLocation: object }>(of, "GET", "/api/devices/d1/lastLocation")).lastLocation;
    const last = await lastOf(service);
    await service.kill();
    const url = await server.database();
    await done(directory, "--to", url);
    const moved = await startService(directory, { WAYBEAM_STORE_URL: url });
    context.after(() => moved.kill());
    assert.deepEqual(await lastOf(moved), last);
    await moved.kill();
    const back = join(folderOf(context), "back");
    await done(directory, "--from", url, "--to", back);
    const again = await startService(back);
    context.after(() => again.kill());
    assert.deepEqual(await lastOf(again), last);
  });

  it("goes on where it was killed before it copied a row", async (context) => {
    const directory = await oddFolder(context);
    const url = await server.database();
    await (await openPostgres(url)).close();
    await ask(url, `insert into migration (number, name) values (${movingNumber}, 'moving')`);
    await done(directory, "--to", url);
    const back = folderOf(context);
    await (await openStore(back)).close();
    change(back, `insert into migration (number, name) values (${movingNumber}, 'moving')`);
    await done(directory, "--from", url, "--to", back);
    assertSame(directory, back);
  });

  it("fills the folder that it came from, again where it was killed at its end", async (context) => {
    const directory = await oddFolder(context);
    writeFileSync(join(directory, "credentials.json"), "{}");
    const before = join(folderOf(context), "before");
    cpSync(directory, before, { recursive: true });
    const url = await server.database();
    await done(directory, "--to", url);
    for (const name of readdirSync(directory)) if (name.includes(".db")) rmSync(join(directory, name));
    const args = ["--from", url, "--to", directory];
    // As the superuser does it in the folder of the service's user.
    const owner = process.getuid?.() === 0 ? 1 : statSync(directory).uid;
    chownSync(directory, owner, -1);
    await done(directory, ...args);
    for (const name of ["waybeam.db", "positions.db", "lock.db"])
      assert.equal(statSync(join(directory, name)).uid, owner, name);
    assertSame(before, directory);
    change(directory, `insert into migration (number, name) values (${movingNumber}, 'moving')`);
    await done(directory, ...args);
    assertSame(before, directory);
    await refused(directory, args, /holds data already\n.*If an earlier run of this move was cut short/s);
  });

  it("begins anew where it was killed as it deleted, and gives nobody a file in a folder of another's", async (context) => {
    const directory = await oddFolder(context);
    const url = await server.database();
    await done(directory, "--to", url);
    const back = folderOf(context);
    writeFileSync(join(back, "waybeam.db-wal"), Buffer.alloc(4096, 1));
    await done(directory, "--from", url, "--to", back);
    assertSame(directory, back);
    const [linked, elsewhere] = [folderOf(context), folderOf(context)];
    symlinkSync(join(elsewhere, "planted"), join(linked, "waybeam.db"));
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(linked, 1, -1);
    await done(directory, "--from", url, "--to", linked);
    assert.equal(statSync(join(elsewhere, "planted")).uid, statSync(elsewhere).uid);
    if (isRoot) assert.equal(statSync(join(linked, "positions.db")).uid, 1);
  });

  it("begins anew in a database with an extension and a function of its operator", async (context) => {
    const directory = await oddFolder(context);
    const url = await server.database();
    await ask(url, "create extension pg_trgm; create function own() returns int language sql as 'select 1'");
    await done(directory, "--to", url);
    await ask(url, `insert into migration (number, name) values (${movingNumber}, 'moving')`);
    await done(directory, "--to", url);
    assert.deepEqual(await ask(url, "select own(), similarity('a', 'a')"), [{ own: 1, similarity: 1 }]);
    const back = join(folderOf(context), "back");
    await done(directory, "--from", url, "--to", back);
    assertSame(directory, back);
  });

  it("takes no source whose positions are missing, or another's", async (context) => {
    const directory = await oddFolder(context);
    const url = await server.database();
    const positions = join(directory, "positions.db");
    rmSync(positions);
    await refused(directory, ["--to", url], /positions.db is missing, though waybeam.db is there/);
    assert.ok(!existsSync(positions));
    const other = folderOf(context);
    await (await openStore(other)).close();
    cpSync(join(other, "positions.db"), positions);
    await refused(directory, ["--to", url], /positions.db is not the one that belongs to waybeam.db/);
  });

  it("takes no folder without an account whose positions are there, nor one with a restore that was cut short", async (context) => {
    const directory = await oddFolder(context);
    const url = await server.database();
    await done(directory, "--to", url);
    const lost = folderOf(context);
    await (await openStore(lost)).close();
    const positions = readFileSync(join(directory, "positions.db"));
    writeFileSync(join(lost, "positions.db"), positions);
    await refused(directory, ["--from", url, "--to", lost], /holds data already/);
    assert.deepEqual(readFileSync(join(lost, "positions.db")), positions);
    const foreign = folderOf(context);
    change(foreign, "create table migration (number int, name text); insert into migration values (1, 'init')");
    await refused(directory, ["--from", url, "--to", foreign], /holds data already/);
    assert.ok(!existsSync(join(foreign, "positions.db")));
    writeFileSync(join(foreign, "waybeam.db"), "no database");
    await refused(directory, ["--from", url, "--to", foreign], /file is not a database/);
    const restored = folderOf(context);
    mkdirSync(join(restored, "restore.ready"));
    await refused(directory, ["--from", url, "--to", restored], /a restore into .* was cut short/);
  });

  it("tells what can't be read, and leaves that out where somebody says so", async (context) => {
    const directory = await oddFolder(context);
    const database = new DatabaseSync(join(directory, "positions.db"));
    const { seq, data } = database.prepare("select seq, data from log order by seq desc limit 1").get() ?? {};
    assert.ok(data instanceof Uint8Array && typeof seq === "number");
    data[data.length - 10] = (data[data.length - 10] ?? 0) ^ 1;
    database.prepare("update log set data = ? where seq = ?").run(data, seq);
    database.close();
    const url = await server.database();
    await refused(directory, ["--to", url], /Can't be read in the source: device \d+: /);
    const said = await done(directory, "--accept-damage", "--to", url);
    assert.match(said, /Moved 3 devices/);
  });

  it("takes no store that is used, and none that is not for it", async (context) => {
    const directory = await oddFolder(context);
    const url = await server.database();
    const service = await startService(directory);
    context.after(() => service.kill());
    await refused(directory, ["--to", url], /is in use by process/, 8);
    await service.stop();
    const onPostgres = await startService(folderOf(context), { WAYBEAM_STORE_URL: url });
    context.after(() => onPostgres.kill());
    await refused(directory, ["--to", url], /A service uses the database/, 8);
    await onPostgres.stop();
    await refused(
      directory,
      ["--to", url],
      /waybeam: the database .* holds data already\n +Choose an empty database by --to/,
    );
    await refused(directory, ["--from", url, "--to", directory], /secret key .* is not the one|holds data already/);
    await refused(directory, ["--from", url, "--to", url], /Use pg_dump/);
    await refused(directory, ["--from", directory, "--to", "other"], /`waybeam backup` and `waybeam restore`/);
    await refused(directory, ["--from", join(directory, "nothing"), "--to", url], /no data folder/);
    const fresh = await server.database();
    await refused(directory, ["--from", fresh, "--to", join(directory, "x")], /holds no data of a service/);
    change(directory, `update migration set number = 1000 where number = ${dataVersion}`);
    await refused(directory, ["--to", fresh], /of version 1000, a newer program made it/);
    assert.deepEqual(await ask(fresh, "select relname from pg_class where relname = 'account'"), []);
  });

  /** Whether a store is what a move has copied so far. */
  async function isHalf(place: string): Promise<boolean> {
    const moving = `select 1 as there from migration where number = ${movingNumber}`;
    try {
      if (place.startsWith("postgresql:")) return (await ask(place, moving)).length > 0;
      if (!existsSync(join(place, "waybeam.db"))) return false;
      const database = new DatabaseSync(join(place, "waybeam.db"), { readOnly: true });
      try {
        return database.prepare(moving).get() !== undefined;
      } finally {
        database.close();
      }
    } catch {
      // It is being made.
      return false;
    }
  }
});
