import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { checkedAddress } from "../../src/store/postgres/checks.ts";
import { PostgresTables } from "../../src/store/postgres/dialect.ts";
import { openPostgresRows } from "../../src/store/postgres/open.ts";
import { makePool } from "../../src/store/postgres/pool.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres, shortTimes } from "../support/postgres-store.ts";
import { silentLog } from "../support/silent-log.ts";

describe("sessions of PostgreSQL", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });

  /** Stops the processes of a database's sessions, as those of a server that hangs. Gives what lets them go on. */
  async function stopped(url: string): Promise<() => void> {
    const found = await server.ask(
      new URL(url).pathname.slice(1),
      "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'",
    );
    const pids = found.map(({ pid }) => Number(pid));
    assert.ok(pids.length > 0, "there are sessions");
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    return () => {
      for (const pid of pids) process.kill(pid, "SIGCONT");
    };
  }

  it("what is written stays durable where the server's settings change while the session is open", async () => {
    const rows = await openPostgresRows(await server.database(), { log: silentLog, connections: 1 });
    const valueNow = async (name: string) =>
      (await sql<{ value: string }>`select current_setting(${name}) as value`.execute(rows.tables)).rows[0]?.value;
    assert.equal(await valueNow("synchronous_commit"), "on");
    for (const change of ["synchronous_commit = off", "deadlock_timeout = '1234ms'"])
      await server.ask("postgres", `alter system set ${change}`);
    await server.ask("postgres", "select pg_reload_conf()");
    while ((await valueNow("deadlock_timeout")) !== "1234ms") await pause(20);
    assert.equal(await valueNow("synchronous_commit"), "on");
    await server.ask("postgres", "alter system reset all");
    await server.ask("postgres", "select pg_reload_conf()");
    await rows.close();
  });

  it("a standby is not read from by a service: it may lack what was committed", async () => {
    const standby = await PostgresServer.start({
      files: { "standby.signal": "" },
      // Not fewer than the server had when its data were made.
      settings: [["max_connections", "100"]],
    });
    const address = await checkedAddress(await server.database(), shortTimes);
    const itsAddress = { ...address, port: standby.port, database: "postgres" };
    const pool = makePool({
      address: itsAddress,
      connections: 1,
      times: shortTimes,
      log: silentLog,
      run: { name: "a test", server: "its primary" },
    });
    const tables = new PostgresTables(pool, shortTimes.statement);
    await assert.rejects(sql`select 1`.execute(tables), { name: "StoreUnavailable", trouble: "down" });
    await tables.destroy();
    await standby.stop();
  });

  it("a store is closed also where the server does not answer any more", async (context) => {
    const url = await server.database();
    const store = await openPostgres(url, silentLog, { times: shortTimes });
    await store.check();
    context.after(await stopped(url));
    await store.close();
  });

  it("rows are closed also where the server does not answer any more, and leave nothing open", async (context) => {
    const url = await server.database();
    const rows = await openPostgresRows(url, { log: silentLog, times: shortTimes });
    await Promise.all([rows.check(), rows.check(), rows.check()]);
    context.after(await stopped(url));
    const open = () => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
    const before = open();
    await rows.close();
    assert.equal(before - open(), 3);
  });
});
