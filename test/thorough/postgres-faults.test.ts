import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, it, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { systemIds } from "../../src/observe/index.ts";
import { StoreUnavailable } from "../../src/ports/store.ts";
import type { OpenedStore } from "../../src/store/opened.ts";
import { checkedAddress } from "../../src/store/postgres/checks.ts";
import { PostgresTables } from "../../src/store/postgres/dialect.ts";
import { makePool } from "../../src/store/postgres/pool.ts";
import { isIn } from "../../src/store/postgres/process-rows.ts";
import { makeNotice } from "../contract/store/alert-values.ts";
import { emptyHead } from "../contract/store/followed.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, delivery, drive, World } from "../support/any-order.ts";
import { type CutOff, Network } from "../support/cut-off.ts";
import { until } from "../support/gateway.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres, shortTimes } from "../support/postgres-store.ts";
import { silentLog } from "../support/silent-log.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";

const waysToCut: readonly CutOff[] = ["unheard", "unsent", "late"];

/** A world whose store comes to its server by way of a network, and what trackers send to it. */
interface Story {
  readonly world: World;
  readonly network: Network;
  readonly database: string;
  /**
   * Delivers a history with late and repeated parts; `between` comes before each delivery, `ended` after the last. Then
   * compares what is stored with it.
   */
  told(count: number, between: (random: () => number) => Promise<void>, ended?: () => Promise<void>): Promise<void>;
}

