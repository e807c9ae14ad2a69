import type { Kysely, Transaction } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { DailyKind, DailyLimits, DailySent, DailyStore, DailyTaken } from "../../ports/daily.ts";
import type { Schema } from "../schema.ts";
import { dayBefore } from "./days.ts";

/** Counters of what is sent: one row for a device and day, and one for an account and day. */
export class DailyRows implements DailyStore {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  take(device: DeviceKey, day: string, kind: DailyKind, limits: DailyLimits, count = 1): Promise<DailyTaken> {
    return this.#database
      .transaction()
      .execute((transaction) => takePlace(transaction, device, day, kind, limits, count));
  }

  takeOfAccount(accountKey: number, day: string, kind: DailyKind, limit: number, count = 1): Promise<boolean> {
    return this.#database
      .transaction()
      .execute((transaction) => takeOfAccount(transaction, accountKey, day, kind, limit, count));
  }

  giveBack(device: DeviceKey, day: string, kind: DailyKind, count = 1): Promise<void> {
    return this.#database.transaction().execute((transaction) => giveBackPlace(transaction, device, day, kind, count));
  }

  async sent(device: DeviceKey, day: string): Promise<DailySent> {
    const row = await this.#database
      .selectFrom("device_sent")
      .select(["sms", "email"])
      .where("device", "=", device)
      .where("day", "=", day)
      .executeTakeFirst();
    return row ?? { sms: 0, email: 0 };
  }

  async sentOfAccount(accountKey: number, day: string): Promise<DailySent> {
    const row = await this.#database
      .selectFrom("account_sent")
      .select(["sms", "email"])
      .where("account", "=", accountKey)
      .where("day", "=", day)
      .executeTakeFirst();
    return row ?? { sms: 0, email: 0 };
  }
}

/**
 * Takes places in a day's counters of the device and of its account, in a transaction of the caller's: of both or of
 * none.
 */
export async function takePlace(
  transaction: Transaction<Schema>,
  device: DeviceKey,
  day: string,
  kind: DailyKind,
  limits: DailyLimits,
  count = 1,
): Promise<DailyTaken> {
  if (!(await takeOfDevice(transaction, device, day, kind, limits.device, count))) return "device";
  const accountKey = await accountOf(transaction, device);
  if (accountKey !== undefined && (await takeOfAccount(transaction, accountKey, day, kind, limits.account, count)))
    return "taken";
  await giveBackOfDevice(transaction, device, day, kind, count);
  return "account";
}

async function accountOf(database: Kysely<Schema>, device: DeviceKey): Promise<number | undefined> {
  const row = await database.selectFrom("device").select("account").where("key", "=", device).executeTakeFirst();
  return row?.account;
}

async function takeOfDevice(
  transaction: Transaction<Schema>,
  device: DeviceKey,
  day: string,
  kind: DailyKind,
  limit: number,
  count: number,
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
        .where("key", "=", device)
        .forKeyShare(),
    )
    .onConflict((conflict) =>
      conflict
        .columns(["device", "day"])
        .doUpdateSet((set) => ({ [kind]: set(`device_sent.${kind}`, "+", count) }))
        .where(`device_sent.${kind}`, "<=", limit - count),
    )
    .execute();
  if (taken?.numInsertedOrUpdatedRows !== 1n) return false;
  // Only the present day limits anything; yesterday's stays for a sending that is given back, and for an account that
  // changes its time zone.
  await transaction.deleteFrom("device_sent").where("device", "=", device).where("day", "<", dayBefore(day)).execute();
  return true;
}

/** Takes places of an account alone, in a transaction of the caller's. */
export async function takeOfAccount(
  transaction: Transaction<Schema>,
  account: number,
  day: string,
  kind: DailyKind,
  limit: number,
  count: number,
): Promise<boolean> {
  if (limit < count) return false;
  const [taken] = await transaction
    .insertInto("account_sent")
    .values({ account, day, sms: 0, email: 0, [kind]: count })
    .onConflict((conflict) =>
      conflict
        .columns(["account", "day"])
        .doUpdateSet((set) => ({ [kind]: set(`account_sent.${kind}`, "+", count) }))
        .where(`account_sent.${kind}`, "<=", limit - count),
    )
    .execute();
  if (taken?.numInsertedOrUpdatedRows !== 1n) return false;
  await transaction
    .deleteFrom("account_sent")
    .where("account", "=", account)
    .where("day", "<", dayBefore(day))
    .execute();
  return true;
}

/** Gives back places that were taken. Runs in the caller's transaction. */
export async function giveBackPlace(
  database: Kysely<Schema>,
  device: DeviceKey,
  day: string,
  kind: DailyKind,
  count = 1,
): Promise<void> {
  const account = await accountOf(database, device);
  if (!(await giveBackOfDevice(database, device, day, kind, count)) || account === undefined) return;
  await database
    .updateTable("account_sent")
    .set((set) => ({ [kind]: set(kind, "-", count) }))
    .where("account", "=", account)
    .where("day", "=", day)
    .where(kind, ">=", count)
    .execute();
}

async function giveBackOfDevice(
  database: Kysely<Schema>,
  device: DeviceKey,
  day: string,
  kind: DailyKind,
  count: number,
): Promise<boolean> {
  const [given] = await database
    .updateTable("device_sent")
    .set((set) => ({ [kind]: set(kind, "-", count) }))
    .where("device", "=", device)
    .where("day", "=", day)
    .where(kind, ">=", count)
    .execute();
  return given !== undefined && given.numUpdatedRows > 0n;
}
