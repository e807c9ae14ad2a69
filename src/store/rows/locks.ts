import type { Transaction } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { Schema } from "../schema.ts";

/*
 * Several transactions may run at once. One that judges by what it reads first locks the row that stands for it, until it ends. Whoever locks more than one row does so in this order:
 * the service, a device, an account. An engine whose transaction has the database for itself leaves the locks out.
 */

/** Nobody else who locks the service goes on meanwhile. The first migration stands for it: it is always there, and nothing changes it. */
export async function lockService(transaction: Transaction<Schema>): Promise<void> {
  await transaction.selectFrom("migration").select("number").where("number", "=", 1).forUpdate().execute();
}

/** Nobody else who locks the account goes on meanwhile. */
export async function lockAccount(transaction: Transaction<Schema>, account: number): Promise<void> {
  await transaction.selectFrom("account").select("key").where("key", "=", account).forNoKeyUpdate().execute();
}

/** Nobody else who locks the device goes on meanwhile, and it is not removed. False: it is not there. */
export async function lockDevice(transaction: Transaction<Schema>, device: DeviceKey): Promise<boolean> {
  const row = transaction.selectFrom("device").select("key").where("key", "=", device).forNoKeyUpdate();
  return (await row.executeTakeFirst()) !== undefined;
}
