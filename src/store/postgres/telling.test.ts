import assert from "node:assert/strict";
import { test } from "node:test";
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { until } from "../../../test/support/gateway.ts";
import type { BusEvent } from "../../ports/bus.ts";
import type { Schema } from "../schema.ts";
import { Telling } from "./telling.ts";
import { toldIn } from "./told.ts";

/** A server that keeps what is told, unless it is away. */
class Server extends DummyDriver {
  isAway = false;
  tries = 0;
  readonly told: BusEvent[] = [];

  override async acquireConnection() {
    return {
      executeQuery: async ({ parameters }: { readonly parameters: readonly unknown[] }) => {
        this.tries++;
        if (this.isAway) throw new Error("away");
        this.told.push(...toldIn(String(parameters[2])));
        return { rows: [] };
      },
      async *streamQuery() {},
    };
  }
}

function telling() {
  const server = new Server();
  const warnings: string[] = [];
  const dialect = {
    createDriver: () => server,
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (database: Kysely<unknown>) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
  const log = { warn: (_: object, text: string) => warnings.push(text) };
  return { server, warnings, telling: new Telling(new Kysely<Schema>({ dialect }), "p", log) };
}

const changed = (accountKey: number): BusEvent => ({ type: "rulesChanged", accountKey });

test("that others can't be told is warned of once, until they can", async () => {
  const { server, warnings, telling: one } = telling();
  server.isAway = true;
  one.add(changed(1));
  await until(() => server.tries >= 3);
  assert.equal(warnings.length, 1);
  server.isAway = false;
  await until(() => server.told.length === 1);
  server.isAway = true;
  one.add(changed(2));
  await until(() => warnings.length === 2);
  await one.end();
});

test("at the end, what could not be told before is told, and what came since", async () => {
  const { server, warnings, telling: one } = telling();
  server.isAway = true;
  one.add(changed(1));
  await until(() => warnings.length === 1);
  one.add(changed(2));
  server.isAway = false;
  await one.end();
  assert.deepEqual(server.told, [changed(1), changed(2)]);
});
