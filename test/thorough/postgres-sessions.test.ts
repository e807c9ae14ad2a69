import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { readingConnection } from "../../src/store/postgres/connection.ts";
import { openPostgresRows } from "../../src/store/postgres/open.ts";
import type { Order } from "../../src/store/postgres/orders.ts";
import { addressOf } from "../../src/store/postgres/orders.ts";
import { Session, step } from "../../src/store/postgres/wire/session.ts";
import { text } from "../../src/store/postgres/wire/values.ts";
import { openWritingSession } from "../../src/store/postgres/writing-session.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres, shortTimes } from "../support/postgres-store.ts";
import { silentLog } from "../support/silent-log.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";

const setting = { name: "setting_of", sql: "select current_setting($1::text)" };
const nothing = { name: "nothing", sql: "select 1::bigint" };
const unknown = { name: "unknown", sql: "select 1 from nowhere" };
const sleep = { name: "sleep", sql: "select pg_sleep(60)::text" };

describe("sessions of PostgreSQL", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });

  async function orderOf(url: string): Promise<Order> {
    await (await openPostgres(url, silentLog, { times: shortTimes })).close();
    return { url, isPlain: true, service: "a test", times: shortTimes };
  }

  /** Stops the processes of sessions, as those of a server that hangs. Gives what lets them go on. */
  async function stopped(database: string, like: string): Promise<() => void> {
    const found = await server.ask(
      database,
      `select pid from pg_stat_activity where datname = current_database() and application_name like '${like}'`,
    );
    const pids = found.map(({ pid }) => Number(pid));
    assert.ok(pids.length > 0, "there are sessions");
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    return () => {
      for (const pid of pids) process.kill(pid, "SIGCONT");
    };
  }

  it("what is written stays durable where the server's settings change while the session is open", async (context) => {
    const order = await orderOf(await server.database());
    const session = await openWritingSession(order, true);
    context.after(() => session.end());
    const valueNow = async (name: string) => (await session.run(step(setting, text(name))))[0]?.rows[0]?.text();
    for (const change of ["synchronous_commit = off", "deadlock_timeout = '1234ms'"])
      await server.ask("postgres", `alter system set ${change}`);
    await server.ask("postgres", "select pg_reload_conf()");
    while ((await valueNow("deadlock_timeout")) !== "1234ms") await pause(20);
    assert.equal(await valueNow("synchronous_commit"), "on");
    await server.ask("postgres", "alter system reset all");
    await server.ask("postgres", "select pg_reload_conf()");
  });

  it("a call that needs what an earlier one failed to prepare may be made again", async (context) => {
    const order = await orderOf(await server.database());
    const session = await Session.open({ address: addressOf(order), times: shortTimes, name: "", settings: {} });
    context.after(() => session.end());
    const first = assert.rejects(session.run(step(unknown), step(nothing)), { code: "42P01" });
    const second = assert.rejects(session.run(step(nothing)), { code: "26000", trouble: "exhausted" });
    await first;
    await second;
    await session.run(step(nothing));
  });

  it("is lost by an error that ends it, whatever that is", async (context) => {
    const url = new URL(await server.database());
    const proxy = await TcpProxy.start(server.port);
    url.port = String(proxy.port);
    const order = { url: url.href, isPlain: true };
    const session = await Session.open({ address: addressOf(order), times: shortTimes, name: "", settings: {} });
    context.after(() => session.end());
    const fields = Buffer.from("SFATAL\0VFATAL\0CXX000\0Mwhat nobody has foreseen\0\0");
    const head = Buffer.from("E0000");
    head.writeInt32BE(fields.length + 4, 1);
    proxy.answerTo("nothing", Buffer.concat([head, fields]));
    // It may have come in place of the answer to a commit.
    await assert.rejects(session.run(step(nothing)), {
      code: "XX000",
      trouble: "down",
      message: /nobody has foreseen/,
    });
    assert.ok(session.isLost);
  });

  it("a standby is not read from: it may lack what was committed", async () => {
    const standby = await PostgresServer.start({
      files: { "standby.signal": "" },
      // Not fewer than the server had when its data were made.
      settings: [["max_connections", "100"]],
    });
    const order = { url: standby.url("postgres"), isPlain: true, service: "a test", times: shortTimes };
    await assert.rejects(readingConnection(order, "reader").session(), {
      trouble: "down",
      message: /leads to a standby/,
    });
    await standby.stop();
  });

  it("a store is closed also where the server does not answer any more", async (context) => {
    const url = await server.database();
    const store = await openPostgres(url, silentLog, { times: shortTimes });
    await store.check();
    context.after(await stopped(new URL(url).pathname.slice(1), "waybeam %"));
    await store.close();
  });

  it("rows are closed also where the server does not answer any more, and leave nothing open", async (context) => {
    const url = await server.database();
    const rows = await openPostgresRows(url, { log: silentLog, times: shortTimes });
    await Promise.all([rows.check(), rows.check(), rows.check()]);
    context.after(await stopped(new URL(url).pathname.slice(1), "waybeam%"));
    const open = () => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
    const before = open();
    await rows.close();
    assert.equal(before - open(), 3);
  });

  it("nobody waits for what was under way when a session was ended and its server hung", async (context) => {
    const order = await orderOf(await server.database());
    const name = "a session that ends";
    const session = await Session.open({ address: addressOf(order), times: shortTimes, name, settings: {} });
    const running = assert.rejects(session.run(step(sleep)), { code: "08006" });
    context.after(await stopped(new URL(order.url).pathname.slice(1), name));
    await session.end();
    await running;
  });
});
