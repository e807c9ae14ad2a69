import { type Kysely, sql } from "kysely";
import type { Engine, Refusal } from "../migrations/migration.ts";
import type { Schema } from "../schema.ts";
import { functions } from "./functions.ts";

/** SQLSTATE that a quota's trigger raises, of a class that neither the standard nor PostgreSQL uses. */
const refusedState = "WB001";

/**
 * PostgreSQL's types of columns. An identity column gives no number twice, even after its row was deleted. Text is
 * compared by its bytes: see `compiler.ts`.
 */
export const engine: Engine = {
  int: "bigint",
  double: "double precision",
  bytes: "bytea",
  key: (column) => column.notNull().primaryKey().generatedByDefaultAsIdentity(),
  trigger: ({ name, table, after, steps }) => [
    // A move that begins anew drops the tables and leaves the functions.
    `create or replace function ${name}() returns trigger language plpgsql as $$ begin ${steps.map(statementOf).join(" ")} return null; end $$`,
    `create trigger ${name} after ${after} on "${table}" for each row execute function ${name}()`,
  ],
  prepare: makeFunctions,
};

function statementOf(step: string | Refusal): string {
  if (typeof step === "string") return `${step};`;
  return `if ${step.when} then raise exception '${step.refuse}' using errcode = '${refusedState}'; end if;`;
}

async function makeFunctions(database: Kysely<Schema>): Promise<void> {
  for (const statement of functions) await sql.raw(statement).execute(database);
}
