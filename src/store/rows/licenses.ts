import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";

/** Devices of an account that have not expired. */
export async function licensesUsed(database: Kysely<Schema>, accountKey: number, now: number): Promise<number> {
  const row = await database
    .selectFrom("device")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("account", "=", accountKey)
    .where((where) => where.or([where("expires", "is", null), where("expires", ">", now)]))
    .executeTakeFirstOrThrow();
  return Number(row.count);
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
