import { type Kysely, type SqlBool, sql, type Transaction } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { Day, DeviceHead } from "../../model/follow.ts";
import type { TotalsSums } from "../../model/location.ts";
import type { DaysAsk, FollowCommit, FollowStore } from "../../ports/follow.ts";
import type { Log } from "../../ports/log.ts";
import { damaged, storeError } from "../failures.ts";
import { recordsDamage } from "../positions/damage.ts";
import type { Schema } from "../schema.ts";
import type { Vault } from "../secrets/vault.ts";
import { dayBytes, dayColumns, dayOf, headBytes, headOf } from "./follow-codec.ts";
import { foundBy, writeFound } from "./found.ts";
import type { CrowdedNotices } from "./notice-room.ts";
import { partsOf } from "./pages.ts";

/** Devices of one question. */
const devicesAtOnce = 500;
/** Rows of one statement that writes. */
const rowsAtOnce = 50;

const dayMs = 86_400_000;
const mostDay = 1e9;

const sumColumns = ["odometer_mm", "sensor1_ms", "sensor2_ms", "sensor3_ms", "sensor4_ms"] as const;
type SumColumns = Readonly<Record<(typeof sumColumns)[number], number>>;

/** Rejects in a transaction where this process must not follow any longer. It is true until the transaction ends. */
export type Fence = (transaction: Transaction<Schema>) => Promise<void>;

/** What follows from positions is kept with these. */
export interface FollowParts {
  readonly vault: Vault;
  readonly crowded: CrowdedNotices;
  readonly log: Log;
  /** Undefined: one process has the database. */
  readonly fence?: Fence | undefined;
}

/** Heads and days of devices. */
export class FollowRows implements FollowStore {
  readonly #database: Kysely<Schema>;
  readonly #parts: FollowParts;

  constructor(database: Kysely<Schema>, parts: FollowParts) {
    this.#database = database;
    this.#parts = parts;
  }

  async heads(devices: readonly DeviceKey[]): Promise<readonly (DeviceHead | undefined)[]> {
    const found = new Map<DeviceKey, DeviceHead>();
    for (const some of partsOf(devices, devicesAtOnce)) {
      const rows = this.#database.selectFrom("device_head").select(["device", "data"]).where("device", "in", some);
      for (const { device, data } of await rows.execute()) found.set(device, headIn(device, data));
    }
    return devices.map((device) => found.get(device));
  }

  async lateDevices(after: DeviceKey, limit: number): Promise<readonly DeviceKey[]> {
    const rows = this.#database.selectFrom("device_head").select("device").where("device", ">", after);
    // In the words of the index.
    const late = rows.where(sql<SqlBool>`late > 0`).orderBy("device").limit(limit);
    return (await late.execute()).map(({ device }) => device);
  }

  async commit(batch: readonly FollowCommit[]): Promise<void> {
    const { vault, crowded, fence } = this.#parts;
    const sorted = batch.toSorted((one, other) => one.device - other.device);
    const found = await foundBy(sorted, vault);
    const heads = sorted.map(({ device, head }) => ({ device, data: headBytes(device, head), late: head.late.length }));
    const days = sorted.flatMap(({ device, days: own }) => own.map((day) => dayRow(device, day)));
    const made = await this.#database.transaction().execute(async (transaction) => {
      await fence?.(transaction);
      const accounts = await accountsOf(transaction, sorted);
      const isThere = ({ device }: { readonly device: DeviceKey }) => accounts.has(device);
      for (const rows of partsOf(heads.filter(isThere), rowsAtOnce)) await writeHeads(transaction, rows);
      for (const rows of partsOf(days.filter(isThere), rowsAtOnce)) await writeDays(transaction, rows);
      return writeFound(transaction, found, accounts);
    });
    for (const [device, notices] of made) crowded.made(device, notices);
  }

  async days(device: DeviceKey, { from = -mostDay, to = mostDay, order, limit }: DaysAsk): Promise<readonly Day[]> {
    const days: Day[] = [];
    let [first, last] = [from, to];
    while (days.length < limit) {
      const rows = await this.#database
        .selectFrom("device_day")
        .select(["day", "data"])
        .where("device", "=", device)
        .where("day", ">=", first)
        .where("day", "<=", last)
        .orderBy("day", order === "first" ? "asc" : "desc")
        .limit(limit - days.length)
        .execute();
      for (const { day, data } of rows) days.push(...this.#dayIn(device, day, data));
      const end = rows.at(-1);
      if (end === undefined) break;
      if (order === "first") first = end.day + 1;
      else last = end.day - 1;
    }
    return days;
  }

  /** None where it is damaged. */
  #dayIn(device: DeviceKey, day: number, data: Uint8Array): readonly Day[] {
    try {
      return [dayOf(device, day, data)];
    } catch (error) {
      const why = recordsDamage(error);
      if (why === undefined) throw error;
      this.#parts.log.error({ device, day, why }, "what follows from a day's positions is damaged: it is left out");
      return [];
    }
  }

  async sumsBefore(device: DeviceKey, day: number): Promise<TotalsSums> {
    const kept = this.#database.selectFrom("device_day").select(sumColumns).where("device", "=", device);
    const deleted = this.#database.selectFrom("device_head").select(sumColumns).where("device", "=", device);
    // One question, so that days that are being deleted count once.
    const all = this.#database.selectFrom(kept.where("day", "<", day).unionAll(deleted).as("before")).select(summed);
    return sumsOf(await all.executeTakeFirstOrThrow());
  }

  async daysBefore(
    devices: readonly DeviceKey[],
    before: number,
  ): Promise<readonly { readonly records: number; readonly from: number; readonly to: number }[]> {
    const found = new Map<DeviceKey, { readonly records: number; readonly from: number; readonly to: number }>();
    for (const some of partsOf(devices, devicesAtOnce)) {
      const rows = await this.#database
        .selectFrom("device_day")
        .select((select) => ["device", select.fn.min("day").as("first"), select.fn.max("last").as("last")])
        .select((select) => select.fn.sum<number>("records").as("records"))
        .where("device", "in", some)
        .where("day", "<", before)
        .groupBy("device")
        .execute();
      for (const { device, first, last, records } of rows)
        found.set(device, { records: Number(records), from: first * dayMs, to: last });
    }
    return devices.map((device) => found.get(device) ?? { records: 0, from: 0, to: 0 });
  }

  async forgetDays(device: DeviceKey, before: number): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      const head = transaction.selectFrom("device_head").select(sumColumns).where("device", "=", device).forUpdate();
      if ((await head.executeTakeFirst()) === undefined) return;
      const old = transaction.selectFrom("device_day").select(summed).where("device", "=", device);
      const sums = await old.where("day", "<", before).executeTakeFirstOrThrow();
      await transaction
        .updateTable("device_head")
        .set(({ eb }) => ({
          odometer_mm: eb("odometer_mm", "+", Number(sums.odometer_mm)),
          sensor1_ms: eb("sensor1_ms", "+", Number(sums.sensor1_ms)),
          sensor2_ms: eb("sensor2_ms", "+", Number(sums.sensor2_ms)),
          sensor3_ms: eb("sensor3_ms", "+", Number(sums.sensor3_ms)),
          sensor4_ms: eb("sensor4_ms", "+", Number(sums.sensor4_ms)),
        }))
        .where("device", "=", device)
        .execute();
      await transaction.deleteFrom("device_day").where("device", "=", device).where("day", "<", before).execute();
    });
  }
}

