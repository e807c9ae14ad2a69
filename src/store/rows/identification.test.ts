import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CompiledQuery,
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { StoreUnavailable } from "../../ports/store.ts";
import type { Schema } from "../schema.ts";
import { Identification } from "./identification.ts";

/**
 * A database that fails where it is asked for "damaged", and for "closed" as if it were down, finds nothing, and keeps
 * what it was asked for.
 */
class Failing extends DummyDriver {
  readonly asked: (readonly unknown[])[] = [];

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    connection.executeQuery = async <R>({ parameters }: CompiledQuery): Promise<QueryResult<R>> => {
      this.asked.push(parameters);
      await new Promise((resolve) => setImmediate(resolve));
      if (parameters.includes("damaged")) throw new StoreUnavailable("a damaged page", undefined, "damaged");
      if (parameters.includes("closed")) throw new StoreUnavailable("the store is closed");
      return { rows: [] };
    };
    return connection;
  }
}

function setUp() {
  const driver = new Failing();
  const database = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  return { driver, identification: new Identification(database) };
}

test("what is asked for while a query is under way goes out together, in few sizes", async () => {
  const { driver, identification } = setUp();
  await Promise.all(Array.from({ length: 100 }, (_, index) => identification.find([`${index}`])));
  assert.deepEqual(
    driver.asked.map(({ length }) => length),
    [1, 64, 64],
  );
  assert.equal(new Set(driver.asked.flat()).size, 100);
  await identification.find(["a", "b", "c"]);
  assert.deepEqual(driver.asked.at(-1), ["a", "b", "c", "c"]);
});

test("one row that can't be read stops nobody else, and is asked for alone", async () => {
  const { driver, identification } = setUp();
  const found = await Promise.allSettled(["first", "a", "damaged", "b"].map((id) => identification.find([id])));
  assert.deepEqual(
    found.map(({ status }) => status),
    ["fulfilled", "fulfilled", "rejected", "fulfilled"],
  );
  assert.deepEqual(
    driver.asked.map(({ length }) => length),
    [1, 4, 1, 1, 1],
  );
  assert.equal(await identification.find(["later"]), undefined);
});

test("while the store is down, what was asked for together fails together: nobody waits for the failures of all others", async () => {
  const { driver, identification } = setUp();
  const found = await Promise.allSettled(["first", "a", "closed", "b"].map((id) => identification.find([id])));
  assert.deepEqual(
    found.map(({ status }) => status),
    ["fulfilled", "rejected", "rejected", "rejected"],
  );
  assert.deepEqual(
    driver.asked.map(({ length }) => length),
    [1, 4],
  );
});
