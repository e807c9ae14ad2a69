import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";
import { first } from "./0001-first.ts";
import { tenants } from "./0002-tenants.ts";
import { alerts } from "./0003-alerts.ts";
import { commandParts } from "./0004-command-parts.ts";
import { shifts } from "./0005-shifts.ts";
import { noticePlaces } from "./0006-notice-places.ts";
import { refusedRoom } from "./0007-refused-room.ts";
import { deviceIdentity } from "./0008-device-identity.ts";
import { quotas } from "./0009-quotas.ts";
import { caps } from "./0010-caps.ts";
import { secrets } from "./0011-secrets.ts";
import { arrival } from "./0012-arrival.ts";
import { blocks } from "./0013-blocks.ts";
import { positions } from "./0014-positions.ts";
import { ruleZones } from "./0015-rule-zones.ts";
import { keptStates } from "./0016-kept-states.ts";
import { sums } from "./0017-sums.ts";
import { positionDays } from "./0018-position-days.ts";
import { shifted } from "./0019-shifted.ts";
import { blockSums } from "./0020-block-sums.ts";
import { spent } from "./0021-spent.ts";
import { packedRows } from "./0022-packed-rows.ts";
import { claims } from "./0023-claims.ts";
import { handledAlerts } from "./0024-handled-alerts.ts";
import { noticePauses } from "./0025-notice-pauses.ts";
import { mutes } from "./0026-mutes.ts";
import { signIns } from "./0027-sign-ins.ts";
import { passwords } from "./0028-passwords.ts";
import { shares } from "./0029-shares.ts";
import type { Engine, Migration } from "./migration.ts";

/** In order; one that was released is never changed, only followed by another. Its number is its place, from 1. */
const migrations: readonly Migration[] = [
  first,
  tenants,
  alerts,
  commandParts,
  shifts,
  noticePlaces,
  refusedRoom,
  deviceIdentity,
  quotas,
  caps,
  secrets,
  arrival,
  blocks,
  positions,
  ruleZones,
  keptStates,
  sums,
  positionDays,
  shifted,
  blockSums,
  spent,
  packedRows,
  claims,
  handledAlerts,
  noticePauses,
  mutes,
  signIns,
  passwords,
  shares,
];

/** The version of the data that this program writes: the number of the newest migration. */
export const dataVersion = migrations.length;

/** The data was written by a newer version of the program. */
export class StoreTooNew extends Error {
  override readonly name = "StoreTooNew";
}

/** Number of a row of `migration` that a move puts there until it has ended. So no program, of whatever version, takes the data for whole. */
export const movingNumber = 1_000_000_000;

/** The data is what a move has copied so far. */
export class StoreHalfMoved extends Error {
  override readonly name = "StoreHalfMoved";
}

/** Throws where data of this version is nothing for this program: `StoreTooNew`, or `StoreHalfMoved`. */
export function checkNumber(version: number): void {
  if (version === movingNumber)
    throw new StoreHalfMoved("it holds what `waybeam move-store` has copied so far, and that has not ended");
  if (version > dataVersion)
    throw new StoreTooNew(`the data is of version ${version}, a newer program made it, this one knows ${dataVersion}`);
}

/** Brings the tables up to date, in one transaction: of two nodes that start at once, the second finds the work done. */
export async function migrate(database: Kysely<Schema>, engine: Engine): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction.schema
      .createTable("migration")
      .ifNotExists()
      .addColumn("number", "integer", (column) => column.primaryKey())
      .addColumn("name", "text", (column) => column.notNull())
      .execute();
    const done = await highest(transaction);
    checkNumber(done);
    if (done < migrations.length) await engine.prepare(transaction);
    for (const [index, migration] of migrations.entries()) {
      if (index < done) continue;
      await migration.up(transaction, engine);
      await transaction
        .insertInto("migration")
        .values({ number: index + 1, name: migration.name })
        .execute();
    }
  });
}

async function highest(database: Kysely<Schema>): Promise<number> {
  const row = await database
    .selectFrom("migration")
    .select((select) => select.fn.max("number").as("number"))
    .executeTakeFirst();
  return row?.number ?? 0;
}
