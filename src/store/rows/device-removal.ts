import type { Kysely } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { Schema } from "../schema.ts";

/**
 * Told of removals, so that the engine deletes the rest, which may be much: records, commands, alerts, notices, refused
 * reports.
 */
export interface Removals {
  /** The removal is on disk. */
  add(device: DeviceKey): void;
  /** It was not answered: it may be on disk, or may come to be. */
  doubt(device: DeviceKey): void;
}

/** Removes a device, but for what the engine deletes. Resolves with false if it is not there. */
export function removeDevice(database: Kysely<Schema>, key: DeviceKey): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    // Waits for transactions that are writing something of the device, so that it is deleted below.
    await transaction.selectFrom("device").select("key").where("key", "=", key).forUpdate().execute();
    await transaction.deleteFrom("device_identifier").where("device", "=", key).execute();
    const [deleted] = await transaction.deleteFrom("device").where("key", "=", key).execute();
    if (deleted === undefined || deleted.numDeletedRows === 0n) return false;
    await transaction.deleteFrom("device_head").where("device", "=", key).execute();
    await transaction.deleteFrom("refused_room").where("device", "=", key).execute();
    await transaction.deleteFrom("device_results").where("device", "=", key).execute();
    await transaction.deleteFrom("device_sent").where("device", "=", key).execute();
    await transaction.deleteFrom("mute").where("device", "=", key).execute();
    await transaction.deleteFrom("share").where("device", "=", key).execute();
    await transaction.insertInto("purge").values({ device: key }).execute();
    return true;
  });
}
