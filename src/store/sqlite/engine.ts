import type { Engine, Refusal } from "../migrations/migration.ts";

/** SQLite's types of columns. AUTOINCREMENT gives no number twice, even after its row was deleted. */
export const engine: Engine = {
  int: "integer",
  double: "double precision",
  bytes: "blob",
  key: (column) => column.notNull().primaryKey().autoIncrement(),
  trigger: ({ name, table, after, steps }) => [
    `create trigger ${name} after ${after} on "${table}" begin ${steps.map(statementOf).join(" ")} end`,
  ],
  prepare: async () => {},
};

function statementOf(step: string | Refusal): string {
  return typeof step === "string" ? `${step};` : `select raise(abort, '${step.refuse}') where ${step.when};`;
}
