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

  it("a history in any order is that of the plain fold", async (context) => {
    await historyInAnyOrder(await standing(context), 3);
  });

  it("what was sent live and comes again from the tracker's memory is a repeat", async (context) => {
    await comesAgainFromMemory(await standing(context));
  });

  it("killed at random moments: what was acknowledged is there, whole and once", async (context) => {
    await killedAtRandom(await made(), context, 3);
  });

  it("who reads while late reports come sees each acknowledged one, once and in order", async (context) => {
    await readMeanwhile(await standing(context), context, ["late parts"]);
  });
});