function headIn(device: DeviceKey, data: Uint8Array): DeviceHead {
  try {
    return headOf(device, data);
  } catch (error) {
    const why = recordsDamage(error);
    throw why === undefined ? error : storeError(damaged(`the head of device ${device} is damaged: ${why}`));
  }
}

/** Accounts of the devices that are there, which stay there until the transaction ends. */
async function accountsOf(
  transaction: Transaction<Schema>,
  devices: readonly { readonly device: DeviceKey }[],
): Promise<ReadonlyMap<DeviceKey, number>> {
  const accounts = new Map<DeviceKey, number>();
  const keys = devices.map(({ device }) => device);
  for (const some of partsOf(keys, devicesAtOnce)) {
    const rows = transaction.selectFrom("device").select(["key", "account"]).where("key", "in", some).orderBy("key");
    for (const { key, account } of await rows.forKeyShare().execute()) accounts.set(key, account);
  }
  return accounts;
}

async function writeHeads(
  transaction: Transaction<Schema>,
  rows: readonly { readonly device: DeviceKey; readonly data: Uint8Array; readonly late: number }[],
): Promise<void> {
  await transaction
    .insertInto("device_head")
    .values([...rows])
    .onConflict((conflict) =>
      conflict.column("device").doUpdateSet(({ ref }) => ({ data: ref("excluded.data"), late: ref("excluded.late") })),
    )
    .execute();
}

async function writeDays(transaction: Transaction<Schema>, rows: readonly ReturnType<typeof dayRow>[]): Promise<void> {
  await transaction
    .insertInto("device_day")
    .values([...rows])
    .onConflict((conflict) =>
      conflict.columns(["device", "day"]).doUpdateSet(({ ref }) => ({
        odometer_mm: ref("excluded.odometer_mm"),
        sensor1_ms: ref("excluded.sensor1_ms"),
        sensor2_ms: ref("excluded.sensor2_ms"),
        sensor3_ms: ref("excluded.sensor3_ms"),
        sensor4_ms: ref("excluded.sensor4_ms"),
        records: ref("excluded.records"),
        last: ref("excluded.last"),
        data: ref("excluded.data"),
      })),
    )
    .execute();
}

function dayRow(device: DeviceKey, day: Day) {
  return { device, day: day.day, ...dayColumns(day), data: dayBytes(device, day) };
}

function summed() {
  return sumColumns.map((column) => sql<number>`coalesce(sum(${sql.ref(column)}), 0)`.as(column));
}

function sumsOf({ odometer_mm, sensor1_ms, sensor2_ms, sensor3_ms, sensor4_ms }: SumColumns): TotalsSums {
  const sensorMs = [Number(sensor1_ms), Number(sensor2_ms), Number(sensor3_ms), Number(sensor4_ms)] as const;
  return { odometerMm: Number(odometer_mm), sensorMs };
}
