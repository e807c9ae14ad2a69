import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";

/** Devices of an account that have not expired: all of them, which are counted, without the few that have. */
export async function licensesUsed(database: Kysely<Schema>, accountKey: number, now: number): Promise<number> {
  const row = await database
    .selectFrom("account_use")
    .select((use) => [
      "devices",
      use
        .selectFrom("device")
        .select((device) => device.fn.countAll<number>().as("count"))
        .where("expires", "<=", now)
        // As an expression, so that the engine takes the index of what expires and not that of all devices.
        .where(sql<number>`+device.account`, "=", accountKey)
        .as("expired"),
    ])
    .where("account", "=", accountKey)
    .executeTakeFirst();
  return Number(row?.devices ?? 0) - Number(row?.expired ?? 0);
}

/** As `licensesUsed`, for every account in one query. Accounts without such devices are left out. */
export async function licensesUsedByAccount(
  database: Kysely<Schema>,
  now: number,
): Promise<ReadonlyMap<number, number>> {
  const rows = await database
    .selectFrom("device")
    .select((select) => ["account", select.fn.countAll<number>().as("count")])
    .where((where) => where.or([where("expires", "is", null), where("expires", ">", now)]))
    .groupBy("account")
    .execute();
  return new Map(rows.map(({ account, count }) => [account, Number(count)]));
}

/** Whether an account has a licence for one more device. */
export async function hasFreeLicense(database: Kysely<Schema>, accountKey: number, now: number): Promise<boolean> {
  const account = await database
    .selectFrom("account")
    .select("licenses")
    .where("key", "=", accountKey)
    .executeTakeFirst();
  return account !== undefined && (await licensesUsed(database, accountKey, now)) < account.licenses;
}
