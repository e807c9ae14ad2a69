import type { Statement } from "./wire/messages.ts";

/** Statements without parameters that several files use. */
export const statements = {
  begin: { name: "begin", sql: "begin" },
  commit: { name: "commit", sql: "commit" },
  rollback: { name: "rollback", sql: "rollback" },
  nothing: { name: "nothing", sql: "select 1::bigint" },
} as const satisfies Readonly<Record<string, Statement>>;