describe("positions on PostgreSQL, whatever fails", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });

  async function storyFor(context: TestContext): Promise<Story> {
    const network = await Network.before(server.port);
    const place = network.through(await server.database());
    const world = new World(place, (url, log) => openPostgres(url, log, { times: shortTimes }));
    await world.start();
    context.after(async () => {
      await world.stop();
      network.close();
    });
    const { id, key } = await makeDevice(world.store, (await makeAccount(world.store)).key);
    const seed = Math.floor(Math.random() * 1e9);
    context.diagnostic(`seed ${seed}`);
    const told: Story["told"] = async (count, between, ended) => {
      const random = chance(seed);
      const delivered = delivery(drive(random, count), random, "late parts");
      const admitted = await world.admitted(id);
      for (let at = 0; at < delivered.length; ) {
        const some = delivered.slice(at, at + Math.ceil(random() * 40));
        at += some.length;
        await between(random);
        // As trackers do: what was not acknowledged comes again.
        while ((await world.submit(admitted, some)) !== "stored") await pause(50);
      }
      await ended?.();
      await world.compareFollowed(key, delivered, "as it lies");
      await world.stop();
      // By now the server knows which of its clients are gone.
      network.cut();
      await world.start();
      await world.compareFollowed(key, delivered, "after a start");
    };
    return { world, network, database: new URL(place).pathname.slice(1), told };
  }

  for (const how of waysToCut)
    it(`a commit that is cut off (${how}) is stored once, and on it goes`, async (context) => {
      const { network, told } = await storyFor(context);
      let left = 5;
      await told(600, async (random) => {
        if (left === 0 || random() > 0.4) return;
        left--;
        network.next = how;
      });
      assert.ok(network.cuts >= 3, `${network.cuts} commits were cut off`);
    });

  it("sessions that the server ends at any moment", async (context) => {
    const { world, database, told } = await storyFor(context);
    const { key } = await makeDevice(world.store, (await makeAccount(world.store)).key);
    const others = "pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
    let ended: unknown[] = [];
    let happening = Promise.resolve();
    const end = async () => {
      const found = await server.ask(
        database,
        `select pid, pg_terminate_backend(pid) from ${others} and random() < 0.5`,
      );
      ended = [...ended, ...found.map(({ pid }) => pid)];
    };
    /** The server ends a session a moment after it is asked to. Until then the session takes queries, and answers none. */
    const allEnded = async () => {
      const left = await server.ask(database, `select pid from ${others}`);
      if (left.some(({ pid }) => ended.includes(pid))) return false;
      // The service hears of their ends before the answer to a question of its own.
      await world.history(key).catch((error) => assert.ok(error instanceof StoreUnavailable));
      return true;
    };
    await told(
      1500,
      async (random) => {
        if (random() > 0.3) return;
        await happening;
        // While the next reports are delivered.
        happening = pause(random() * 20).then(end);
      },
      async () => {
        await happening;
        await until(allEnded);
      },
    );
    assert.ok(ended.length > 10, `${ended.length} sessions were ended`);
  });

  it("a server that restarts, crashes, loses a process, and is gone for longer than anything is waited for", async (context) => {
    const { network, database, told } = await storyFor(context);
    const troubles: (() => Promise<void>)[] = [
      async () => {
        await server.stop("fast");
        await server.run();
      },
      async () => {
        await server.stop("immediate");
        await server.run();
      },
      async () => {
        const session =
          "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and query like '%insert into position%' order by state_change desc limit 1";
        let [found] = await server.ask(database, session);
        for (; found === undefined; [found] = await server.ask(database, session)) await pause(20);
        process.kill(Number(found.pid), "SIGKILL");
      },
      async () => {
        network.frozen = true;
        await pause(shortTimes.statement * 2);
        network.frozen = false;
        network.cut();
      },
      async () => {
        await server.stop("immediate");
        await pause(3000);
        await server.run();
      },
    ];
    let happening = Promise.resolve();
    await told(
      600,
      async (random) => {
        if (random() > 0.4) return;
        await happening;
        const trouble = troubles.shift();
        // While the next reports are delivered.
        happening = pause(random() * 20).then(() => trouble?.());
      },
      () => happening,
    );
    assert.equal(troubles.length, 0, "all happened");
  });

  it("a removal of a device that is not answered deletes its positions if it was done, and none if not", async (context) => {
    const url = new URL(await server.database());
    const proxy = await TcpProxy.start(server.port);
    url.port = String(proxy.port);
    const world = new World(url.href, (place, log) => openPostgres(place, log, { times: shortTimes }));
    await world.start();
    context.after(() => world.stop());
    const { key: account } = await makeAccount(world.store);
    const devices = [await makeDevice(world.store, account), await makeDevice(world.store, account)];
    const [gone, stays] = devices;
    assert.ok(gone !== undefined && stays !== undefined);
    const fixes = drive(chance(1), 300);
    for (const { id } of devices) await world.deliver(await world.admitted(id), fixes);
    const remove = (key: number) =>
      assert.rejects(world.store.devices.remove(key), (error) => error instanceof StoreUnavailable && error.mayBeDone);
    // A process commits each second that it is alive, too.
    const removal = 'insert into "purge"';
    proxy.loseAnswerTo("commit\0", removal);
    await remove(gone.key);
    const rows = async (key: number) =>
      (await server.ask(url.pathname.slice(1), `select from position where device = ${key}`)).length;
    while ((await rows(gone.key)) > 0) await pause(20);
    proxy.silentAt("commit\0", removal);
    const removed = remove(stays.key);
    while (!proxy.silent) await pause(20);
    proxy.cut();
    proxy.silent = false;
    await removed;
    await world.deliver(await world.admitted(stays.id), drive(chance(2), 1));
    // Removed devices are dealt with in their order.
    const third = await makeDevice(world.store, account);
    await world.deliver(await world.admitted(third.id), fixes);
    await world.store.devices.remove(third.key);
    while ((await rows(third.key)) > 0) await pause(20);
    await world.compare(stays.key, [...fixes, ...drive(chance(2), 1)], "of the device that stays");
  });

  /** Opens a store to change its secret key, for which it must be alone. */
  function openAlone(context: TestContext, url: string): Promise<OpenedStore> {
    const directory = mkdtempSync(join(tmpdir(), "waybeam-secret-"));
    context.after(() => rmSync(directory, { recursive: true }));
    const secrets = { file: join(directory, "key"), ids: systemIds, rotate: true };
    return openPostgres(url, silentLog, { times: shortTimes, secrets });
  }

  it("processes of a service share a database; who needs it alone is told who has it, and the other way round", async (context) => {
    const url = await server.database();
    const [one, two] = [await openPostgres(url), await openPostgres(url)];
    for (const store of [one, two]) {
      await assert.rejects(openAlone(context, url), {
        name: "DatabaseInUse",
        message: /A service uses the database: waybeam service at 127\.0\.0\.1, since /,
      });
      await store.close();
    }
    const alone = await openAlone(context, url);
    context.after(() => alone.close());
    await assert.rejects(openPostgres(url, silentLog, { times: shortTimes }), {
      name: "DatabaseInUse",
      message: /Another program has the database for itself: waybeam alone at 127\.0\.0\.1, since /,
    });
  });

  it("a lock of another role is told as such", async (context) => {
    const url = await server.database();
    const database = new URL(url).pathname.slice(1);
    await server.ask(
      database,
      "create role owner; create role one login inherit in role owner; create role two login in role owner; alter role two set datestyle = 'German'; grant all on schema public to owner",
    );
    const as = (role: string) => url.replace("waybeam@", `${role}@`);
    for (const role of ["one", "two"]) await server.ask(database, `alter role ${role} set role owner`);
    const first = await openPostgres(as("one"), silentLog, { times: shortTimes });
    context.after(() => first.close());
    for (const role of ["one", "two"])
      await assert.rejects(openAlone(context, as(role)), {
        name: "DatabaseInUse",
        message: /A service uses the database: waybeam service/,
      });
  });

  it("a connection that may still write keeps away who needs the database alone", async (context) => {
    const url = await server.database();
    const network = await Network.before(server.port);
    context.after(() => network.close());
    const store = await openPostgres(network.through(url), silentLog, { times: shortTimes });
    context.after(() => store.close());
    // To its server the lock of the service is gone, and it can't be taken again.
    network.frozen = true;
    const lock = "application_name = 'waybeam service' and datname = current_database()";
    await server.ask(
      new URL(url).pathname.slice(1),
      `select pg_terminate_backend(pid) from pg_stat_activity where ${lock}`,
    );
    await assert.rejects(openAlone(context, url), {
      name: "DatabaseInUse",
      message: /A service uses the database: waybeam at /,
    });
  });

  it("a lock that is lost is taken again", async (context) => {
    const { database, world, told } = await storyFor(context);
    const warnings: string[] = [];
    await world.stop();
    await world.start({ ...silentLog, warn: (_, text) => void warnings.push(text) });
    const lose =
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'waybeam service' and datname = current_database()";
    await told(400, async (random) => {
      if (random() < 0.3) await server.ask(database, lose);
    });
    assert.ok(warnings.some((text) => text.includes("the lock of the database was lost")));
  });

  it("a server that does not tell its timeline is another one when it was restarted", async (context) => {
    const url = await server.database();
    await server.ask(
      new URL(url).pathname.slice(1),
      "create role plain login; grant all on schema public to plain; revoke execute on function pg_walfile_name(pg_lsn) from public",
    );
    const taken = Promise.withResolvers<unknown>();
    const store = await openPostgres(url.replace("waybeam@", "plain@"), silentLog, {
      times: shortTimes,
      onTakenOver: taken.resolve,
    });
    context.after(() => store.close());
    await store.check();
    await server.stop();
    await server.run();
    assert.match(String(await taken.promise), /a standby has taken the server's place/);
  });

  it("a process that was replaced commits nothing that follows from positions, and ends", async (context) => {
    const url = await server.database();
    const network = await Network.before(server.port);
    context.after(() => network.close());
    const taken = Promise.withResolvers<unknown>();
    const first = await openPostgres(network.through(url), silentLog, {
      times: shortTimes,
      onTakenOver: taken.resolve,
    });
    context.after(() => first.close());
    const second = await openPostgres(url, silentLog, { times: shortTimes });
    context.after(() => second.close());
    for (const { processes } of [first, second]) await processes.start();
    const { key } = await makeDevice(first, (await makeAccount(first)).key);
    const commit = { device: key, head: emptyHead, days: [] };
    await first.follow.commit([commit]);
    const notice = await makeNotice(first, key);
    assert.equal(await first.notices.claim(notice.key, 0, undefined), "claimed");
    // Cut off within a transaction, its session would end, and with that it would count as ended. It commits in turns:
    // behind one that came a second after the one before, the next is a second away.
    const seenAt = async () => {
      const question = `select extract(epoch from seen_at)::float8 as at from process where name = '${first.processes.name}'`;
      return Number((await server.ask(new URL(url).pathname.slice(1), question))[0]?.at);
    };
    for (let at = await seenAt(), before = at; at - before < 0.9; at = await seenAt()) {
      before = at;
      await until(async () => (await seenAt()) > before);
    }
    network.frozen = true;
    await until(() => second.processes.others.length === 0);
    assert.equal(await second.notices.takeUp(), 0, "what it was sending may be on its way");
    await second.follow.commit([{ ...commit, head: { ...emptyHead, rules: "of the second" } }]);
    network.frozen = false;
    network.cut();
    const replaced = /other processes of the service have taken this one's place/;
    await assert.rejects(
      first.follow.commit([commit]).catch(() => first.follow.commit([commit])),
      { name: "StoreUnavailable", message: replaced },
    );
    assert.match(String(await taken.promise), replaced);
    assert.equal((await second.follow.heads([key]))[0]?.rules, "of the second");
    await first.close();
    await until(async () => (await second.notices.takeUp()) === 1);
  });

  it("a process is not missed while its follower commits, and a commit that hangs ends by itself", async (context) => {
    const url = await server.database();
    const second = await openPostgres(url);
    context.after(() => second.close());
    await second.processes.start();
    const parts = { address: await checkedAddress(url, shortTimes), connections: 1, times: shortTimes, log: silentLog };
    const tables = new PostgresTables(makePool(parts), shortTimes.statement);
    context.after(() => tables.destroy());
    await sql`insert into process values ('paused', now(), 0)`.execute(tables);
    const missed = Promise.withResolvers<void>();
    // As if it had been paused in the middle.
    const commit = tables.transaction().execute(async (transaction) => {
      assert.ok(await isIn(transaction, "paused"));
      await missed.promise;
      await sql`select`.execute(transaction);
    });
    await until(() => second.processes.others.join() === "paused");
    await until(() => second.processes.others.length === 0);
    missed.resolve();
    // If it had been missed before, its transaction would still be there.
    await assert.rejects(commit, { name: "StoreUnavailable" });
  });
});
