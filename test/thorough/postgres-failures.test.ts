import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { type StoreTrouble, StoreUnavailable } from "../../src/ports/store.ts";
import { openPostgresRows, type PostgresRows } from "../../src/store/postgres/open.ts";
import { makeAccount, makeDevice, now, unique } from "../contract/store/harness.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { silentLog } from "../support/silent-log.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";

// Long enough for a busy machine.
const times = { connect: 2000, statement: 2000, idle: 60_000 };

function unavailable(trouble: StoreTrouble, mayBeDone = false) {
  return (error: unknown) => {
    assert.ok(error instanceof StoreUnavailable, String(error));
    assert.deepEqual({ trouble: error.trouble, mayBeDone: error.mayBeDone }, { trouble, mayBeDone }, error.message);
    return true;
  };
}

/** Until it works again by itself. */
async function untilBack(rows: PostgresRows): Promise<void> {
  for (let tries = 0; ; tries++)
    try {
      return await rows.check();
    } catch (error) {
      assert.ok(error instanceof StoreUnavailable, String(error));
      if (tries === 200) throw error;
      await pause(50);
    }
}

describe("failures of PostgreSQL", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start({ fsync: true, settings: [["deadlock_timeout", "50ms"]] });
  });

  /** A store whose connections go through a proxy. */
  async function proxied() {
    const url = new URL(await server.database());
    const proxy = await TcpProxy.start(server.port);
    url.port = String(proxy.port);
    const store = await openPostgresRows(url.href, { log: silentLog, times, connections: 4 });
    return { store, proxy, account: await makeAccount(store) };
  }

  /** Waits until the server runs a statement with this text. */
  async function untilRuns(text: string): Promise<void> {
    const question = `select from pg_stat_activity where state = 'active' and query like '%${text}%' and pid <> pg_backend_pid()`;
    while ((await server.ask("postgres", question)).length === 0) await pause(10);
  }

  it("of the network are told, and over when it is back", async () => {
    const { store, proxy, account } = await proxied();
    await Promise.all(Array.from({ length: 8 }, () => store.accounts.find(account.key)));
    proxy.cut();
    await untilBack(store);
    assert.deepEqual(await store.accounts.find(account.key), account);
    proxy.silent = true;
    await assert.rejects(store.accounts.find(account.key), unavailable("down"));
    await assert.rejects(store.check(), StoreUnavailable);
    proxy.silent = false;
    await untilBack(store);
    await store.close();
  });

  it("of a server that ends, crashes and is away are told at once, and over when it is back", async () => {
    const { store, account } = await proxied();
    for (const how of ["fast", "immediate"] as const) {
      const stopped = Promise.withResolvers<void>();
      const began = Promise.withResolvers<void>();
      const busy = assert.rejects(sql`select pg_sleep(5)`.execute(store.tables), unavailable("down", true));
      const open = assert.rejects(
        store.tables.transaction().execute(async (transaction) => {
          await transaction.updateTable("account").set({ name: "never" }).where("key", "=", account.key).execute();
          began.resolve();
          await stopped.promise;
          await transaction.selectFrom("account").select("key").execute();
        }),
        unavailable("down"),
      );
      await began.promise;
      await untilRuns("pg_sleep");
      await server.stop(how);
      stopped.resolve();
      await Promise.all([busy, open]);
      await assert.rejects(store.accounts.find(account.key), unavailable("down"));
      await assert.rejects(store.devices.remove(1), unavailable("down"));
      await server.run();
      await untilBack(store);
      assert.deepEqual(await store.accounts.find(account.key), account);
    }
    await store.close();
  });

  it("that lose the answer to a commit say that it may be done, and it is done once", async () => {
    const { store, proxy, account } = await proxied();
    const device = await makeDevice(store, account.key);
    const limits = { device: 10, account: 10 };
    proxy.loseAnswerTo("commit\0");
    await assert.rejects(store.daily.take(device.key, "2026-11-21", "sms", limits), unavailable("down", true));
    assert.deepEqual(await store.daily.sent(device.key, "2026-11-21"), { sms: 1, email: 0 });
    // A statement of its own is a transaction, too.
    proxy.loseAnswerTo("update");
    await assert.rejects(store.users.setLastLogin(1, now), unavailable("down", true));
    // Nothing of a transaction that was not to be committed yet is done, and nothing of a question.
    proxy.loseAnswerTo("device_sent");
    await assert.rejects(store.daily.take(device.key, "2026-11-21", "sms", limits), unavailable("down"));
    proxy.loseAnswerTo("account");
    await assert.rejects(store.accounts.find(account.key), unavailable("down"));
    assert.deepEqual(await store.daily.sent(device.key, "2026-11-21"), { sms: 1, email: 0 });
    await store.close();
  });

  it("that the server tells of its own state have their trouble", async () => {
    const { store } = await proxied();
    const states: readonly (readonly [string, StoreTrouble])[] = [
      ["53100", "down"],
      ["53300", "down"],
      ["25006", "down"],
      ["57P03", "down"],
      ["42501", "down"],
      ["53200", "exhausted"],
      ["XX001", "damaged"],
      ["58030", "damaged"],
    ];
    for (const [state, trouble] of states) {
      const raise = sql.raw(`do $$ begin raise exception 'so it is' using errcode = '${state}'; end $$`);
      await assert.rejects(raise.execute(store.tables), unavailable(trouble, state === "57P03"), state);
      await store.check();
    }
    // What is a fault of ours is not told as one of the store.
    const faulty = sql`select 1 / 0`.execute(store.tables);
    await assert.rejects(faulty, (error) => error instanceof Error && !(error instanceof StoreUnavailable));
    await store.close();
  });

  it("of a server that has become read-only are over when it writes again", async () => {
    const { store, account } = await proxied();
    const { name: database } = (
      await sql<{ name: string }>`select current_database()::text as name`.execute(store.tables)
    ).rows[0] ?? { name: "" };
    await server.ask("postgres", `alter database ${database} set default_transaction_read_only = on`);
    const terminate = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`;
    await server.ask("postgres", terminate);
    // Until the store has heard it: its sessions are new ones.
    const setting = sql<string>`current_setting('transaction_read_only')`.as("on");
    const isReadOnly = async () => (await store.tables.selectNoFrom(setting).executeTakeFirst())?.on === "on";
    while (!(await isReadOnly().catch(() => false))) await pause(10);
    // One statement: a transaction that the store begins asks to write.
    await assert.rejects(store.users.setLastLogin(1, now), unavailable("down"));
    await assert.rejects(store.check(), unavailable("down"));
    assert.deepEqual(await store.accounts.find(account.key), account);
    await server.ask("postgres", `alter database ${database} reset default_transaction_read_only`);
    await untilBack(store);
    await store.close();
  });

  it("of a full disk are told, and leave nothing half done", async () => {
    const { store, account } = await proxied();
    // The server's own error, where a page can't be added.
    await sql
      .raw(
        `create function full_disk() returns trigger language plpgsql as $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`,
      )
      .execute(store.tables);
    await sql
      .raw("create trigger full_disk before insert on device_identifier for each row execute function full_disk()")
      .execute(store.tables);
    await assert.rejects(makeDevice(store, account.key), unavailable("down"));
    assert.deepEqual(await store.devices.list(account.key), []);
    await sql.raw("drop trigger full_disk on device_identifier").execute(store.tables);
    await makeDevice(store, account.key);
    await store.close();
  });

  it("of two who wait for each other are tried again, and both are done", async () => {
    const { store, account } = await proxied();
    const [one, other] = [await makeDevice(store, account.key), await makeDevice(store, account.key)];
    let tries = 0;
    let holding = 0;
    const met = Promise.withResolvers<void>();
    const both = (first: number, second: number) =>
      store.tables.transaction().execute(async (transaction) => {
        tries++;
        const add = (key: number) =>
          transaction
            .updateTable("device")
            .set((set) => ({ daily_sms_limit: set("daily_sms_limit", "+", 1) }))
            .where("key", "=", key)
            .execute();
        await add(first);
        // The first try of each waits until both have a row.
        if (++holding === 2) met.resolve();
        await met.promise;
        await add(second);
      });
    await Promise.all([both(one.key, other.key), both(other.key, one.key)]);
    assert.ok(tries > 2);
    assert.equal((await store.devices.findByKey(one.key))?.dailySmsLimit, one.dailySmsLimit + 2);
    assert.equal((await store.devices.findByKey(other.key))?.dailySmsLimit, other.dailySmsLimit + 2);
    await store.close();
  });

  it("by a lock that another program holds end in time, and concern no others", async () => {
    const { store, account } = await proxied();
    const [held, free] = [await makeDevice(store, account.key), await makeDevice(store, account.key)];
    await store.tables.transaction().execute(async (transaction) => {
      await transaction.selectFrom("device").select("key").where("key", "=", held.key).forUpdate().execute();
      const asked = { ...held, name: unique("new ") };
      await assert.rejects(store.devices.replace(held.key, asked, now), unavailable("exhausted"));
      await store.devices.replace(free.key, { ...free, name: "free" }, now);
      await store.check();
    });
    await store.close();
  });

  it("of a connection that all others have taken end in time", async () => {
    const { store, account } = await proxied();
    const over = Promise.withResolvers<void>();
    let begun = 0;
    const held = Array.from({ length: 4 }, () =>
      store.tables.transaction().execute(async (transaction) => {
        await transaction.selectFrom("account").select("key").execute();
        begun++;
        await over.promise;
      }),
    );
    while (begun < 4) await pause(10);
    await assert.rejects(store.accounts.find(account.key), unavailable("down"));
    over.resolve();
    await Promise.all(held);
    assert.deepEqual(await store.accounts.find(account.key), account);
    await store.close();
  });
});
