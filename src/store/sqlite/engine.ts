import { sql } from "kysely";
import type { Engine, Refusal } from "../migrations/migration.ts";

/** SQLite's types of columns. AUTOINCREMENT gives no number twice, even after its row was deleted. */
export const engine: Engine = {
  int: "integer",
  double: "double precision",
  bytes: "blob",
  // Version 4 by RFC 9562, 5.4: random, but for its version and its variant.
  uuid: sql<string>`lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
    || substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`,
  key: (column) => column.notNull().primaryKey().autoIncrement(),
  trigger: ({ name, table, after, steps }) => [
    `create trigger ${name} after ${after} on "${table}" begin ${steps.map(statementOf).join(" ")} end`,
  ],
  prepare: async () => {},
};

function statementOf(step: string | Refusal): string {
  return typeof step === "string" ? `${step};` : `select raise(abort, '${step.refuse}') where ${step.when};`;
}
