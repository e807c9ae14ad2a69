import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { systemIds } from "../../src/observe/index.ts";
import { StoreTooNew, StoreUnreleased } from "../../src/store/migrations/migrations.ts";
import { openPostgresRows } from "../../src/store/postgres/open.ts";
import { openPostgresStore } from "../../src/store/postgres/open-store.ts";
import { DatabaseUnusable } from "../../src/store/postgres/unusable.ts";
import { SecretKeyUnusable } from "../../src/store/secrets/key-file.ts";
import { said } from "../contract/positions/said.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { selfSigned } from "../support/certificate.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres, shortTimes } from "../support/postgres-store.ts";
import { silentLog } from "../support/silent-log.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";

async function problemsOf(url: string): Promise<readonly string[]> {
  try {
    const rows = await openPostgresRows(url, { log: silentLog, connections: 2 });
    await rows.close();
    return [];
  } catch (error) {
    assert.ok(error instanceof DatabaseUnusable, String(error));
    assert.ok(error.problems.every(({ advice }) => /^[A-Z].*[.;]?$/s.test(advice)));
    assert.doesNotMatch(error.message, /secret-word/);
    return error.problems.map(({ wrong }) => wrong);
  }
}

describe("a database that can't be used", () => {
  it("has an address whose faults are all told", async () => {
    assert.deepEqual(await problemsOf("mysql://a:secret-word@b/c"), ["The address of the database can't be read"]);
    assert.deepEqual(await problemsOf("postgresql://b:5432/c%zz"), ["The address of the database can't be read"]);
    assert.deepEqual(await problemsOf("postgresql://:secret-word@:99999?sslmode=yes&colour=red&sslcert=/none"), [
      "The address of the database has the unknown parameter colour",
      "The address of the database names no host",
      "The address of the database has the port 99999",
      "The address of the database names no user",
      "The address of the database names no database",
      "The address of the database has the sslmode yes",
      "The file /none of the parameter sslcert can't be read (ENOENT)",
      "The address of the database has the parameter sslcert, and not sslkey",
    ]);
    assert.deepEqual(await problemsOf("postgresql://a@b:1,c:2/d"), ["The address of the database names several hosts"]);
  });

  it("is not there", async () => {
    const [refused] = await problemsOf("postgresql://waybeam:secret-word@127.0.0.1:1/w");
    assert.match(refused ?? "", /^The database w at 127.0.0.1:1 as waybeam can't be reached: .*ECONNREFUSED/);
    const [unknown] = await problemsOf("postgresql://waybeam@host.invalid/w");
    assert.match(unknown ?? "", /can't be reached/);
    const [socket] = await problemsOf("postgresql://waybeam@%2Fnowhere/w");
    assert.match(socket ?? "", /can't be reached: .*ENOENT/);
  });
});

describe("a PostgreSQL database", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });

  /** Everything that there is in a database, as text. */
  async function contentOf(url: string): Promise<string> {
    const rows = await server.ask(
      nameOf(url),
      "select oid, relname, relkind::text, relowner from pg_class where relnamespace = 'public'::regnamespace order by oid",
    );
    const functions = await server.ask(
      nameOf(url),
      "select oid, proname from pg_proc where pronamespace = 'public'::regnamespace order by oid",
    );
    return JSON.stringify([rows, functions]);
  }

  /** Locks a table until what it gives is called. */
  async function locked(url: string, table: string, mode = "access exclusive"): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: server.url(nameOf(url)) });
    await client.connect();
    await client.query(`begin; lock table ${table} in ${mode} mode`);
    return () => client.end();
  }

  /** Resolves when a session waits for a lock. */
  async function waitingFor(url: string, like: string): Promise<void> {
    const waiting = `select from pg_stat_activity where datname = current_database() and application_name like '${like}' and wait_event_type = 'Lock'`;
    while ((await server.ask(nameOf(url), waiting)).length === 0) await pause(10);
  }

  async function assertRefused(url: string, ...wrong: readonly RegExp[]): Promise<void> {
    const found = await contentOf(url);
    const problems = await problemsOf(url);
    assert.equal(problems.length, wrong.length, problems.join("; "));
    for (const [index, each] of wrong.entries()) assert.match(problems[index] ?? "", each);
    assert.equal(await contentOf(url), found, "nothing was touched");
  }

  it("is opened by its socket, and again", async () => {
    const name = nameOf(await server.database());
    const url = `postgresql:///${name}?host=${encodeURIComponent(join(server.directory, "sockets"))}&port=${server.port}&user=waybeam`;
    assert.deepEqual(await problemsOf(url), []);
    assert.deepEqual(await problemsOf(url), []);
  });

  it("is refused where it does not exist, or the user may not connect", async () => {
    assert.match((await problemsOf(server.url("none")))[0] ?? "", /database "none" does not exist/);
    assert.match(
      (await problemsOf(server.url("postgres").replace("waybeam@", "nobody@")))[0] ?? "",
      /role "nobody" does not exist/,
    );
    const locked = nameOf(await server.database());
    await server.ask(locked, `create role stranger login; revoke connect on database ${locked} from public`);
    assert.match(
      (await problemsOf(server.url(locked).replace("waybeam@", "stranger@")))[0] ?? "",
      /permission denied for database/,
    );
  });

  it("is refused with the wrong password", async () => {
    const url = await server.database();
    await server.ask(nameOf(url), "create role guarded login password 'right'");
    await server.guard("guarded");
    const at = (password: string) => url.replace("waybeam@", `guarded${password}@`);
    assert.match((await problemsOf(at(":secret-word")))[0] ?? "", /password authentication failed/);
    assert.match((await problemsOf(at("")))[0] ?? "", /password/);
  });

  it("is refused with another encoding", async () => {
    const url = await server.database("template template0 encoding 'LATIN1' locale_provider libc locale 'C'");
    await assertRefused(url, /has the encoding LATIN1/);
  });

  it("is refused where it is read-only, or the user may make no tables, with all problems at once", async () => {
    const url = await server.database("template template0 encoding 'SQL_ASCII' locale_provider libc locale 'C'");
    await server.ask(nameOf(url), "create role reader login; alter role reader set default_transaction_read_only = on");
    const wrong = [
      /has the encoding SQL_ASCII/,
      /is read-only/,
      /The user reader may not create tables in the schema public/,
    ];
    await assertRefused(url.replace("waybeam@", "reader@"), ...wrong);
  });

  it("is refused where it has another program's tables, but not for those of an extension", async () => {
    const url = await server.database();
    await server.ask(nameOf(url), "create table invoice (number int); create view migration as select 1 as number");
    await assertRefused(url, /holds tables of another program: invoice, migration/);
    const extended = await server.database();
    await server.ask(nameOf(extended), "create extension pg_stat_statements");
    assert.deepEqual(await problemsOf(extended), []);
  });

  it("is refused where its tables are another user's", async () => {
    const url = await server.database();
    assert.deepEqual(await problemsOf(url), []);
    await server.ask(nameOf(url), "create role second login; grant all on schema public to second");
    await assertRefused(
      url.replace("waybeam@", "second@"),
      /The user second is not the owner of account, account_quota/,
    );
  });

  it("is refused where a newer program made it", async () => {
    const url = await server.database();
    assert.deepEqual(await problemsOf(url), []);
    await server.ask(nameOf(url), "insert into migration values (999, 'from the future')");
    const found = await contentOf(url);
    await assert.rejects(openPostgresRows(url, { log: silentLog }), StoreTooNew);
    assert.equal(await contentOf(url), found);
  });

  it("is refused where it was made before the first release", async () => {
    const url = await server.database();
    assert.deepEqual(await problemsOf(url), []);
    await server.ask(nameOf(url), "update migration set name = 'first'; insert into migration values (29, 'shares')");
    const found = await contentOf(url);
    await assert.rejects(openPostgresRows(url, { log: silentLog }), StoreUnreleased);
    assert.equal(await contentOf(url), found);
  });

  it("opens its secrets with the key that sealed them, and with no other", async () => {
    const directory = await mkdtemp(join(tmpdir(), "waybeam-secret-"));
    const url = await server.database();
    const secrets = (file: string, rotate = false) => ({ file: join(directory, file), ids: systemIds, rotate });
    const open = (file: string, rotate?: boolean) =>
      openPostgresRows(url, { log: silentLog, secrets: secrets(file, rotate) });
    const first = await open("one");
    assert.equal(await first.accounts.setting("tokenKey", () => "t0ps3cret"), "t0ps3cret");
    await first.close();
    const [row] = await server.ask(nameOf(url), "select value from setting where name = 'tokenKey'");
    assert.match(String(row?.value), /^sealed\.1\./);
    await assert.rejects(open("other"), SecretKeyUnusable);
    const second = await open("one", true);
    assert.equal(await second.accounts.findSetting("tokenKey"), "t0ps3cret");
    await second.close();
    const [rotated] = await server.ask(nameOf(url), "select value from setting where name = 'tokenKey'");
    assert.notEqual(rotated?.value, row?.value);
    await rm(directory, { recursive: true });
  });

  it("is opened by way of a pooler that knows few parameters, for a role with time limits of its own", async () => {
    const url = new URL(await server.database());
    await server.ask(nameOf(url.href), "create role hurried login; grant all on schema public to hurried");
    for (const limit of ["statement", "lock", "idle_in_transaction_session", "idle_session"])
      await server.ask("postgres", `alter role hurried set ${limit}_timeout = '500ms'`);
    const proxy = await TcpProxy.start(server.port);
    let startup = "";
    proxy.onSent = (bytes) => {
      if (bytes.includes("client_encoding\0")) startup += bytes.toString("latin1");
    };
    url.port = String(proxy.port);
    url.username = "hurried";
    const lost: string[] = [];
    const log = {
      ...silentLog,
      warn: (_: object, text: string) => void (text.includes("was lost") && lost.push(text)),
    };
    const store = await openPostgresStore(url.href, { log });
    await store.check();
    await pause(1200);
    await store.check();
    await store.close();
    assert.deepEqual(lost, []);
    assert.match(startup, /user\0hurried/);
    assert.doesNotMatch(startup, /timeout/);
  });

  it("is written to when another session has let go of a table, also by a role that waits less for locks", async (context) => {
    const url = new URL(await server.database());
    await server.ask(nameOf(url.href), "create role impatient login; grant all on schema public to impatient");
    await server.ask("postgres", "alter role impatient set lock_timeout = '100ms'");
    url.username = "impatient";
    const store = await openPostgres(url.href);
    context.after(() => store.close());
    const { key } = await makeDevice(store, (await makeAccount(store)).key);
    const free = await locked(url.href, "position");
    const appended = store.positions.append([{ device: key, records: [said(1)] }]);
    await waitingFor(url.href, "waybeam%");
    await pause(300);
    await free();
    assert.ok((await appended) > 0);
  });

  it("starts where a month's partition can't be made because another session does not let go of the default one", async () => {
    const url = await server.database();
    await (await openPostgresStore(url, { log: silentLog, times: shortTimes })).close();
    const [{ name } = {}] = await server.ask(
      nameOf(url),
      "select max(relid::text) as name from pg_partition_tree('position') where isleaf and relid::text <> 'position_default'",
    );
    await server.ask(nameOf(url), `drop table ${name}`);
    // As a backup holds it while it reads.
    const free = await locked(url, "position_default", "access share");
    const told: string[] = [];
    const log = { ...silentLog, warn: (_: object, text: string) => void told.push(text) };
    const store = await openPostgresStore(url, { log, times: shortTimes });
    assert.match(told.join(), /partitions of positions can't be made/);
    await store.positions.append([{ device: 1, records: [said(1)] }]);
    await store.close();
    await free();
    await (await openPostgresStore(url, { log: silentLog, times: shortTimes })).close();
    const [{ found } = {}] = await server.ask(nameOf(url), `select to_regclass('${name}') is not null as found`);
    assert.equal(found, true);
  });

  it("starts where what secrets were can't be taken out of a table that another session holds", async () => {
    const directory = await mkdtemp(join(tmpdir(), "waybeam-secret-"));
    const url = await server.database();
    const before = await openPostgresRows(url, { log: silentLog });
    await before.accounts.setting("tokenKey", () => "t0ps3cret");
    await before.close();
    const warned: string[] = [];
    const log = { ...silentLog, warn: (_: object, text: string) => void warned.push(text) };
    const secrets = { file: join(directory, "key"), ids: systemIds, rotate: false };
    const free = await locked(url, "alert_rule", "access share");
    const rows = await openPostgresRows(url, { log, times: shortTimes, secrets });
    await free();
    assert.equal(await rows.accounts.findSetting("tokenKey"), "t0ps3cret");
    assert.match(warned.join(), /run VACUUM FULL/);
    await rows.close();
    await rm(directory, { recursive: true });
  });

  it("leaves nothing at work where its start fails at the end", async () => {
    const url = await server.database();
    await (await openPostgres(url)).close();
    await server.ask(nameOf(url), "alter table purge rename column device to gone");
    const warned: string[] = [];
    const log = { ...silentLog, warn: (_: object, text: string) => void warned.push(text) };
    await assert.rejects(openPostgresStore(url, { log }), /column "device" does not exist/);
    warned.length = 0;
    await pause(1500);
    assert.deepEqual(warned, []);
  });

  it("is refused in time by a server that does not answer", async () => {
    const url = new URL(await server.database());
    const proxy = await TcpProxy.start(server.port);
    proxy.silent = true;
    url.port = String(proxy.port);
    assert.match((await problemsOf(url.href))[0] ?? "", /can't be reached: .*timeout/);
  });

  for (const at of [
    "server_version_num",
    "full_page_writes",
    "pg_try_advisory_lock",
    "gen_random_uuid",
    "create table",
    "service",
    "position_commit",
    "position_default",
  ])
    it(`ends the start in time where the server hangs while it is asked for ${at}`, async () => {
      const url = new URL(await server.database());
      const proxy = await TcpProxy.start(server.port);
      url.port = String(proxy.port);
      proxy.silentAt(at);
      await assert.rejects(openPostgresStore(url.href, { log: silentLog, times: shortTimes }), (error) => {
        assert.ok(error instanceof DatabaseUnusable, String(error));
        assert.match(error.message, /can't be (reached|opened): .*(did not answer|timeout|terminated)/);
        return true;
      });
    });
});

describe("a PostgreSQL server with TLS", { skip: noPostgres }, () => {
  it("is spoken to as sslmode says", async () => {
    const directory = await mkdtemp(join(tmpdir(), "waybeam-tls-"));
    const plain = await PostgresServer.start();
    const { cert, key } = selfSigned();
    const certificate = join(directory, "server.crt");
    await writeFile(certificate, cert);
    const secure = await PostgresServer.start({
      files: { "server.crt": cert, "server.key": key },
      settings: [["ssl", "on"]],
    });
    const open = async (server: PostgresServer, parameters: string) => {
      const name = nameOf(await server.database());
      return (await problemsOf(server.url(name, parameters)))[0] ?? "";
    };
    for (const mode of ["disable", "allow", "prefer"]) assert.equal(await open(plain, `?sslmode=${mode}`), "");
    for (const mode of ["require", "verify-ca", "verify-full"])
      assert.match(await open(plain, `?sslmode=${mode}`), /does not support SSL/);
    for (const mode of ["disable", "allow", "prefer", "require"])
      assert.equal(await open(secure, `?sslmode=${mode}`), "");
    for (const mode of ["verify-ca", "verify-full"])
      assert.match(await open(secure, `?sslmode=${mode}`), /self-signed certificate/);
    const root = `&sslrootcert=${encodeURIComponent(certificate)}`;
    for (const mode of ["require", "verify-ca", "verify-full"])
      assert.equal(await open(secure, `?sslmode=${mode}${root}`), "");
    await rm(directory, { recursive: true });
  });
});

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}
