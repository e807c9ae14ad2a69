import assert from "node:assert/strict";
import { before, describe, it, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { StoreUnavailable } from "../../src/ports/store.ts";
import type { OpenedStore } from "../../src/store/opened.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, drive, World } from "../support/any-order.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres, shortTimes } from "../support/postgres-store.ts";

const waiting = "from pg_stat_activity where wait_event = 'SyncRep'";

describe("a standby that must have what is committed, and is away", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });

  /** From now on a commit waits for a standby, or does not. */
  async function standby(name: string): Promise<void> {
    await server.ask("postgres", `alter system set synchronous_standby_names = '${name}'`);
    await server.ask("postgres", "select pg_reload_conf()");
    if (name === "") return;
    // The server takes it over some time later: from then on a commit waits.
    const probe = () => server.ask("postgres", "select pg_logical_emit_message(true, 'probe', 'x')");
    for (let waited = 0; waited === 0; ) {
      const asked = probe().then(() => true);
      while (!(await Promise.race([asked, pause(20, false)])))
        waited += (await server.ask("postgres", `select pg_cancel_backend(pid) ${waiting}`)).length;
    }
  }

  /** Cuts off every wait for the standby for some time, and until there was one. Tells how many there were. */
  async function cutOff(how: "pg_cancel_backend" | "pg_terminate_backend", ms: number): Promise<number> {
    let cut = 0;
    for (const end = Date.now() + ms; Date.now() < end || cut === 0; await pause(20))
      cut += (await server.ask("postgres", `select ${how}(pid) ${waiting}`)).length;
    return cut;
  }

  async function worldFor(context: TestContext): Promise<World> {
    const world = new World(await server.database(), (url, log) => openPostgres(url, log, { times: shortTimes }));
    await world.start();
    context.after(async () => {
      await standby("");
      await world.stop();
    });
    return world;
  }

  for (const how of ["pg_cancel_backend", "pg_terminate_backend"] as const)
    it(`positions are acknowledged when it has them, though the wait was cut off (${how})`, async (context) => {
      const world = await worldFor(context);
      const { id, key } = await makeDevice(world.store, (await makeAccount(world.store)).key);
      const admitted = await world.admitted(id);
      const fixes = drive(chance(1), 20);
      await standby("nobody");
      let outcome = "none";
      const submitted = world.submit(admitted, fixes).then((told) => {
        outcome = told;
      });
      assert.ok((await cutOff(how, 4000)) > 0, "a commit waited");
      assert.notEqual(outcome, "stored");
      await standby("");
      await submitted;
      while ((await world.submit(admitted, fixes)) !== "stored") await pause(50);
      await world.compare(key, fixes, "when the standby is back");
    });

  it("a change of a row whose wait was cut off is told as one that may be done", async (context) => {
    const { store } = await worldFor(context);
    const account = await makeAccount(store);
    const rename = (to: OpenedStore, name: string) => to.accounts.replace(account.key, { ...account, name });
    const isInDoubt = (error: unknown) => error instanceof StoreUnavailable && error.mayBeDone;
    await standby("nobody");
    // By an operator, and by nobody: then it takes too long.
    const cancelled = assert.rejects(rename(store, "cancelled"), isInDoubt);
    await cutOff("pg_cancel_backend", 500);
    await cancelled;
    await assert.rejects(rename(store, "late"), isInDoubt);
    await standby("");
    await rename(store, "done");
  });

  it("a change that finds itself done by one whose wait was cut off is told when the standby has that", async (context) => {
    const { store } = await worldFor(context);
    const account = await makeAccount(store);
    const { key } = await makeDevice(store, account.key);
    const remove = () => store.devices.remove(key);
    const isInDoubt = (error: unknown) => error instanceof StoreUnavailable && error.mayBeDone;
    await standby("nobody");
    const cancelled = assert.rejects(remove(), isInDoubt);
    await cutOff("pg_cancel_backend", 500);
    await cancelled;
    assert.equal(await store.devices.findByKey(key), undefined, "the primary has it, and who only reads does not wait");
    // They write nothing: by themselves they would not wait.
    await assert.rejects(Promise.all([remove(), store.users.setLastLogin(1e9, 1)]), isInDoubt);
    await standby("");
    assert.deepEqual(await Promise.all([remove(), remove()]), [false, false]);
  });
});
