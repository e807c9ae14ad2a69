import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { dataVersion } from "../../src/store/migrations/migrations.ts";
import { movedTables } from "../../src/store/move/tables.ts";
import { makeAccount } from "../contract/store/harness.ts";
import { assertSame, contentOf, oddFolder } from "../support/move-store.ts";
import { pagesOf, spoil } from "../support/pages.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres } from "../support/postgres-store.ts";
import { anyPorts, folderOf, startService } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore, secretsOf } from "../support/store.ts";
import { commandLine, killedAfter } from "../support/waybeam.ts";

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

/** For SQL: numbers from 1 to 60 as `value`. */
const series = "with recursive series (value) as (select 1 union all select value + 1 from series where value < 60)";

/** Kills a command some time after a condition is met. */
async function killedOnce(child: ChildProcess, isSo: () => Promise<boolean>, ms: number): Promise<void> {
  const exit = once(child, "exit");
  while (child.exitCode === null && !(await isSo())) await pause(5);
  const timer = setTimeout(() => child.kill("SIGKILL"), ms);
  if (child.exitCode === null) await exit;
  clearTimeout(timer);
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
    assert.match(said, /^Moved 3 devices and 3201 positions, .* found them the same\.\nSet WAYBEAM_STORE_URL/m);
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

  it("moves positions that an older version wrote without checksums, and they are deleted when they are old", async (context) => {
    const directory = await oddFolder(context);
    change(directory, "update tail set crc = null; update block set crc = null");
    const url = await server.database();
    await done(directory, "--to", url);
    // Damage: its bytes say otherwise.
    await ask(url, "update block set first = first + 1 where seq = (select min(seq) from block where device = 2)");
    const ends = await ask(url, "select device, max(last) as last from block group by device order by device");
    const store = await openPostgres(url, silentLog, { secrets: secretsOf(directory) });
    const deleted: number[] = [];
    for (const [index, { last }] of ends.entries()) {
      const [old] = await store.locations.oldPositions([index + 1], Number(last) + 1);
      assert.ok(old !== undefined && old.count > 500);
      const { positions, more } = await store.locations.deleteOld(index + 1, old.keptFrom);
      assert.equal(more, false);
      deleted.push(old.count - positions);
    }
    await store.close();
    const [block] = await ask(url, "select count from block where seq = (select min(seq) from block where device = 2)");
    assert.deepEqual(deleted, [0, Number(block?.count)]);
  });

  it("moves every table that there is", async (context) => {
    const content = contentOf(await oddFolder(context, 1));
    const tables = [...content.keys()].filter((name) => !["schema", "sqlite_sequence", "migration"].includes(name));
    assert.deepEqual(movedTables.map(({ name }) => name).toSorted(), tables.toSorted());
  });

  for (const way of ["to a database", "to a folder"])
    it(`goes on wherever it was killed: ${way}`, async (context) => {
      const directory = await oddFolder(context);
      // So that it takes some seconds.
      change(
        directory,
        `${series} insert into refused (device, received_at, time, cause, report)
          select 1, value, 3, 'long', hex(randomblob(400000)) from series`,
      );
      const url = await server.database();
      const back = join(folderOf(context), "back");
      const toFolder = way === "to a folder";
      if (toFolder) await done(directory, "--to", url);
      const args = toFolder ? ["--from", url, "--to", back] : ["--to", url];
      const { start, waybeam } = commandLine(directory);
      let [met, ended] = [0, false];
      for (let round = 0; round < 7 && !ended; round++) {
        const child = start(["move-store", ...args]);
        const place = toFolder ? back : url;
        // The first as soon as something is copied, since a fast machine ends the next one; and one perhaps before anything is, which takes a busy machine long.
        if (round === 1) await killedAfter(child, toFolder ? back : directory, Math.random() * 1000);
        else await killedOnce(child, () => isHalf(place), round === 0 ? 0 : Math.random() * 700);
        ended = child.exitCode === 0;
        if (!(await isHalf(place))) continue;
        if (met++ > 0) continue;
        const target = toFolder ? { WAYBEAM_DATA: back } : { WAYBEAM_STORE_URL: url };
        const { code, err } = await waybeam(["serve"], "", { ...anyPorts, ...target });
        assert.equal(code, 1, err);
        assert.match(err, /move-store.*has not ended\n {2}Run `waybeam move-store` again/);
      }
      context.diagnostic(`${met} times a part was there`);
      assert.ok(met > 0);
      if (!ended) assert.match(await done(directory, ...args, "--json"), /^Moved/m);
      if (!toFolder) await done(directory, "--from", url, "--to", back);
      assertSame(directory, back);
    });

  it("keeps services from a part of a copy before its key is there", async (context) => {
    const directory = await oddFolder(context);
    change(directory, "insert into migration (number, name) values (1000000000, 'moving')");
    rmSync(join(directory, "secret.key"));
    const { code, err } = await commandLine(directory).waybeam(["serve"], "", anyPorts);
    assert.equal(code, 1, err);
    assert.match(err, /move-store.*has not ended\n {2}Run `waybeam move-store` again/);
  });

  it("begins again where the source was used after it was cut short, and where somebody asks for that", async (context) => {
    const directory = await oddFolder(context);
    const url = await server.database();
    // Something that must be accepted keeps the move from ending.
    change(directory, "update device_state set crc = 1 where device = 1");
    await refused(directory, ["--to", url], /device-\d+: its state .* is damaged\n.*is damaged; all that can be read/s);
    assert.equal(await isHalf(url), true);
    await refused(directory, ["--to", url], /^(?!.*deleted).*is damaged/s);
    const store = await openStore(directory, silentLog, secretsOf(directory));
    await makeAccount(store);
    await store.close();
    await refused(directory, ["--to", url], /What an earlier move had copied was deleted/);
    await refused(directory, ["--to", url, "--anew"], /What an earlier move had copied was deleted/);
    const other = await oddFolder(context);
    change(other, "update account set id = 'another' where key = 1");
    await refused(other, ["--to", url], /holds a part of another service/);
    await ask(url, "update alert set text = text || '!' where key = (select max(key) from alert)");
    await refused(directory, ["--to", url, "--accept-damage"], /Not the same: row \d+ of the table alert: different\n/);
    await ask(url, "delete from notice where key = (select min(key) from notice)");
    await refused(directory, ["--to", url, "--accept-damage"], /row 1 of the table notice: missing\n.*--anew/s);
    assert.equal(await isHalf(url), true);
    const said = await done(directory, "--to", url, "--anew", "--accept-damage");
    assert.match(said, /its state .* is damaged\nMoved/);
    const back = join(folderOf(context), "back");
    await refused(directory, ["--from", url, "--to", back], /its state .* is damaged\n/);
    await done(directory, "--from", url, "--to", back, "--accept-damage");
    assertSame(directory, back);
  });

  it("leaves out what can't be read and tells of it", async (context) => {
    const directory = await oddFolder(context);
    change(
      directory,
      `${series} insert into refused (device, received_at, time, cause, report)
          select 1, value, 3, 'long', hex(randomblob(1000)) from series;
        update alert set text = cast(x'ff41' as text);
        update notice set attempts = 'many' where key = 2`,
    );
    const [, , page] = pagesOf(directory, "refused");
    spoil(directory, page ?? 0, 0);
    const url = await server.database();
    const args = ["--to", url];
    await refused(
      directory,
      args,
      /In the source: rows \d+ to \d+ of the table refused can't be read\n.*--accept-damage/s,
    );
    const said = await done(directory, ...args, "--accept-damage");
    assert.match(said, /In the source: row 2 of the table notice is left out: its attempts is no int\n/);
    assert.match(
      said,
      /In the source: row \d+ of the table alert: its text is damaged, and characters of it are replaced\n/,
    );
    const [{ n } = {}] = await ask(url, "select count(*)::int as n from refused");
    assert.ok(Number(n) > 20 && Number(n) < 61, String(n));
    assert.deepEqual(await ask(url, "select text from alert"), [{ text: "\ufffdA" }]);
  });

  it("leaves out what a server can't read and tells of it", async (context) => {
    const directory = await oddFolder(context, 1);
    change(
      directory,
      `${series} insert into refused (device, received_at, time, cause, report)
          select 1, value, 3, 'long', hex(randomblob(500)) from series`,
    );
    const url = await server.database();
    await done(directory, "--to", url);
    await ask(url, "checkpoint");
    const [{ file } = {}] = await ask(url, "select pg_relation_filepath('refused') as file");
    await server.stop();
    const heap = openSync(join(server.directory, "data", String(file)), "r+");
    // The fourth page says that its rows end before they begin.
    writeSync(heap, Buffer.alloc(8, 0xff), 0, 8, 3 * 8192 + 10);
    closeSync(heap);
    await server.run();
    const back = join(folderOf(context), "back");
    const args = ["--from", url, "--to", back];
    await refused(directory, args, /In the source: row.* of the table refused can't be read\n.*--accept-damage/s);
    await done(directory, ...args, "--accept-damage");
    const rows = contentOf(back).get("refused") ?? [];
    assert.ok(rows.length > 50 && rows.length < 61, String(rows.length));
    assert.ok(rows.some((row) => row.includes('"seq":"1n"')));
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
    await refused(directory, ["--to", url], /Another service uses the database/, 8);
    await onPostgres.stop();
    await refused(directory, ["--to", url], /holds data already\n {2}Make another database/);
    await refused(directory, ["--from", url, "--to", directory], /secret key .* is not the one|holds data already/);
    await refused(directory, ["--from", url, "--to", url], /Use pg_dump/);
    await refused(directory, ["--from", directory, "--to", "other"], /`waybeam backup` and `waybeam restore`/);
    await refused(directory, ["--from", join(directory, "nothing"), "--to", url], /no data folder/);
    const fresh = await server.database();
    await refused(directory, ["--from", fresh, "--to", join(directory, "x")], /holds no data of a service/);
    change(directory, `update migration set number = 1000 where number = ${dataVersion}`);
    await refused(directory, ["--to", fresh], /of version 1000, a newer program made it/);
    change(directory, "delete from migration where number = 1000");
    await refused(
      directory,
      ["--to", fresh],
      new RegExp(`is of version ${dataVersion - 1}.*\\n {2}Start this program's`),
    );
    assert.deepEqual(await ask(fresh, "select relname from pg_class where relname = 'account'"), []);
  });

  /** Whether a store is what a move has copied so far. */
  async function isHalf(place: string): Promise<boolean> {
    if (place.startsWith("postgresql:"))
      return (await ask(place, "select to_regclass('store_move') as there"))[0]?.there !== null;
    if (!existsSync(join(place, "waybeam.db"))) return false;
    const database = new DatabaseSync(join(place, "waybeam.db"), { readOnly: true });
    try {
      return database.prepare("select 1 from sqlite_master where name = 'store_move'").get() !== undefined;
    } catch {
      // It is being made.
      return false;
    } finally {
      database.close();
    }
  }
});
