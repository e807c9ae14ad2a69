import assert from "node:assert/strict";
import { before, describe, it, type TestContext } from "node:test";
import { World } from "../support/any-order.ts";
import {
  comesAgainFromMemory,
  historyInAnyOrder,
  killedAtRandom,
  readMeanwhile,
} from "../support/any-order-stories.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres } from "../support/postgres-store.ts";

describe("positions on PostgreSQL", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  const made = async () => new World(await server.database(), openPostgres);
  const standing = async (context: TestContext) => {
    const world = await made();
    await world.start();
    context.after(() => world.stop());
    return world;
  };

  it("a history in any order, sealed in between, is that of the plain fold", async (context) => {
    await historyInAnyOrder(await standing(context), 3);
  });

  it("what was sent live and comes again from the tracker's memory is a repeat, sealed or not", async (context) => {
    await comesAgainFromMemory(await standing(context));
  });

  it("killed at random moments of sealing: what was acknowledged is there, whole and once", async (context) => {
    const world = await made();
    await killedAtRandom(world, context, 3, async (told) => {
      const database = new URL(world.place).pathname.slice(1);
      const [found] = await server.ask(
        database,
        "select count(*)::int as without from block left join block_data using (seq) where data is null",
      );
      assert.equal(found?.without, 0, told);
    });
  });

  it("who reads while late reports come and are sealed sees each acknowledged one, once and in order", async (context) => {
    await readMeanwhile(await standing(context), context, ["late parts"]);
  });
});
