import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";
import { first } from "./0001-first.ts";
import type { Engine, Migration } from "./migration.ts";

/** In order; one that was released is never changed, only followed by another. Its number is its place, from 1. */
const migrations: readonly Migration[] = [first];

/** The version of the data that this program writes: the number of the newest migration. */
export const dataVersion = migrations.length;

/** The data was written by a newer version of the program. */
export class StoreTooNew extends Error {
  override readonly name = "StoreTooNew";
}

/**
 * Number of a row of `migration` that a move puts there until it has ended. So no program, of whatever version, takes
 * the data for whole.
 */
export const movingNumber = 1_000_000_000;

/** The data is what a move has copied so far. */
export class StoreHalfMoved extends Error {
  override readonly name = "StoreHalfMoved";
}

/** A service has made the tables that a move wanted to make. */
export class StoreNotEmpty extends Error {
  override readonly name = "StoreNotEmpty";
}

/** The data was made before the first release. */
export class StoreUnreleased extends Error {
  override readonly name = "StoreUnreleased";
}

/** What the first row of `migration` may be called in data of this program: now, and before the first release. */
export const firstNames: readonly string[] = [first.name, "first"];

/**
 * Throws where data of this version is nothing for this program: `StoreTooNew`, `StoreHalfMoved` or `StoreUnreleased`.
 * `firstName`: what the first row of `migration` is called.
 */
export function checkNumber(version: number, firstName = first.name): void {
  if (version === movingNumber)
    throw new StoreHalfMoved("it holds what `waybeam move-store` has copied so far, and that has not ended");
  if (firstName !== first.name)
    throw new StoreUnreleased("the data was made by an earlier, unreleased version: start with an empty folder");
  if (version > dataVersion)
    throw new StoreTooNew(`the data is of version ${version}, a newer program made it, this one knows ${dataVersion}`);
}

/**
 * Brings the tables up to date, in one transaction: of two nodes that start at once, the second finds the work done.
 * `forMove`: no service opens them until a move has ended. Rejects then with `StoreNotEmpty` where there are tables.
 */
export async function migrate(database: Kysely<Schema>, engine: Engine, forMove = false): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction.schema
      .createTable("migration")
      .ifNotExists()
      .addColumn("number", "integer", (column) => column.primaryKey())
      .addColumn("name", "text", (column) => column.notNull())
      .execute();
    const rows = await transaction.selectFrom("migration").selectAll().orderBy("number").execute();
    const done = rows.at(-1)?.number ?? 0;
    checkNumber(done, rows[0]?.name);
    if (forMove && done > 0) throw new StoreNotEmpty("a service has been started on it meanwhile");
    if (done < migrations.length) await engine.prepare(transaction);
    for (const [index, migration] of migrations.entries()) {
      if (index < done) continue;
      await migration.up(transaction, engine);
      await transaction
        .insertInto("migration")
        .values({ number: index + 1, name: migration.name })
        .execute();
    }
    if (forMove) await transaction.insertInto("migration").values({ number: movingNumber, name: "moving" }).execute();
  });
}
