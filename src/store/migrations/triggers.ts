import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";
import type { Engine, Trigger } from "./migration.ts";

/** Creates a trigger in the engine's SQL. */
export async function makeTrigger(database: Kysely<Schema>, engine: Engine, trigger: Trigger): Promise<void> {
  for (const statement of engine.trigger(trigger)) await sql.raw(statement).execute(database);
}
