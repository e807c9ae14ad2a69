import type { Kysely, Transaction } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { DailyKind, DailyStore } from "../../ports/store.ts";
import type { Schema } from "../schema.ts";
import { dayBefore } from "./days.ts";

/** Counters of what is sent from devices: one row for a device and day. */
export class DailyRows implements DailyStore {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  take(device: DeviceKey, day: string, kind: DailyKind, limit: number, count = 1): Promise<boolean> {
    return this.#database
      .transaction()
      .execute((transaction) => takePlace(transaction, device, day, kind, limit, count));
  }

  giveBack(device: DeviceKey, day: string, kind: DailyKind, count = 1): Promise<void> {
    return giveBackPlace(this.#database, device, day, kind, count);
  }

  async sent(device: DeviceKey, day: string): Promise<{ readonly sms: number; readonly email: number }> {
    const row = await this.#database
      .selectFrom("device_sent")
      .select(["sms", "email"])
      .where("device", "=", device)
      .where("day", "=", day)
      .executeTakeFirst();
    return row ?? { sms: 0, email: 0 };
  }
}

/** Takes places in a day's counter, in a transaction of the caller's. False: the limit is reached, or the device is gone. */
export async function takePlace(
  transaction: Transaction<Schema>,
  device: DeviceKey,
  day: string,
  kind: DailyKind,
  limit: number,
  count = 1,
): Promise<boolean> {
  if (limit < count) return false;
  const first = { sms: 0, email: 0, [kind]: count };
  const [taken] = await transaction
    .insertInto("device_sent")
    .columns(["device", "day", "sms", "email"])
    // Of the device's own row, so that nothing is counted for one that is gone.
    .expression((select) =>
      select
        .selectFrom("device")
        .select(({ val }) => [
          "key as device",
          val(day).as("day"),
          val(first.sms).as("sms"),
          val(first.email).as("email"),
        ])
        .where("key", "=", device),
    )
    .onConflict((conflict) =>
      conflict
        .columns(["device", "day"])
        .doUpdateSet((set) => ({ [kind]: set(`device_sent.${kind}`, "+", count) }))
        .where(`device_sent.${kind}`, "<=", limit - count),
    )
    .execute();
  if (taken?.numInsertedOrUpdatedRows !== 1n) return false;
  // Only the present day limits anything; yesterday's stays for a sending that is given back, and for an account that changes its time zone.
  await transaction.deleteFrom("device_sent").where("device", "=", device).where("day", "<", dayBefore(day)).execute();
  return true;
}

/** Gives back places that were taken. */
export async function giveBackPlace(
  database: Kysely<Schema>,
  device: DeviceKey,
  day: string,
  kind: DailyKind,
  count = 1,
): Promise<void> {
  await database
    .updateTable("device_sent")
    .set((set) => ({ [kind]: set(kind, "-", count) }))
    .where("device", "=", device)
    .where("day", "=", day)
    .where(kind, ">=", count)
    .execute();
}
