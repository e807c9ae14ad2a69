import type { Transaction } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { Schema } from "../schema.ts";

/*
 * Several transactions may run at once. One that decides by what it reads first locks the row that stands for it, until
 * it ends. One that locks several rows does so in this order: the service, a device, an account. An engine that runs
 * one transaction at a time leaves the locks out.
 */

/**
 * Locks the whole service. The row of the first migration stands for it: that row is always there, and nothing changes
 * it.
 */
export async function lockService(transaction: Transaction<Schema>): Promise<void> {
  await transaction.selectFrom("migration").select("number").where("number", "=", 1).forUpdate().execute();
}

/** Locks an account. */
export async function lockAccount(transaction: Transaction<Schema>, account: number): Promise<void> {
  await transaction.selectFrom("account").select("key").where("key", "=", account).forNoKeyUpdate().execute();
}

/** Locks a device, so that it is not removed meanwhile either. Returns false if it is not there. */
export async function lockDevice(transaction: Transaction<Schema>, device: DeviceKey): Promise<boolean> {
  const row = transaction.selectFrom("device").select("key").where("key", "=", device).forNoKeyUpdate();
  return (await row.executeTakeFirst()) !== undefined;
}
