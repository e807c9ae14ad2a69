import type { ExpressionBuilder, Kysely, Transaction } from "kysely";
import type { Device, DeviceFields, DeviceKey, SpokenWay } from "../../model/device.ts";
import { mostPositionDays } from "../../model/position-days.ts";
import type { Page, PageAsk } from "../../ports/pages.ts";
import {
  type ChangedId,
  type DeviceRefusal,
  type DeviceStore,
  type MostIdentifiers,
  type NamedDevice,
  type RetainedDevice,
  StoreUnavailable,
} from "../../ports/store.ts";
import type { DeviceRow, Schema } from "../schema.ts";
import { checkAsRead } from "./as-read.ts";
import { columnsOf, deviceOf, noWays } from "./device-columns.ts";
import { renameInAccount } from "./device-id-change.ts";
import { type Removals, removeDevice } from "./device-removal.ts";
import { Identification } from "./identification.ts";
import { stringList, written } from "./json-columns.ts";
import { hasFreeLicense } from "./licenses.ts";
import { lockAccount } from "./locks.ts";
import { allPages, bytesOf, existingIds, fitting } from "./pages.ts";

/** Devices whose names one question asks for. */
const namedAtOnce = 500;

/**
 * Ways kept of one device: far above what any speaks; a stranger could invent no more than there are protocols and
 * transports.
 */
const mostWays = 256;

/** The ways with this one, in the place that it had. */
function withWay(ways: readonly SpokenWay[], way: SpokenWay): readonly SpokenWay[] {
  const at = ways.findIndex(({ protocol, transport }) => protocol === way.protocol && transport === way.transport);
  return at < 0 ? [...ways, way].slice(0, mostWays) : ways.with(at, way);
}

function identifiersOf(fields: DeviceFields): readonly string[] {
  return [...new Set([fields.id, ...fields.aliases])];
}

function isExpired(expires: number | null, now: number): boolean {
  return expires !== null && expires <= now;
}

function isActive(now: number) {
  return ({ eb, or }: ExpressionBuilder<Schema, "device">) => or([eb("expires", "is", null), eb("expires", ">", now)]);
}

/** Registered devices. */
export class DeviceRows implements DeviceStore {
  readonly #database: Kysely<Schema>;
  readonly #removals: Removals;
  readonly #identification: Identification;

  constructor(database: Kysely<Schema>, removals: Removals) {
    this.#database = database;
    this.#identification = new Identification(database);
    this.#removals = removals;
  }

  create(
    accountKey: number,
    fields: DeviceFields,
    now: number,
    most?: MostIdentifiers,
  ): Promise<Device | DeviceRefusal> {
    return this.#database.transaction().execute(async (transaction) => {
      await lockAccount(transaction, accountKey);
      if (await isTaken(transaction, identifiersOf(fields))) return "exists";
      if (!(await hasFreeLicense(transaction, accountKey, now))) return "noLicense";
      const added = identifiersOf(fields).length;
      if (most !== undefined && !(await mayHold(transaction, accountKey, added, most))) return "identifiers";
      const row = await transaction
        .insertInto("device")
        .values({ ...columnsOf(fields), account: accountKey, creation: now, modification: now })
        .returningAll()
        .executeTakeFirstOrThrow();
      await insertIdentifiers(transaction, row.key, fields);
      return deviceOf(row);
    });
  }

  async find(id: string): Promise<Device | undefined> {
    const row = await this.#database.selectFrom("device").selectAll().where("id", "=", id).executeTakeFirst();
    return row && deviceOf(row);
  }

  async findByKey(key: DeviceKey): Promise<Device | undefined> {
    const row = await this.#database.selectFrom("device").selectAll().where("key", "=", key).executeTakeFirst();
    return row && deviceOf(row);
  }

  async nextExpiry(now: number): Promise<number | undefined> {
    const row = await this.#database
      .selectFrom("device")
      .select((select) => select.fn.min("expires").as("expires"))
      .where("expires", ">", now)
      .executeTakeFirst();
    return row?.expires ?? undefined;
  }

  async expiredBetween(since: number, until: number): Promise<readonly Device[]> {
    const rows = await allPages<DeviceRow>((last, limit) =>
      this.#database
        .selectFrom("device")
        .selectAll()
        .where(({ eb, refTuple, tuple }) =>
          eb(refTuple("expires", "key"), ">", tuple(last?.expires ?? since, last?.key ?? Number.MAX_SAFE_INTEGER)),
        )
        .where("expires", "<=", until)
        .orderBy("expires")
        .orderBy("key")
        .limit(limit)
        .execute(),
    );
    return rows.map(deviceOf);
  }

  async identify(ids: readonly string[]): Promise<Device | undefined> {
    const row = ids.length === 0 ? undefined : await this.#identification.find(ids);
    return row && deviceOf(row);
  }

  async list(accountKey: number): Promise<readonly Device[]> {
    const rows = await allPages<DeviceRow>((last, limit) =>
      this.#database
        .selectFrom("device")
        .selectAll()
        .where("account", "=", accountKey)
        .where("id", ">", last?.id ?? "")
        .orderBy("id")
        .limit(limit)
        .execute(),
    );
    return rows.map(deviceOf);
  }

  async page(accountKey: number, now: number, ask: PageAsk<string>): Promise<Page<Device>> {
    const { after = "", limit, bytes } = ask;
    const active = this.#database
      .selectFrom("device")
      .where("account", "=", accountKey)
      .where("id", ">", after)
      .where(isActive(now))
      .orderBy("id")
      .limit(limit + 1);
    const sizes = await active.select(["id", bytesOf("tags", "description", "aliases").as("bytes")]).execute();
    const count = fitting(sizes, limit, bytes);
    const rows = await active
      .selectAll()
      .where("id", "<=", sizes[count - 1]?.id ?? "")
      .execute();
    return { rows: rows.map(deviceOf), more: count < sizes.length };
  }

  async some(accountKey: number, ids: readonly string[], now: number): Promise<readonly Device[]> {
    const rows = await this.#database
      .selectFrom("device")
      .selectAll()
      .where("account", "=", accountKey)
      .where("id", "in", ids)
      .where(isActive(now))
      .orderBy("id")
      .execute();
    return rows.map(deviceOf);
  }

  existing(accountKey: number, ids: readonly string[]): Promise<ReadonlySet<string>> {
    return existingIds(ids, (some) =>
      this.#database
        .selectFrom("device")
        .select("id")
        .where("account", "=", accountKey)
        .where("id", "in", some)
        .execute(),
    );
  }

  async named(keys: readonly DeviceKey[]): Promise<readonly NamedDevice[]> {
    const named: NamedDevice[] = [];
    for (let at = 0; at < keys.length; at += namedAtOnce) {
      const some = keys.slice(at, at + namedAtOnce);
      const rows = this.#database.selectFrom("device").select(["key", "id", "name"]).where("key", "in", some);
      named.push(...(await rows.execute()));
    }
    return named;
  }

  replace(
    key: DeviceKey,
    fields: DeviceFields,
    now: number,
    most?: MostIdentifiers,
    read?: Device,
  ): Promise<Device | DeviceRefusal | "missing"> {
    return this.#database.transaction().execute(async (transaction) => {
      const replaced = await replaceIn(transaction, { key, fields, now, most, read });
      return typeof replaced === "string" ? replaced : replaced.device;
    });
  }

  changeId(
    key: DeviceKey,
    fields: DeviceFields,
    now: number,
    most?: MostIdentifiers,
    read?: Device,
  ): Promise<ChangedId | DeviceRefusal | "missing"> {
    return this.#database.transaction().execute(async (transaction) => {
      const replaced = await replaceIn(transaction, { key, fields, now, most, read });
      if (typeof replaced === "string") return replaced;
      const { before, device } = replaced;
      const spoken = JSON.stringify(noWays);
      await transaction.updateTable("device").set({ spoken }).where("key", "=", key).execute();
      const change = { account: device.accountKey, from: before.id, to: device.id };
      const users = await renameInAccount(transaction, change, now);
      return { device: { ...device, spoken: noWays }, users };
    });
  }

  async identifiersUsed(accountKey: number): Promise<number> {
    const row = await this.#database
      .selectFrom("account_use")
      .select("identifiers")
      .where("account", "=", accountKey)
      .executeTakeFirst();
    return Number(row?.identifiers ?? 0);
  }

  async retained(after: DeviceKey, limit: number): Promise<readonly RetainedDevice[]> {
    const rows = await withDays(this.#database)
      .where("device.key", ">", after)
      .orderBy("device.key")
      .limit(limit)
      .execute();
    return rows.flatMap(({ key, days }) => (days === null ? [] : [{ key, days }]));
  }

  async daysOf(device: DeviceKey): Promise<number | undefined> {
    const row = await withDays(this.#database).where("device.key", "=", device).executeTakeFirst();
    return row?.days ?? undefined;
  }

  async withoutOwnDays(accountKey: number, after: DeviceKey, limit: number): Promise<readonly DeviceKey[]> {
    const rows = await this.#database
      .selectFrom("device")
      .select("key")
      .where("account", "=", accountKey)
      .where("key", ">", after)
      .where("position_days", "is", null)
      .orderBy("key")
      .limit(limit)
      .execute();
    return rows.map(({ key }) => key);
  }

  spoke(ways: readonly { readonly device: DeviceKey; readonly way: SpokenWay }[]): Promise<void> {
    return this.#database.transaction().execute(async (transaction) => {
      // Sorted, so that two such transactions never wait for each other.
      for (const { device, way } of ways.toSorted((one, other) => one.device - other.device)) {
        const row = await transaction
          .selectFrom("device")
          .select("spoken")
          .where("key", "=", device)
          .forNoKeyUpdate()
          .executeTakeFirst();
        if (row === undefined) continue;
        const spoken = JSON.stringify(withWay(written<readonly SpokenWay[]>(row.spoken), way));
        await transaction.updateTable("device").set({ spoken }).where("key", "=", device).execute();
      }
    });
  }

  async remove(key: DeviceKey): Promise<boolean> {
    try {
      const removed = await removeDevice(this.#database, key);
      if (removed) this.#removals.add(key);
      return removed;
    } catch (error) {
      if (error instanceof StoreUnavailable && error.mayBeDone) this.#removals.doubt(key);
      throw error;
    }
  }
}

/** A change of a device: see `DeviceStore.replace`. */
interface Replacement {
  readonly key: DeviceKey;
  readonly fields: DeviceFields;
  readonly now: number;
  readonly most: MostIdentifiers | undefined;
  readonly read: Device | undefined;
}

async function replaceIn(
  transaction: Transaction<Schema>,
  { key, fields, now, most, read }: Replacement,
): Promise<{ readonly before: DeviceRow; readonly device: Device } | DeviceRefusal | "missing"> {
  const stored = transaction.selectFrom("device").selectAll().where("key", "=", key).forNoKeyUpdate();
  const before = await stored.executeTakeFirst();
  if (before === undefined) return "missing";
  // Trackers change the ways.
  checkAsRead({ ...deviceOf(before), spoken: noWays }, read && { ...read, spoken: noWays });
  await lockAccount(transaction, before.account);
  if (await isTaken(transaction, identifiersOf(fields), key)) return "exists";
  const reactivated = isExpired(before.expires, now) && !isExpired(fields.expires, now);
  const added = identifiersOf(fields).length - new Set([before.id, ...stringList(before.aliases)]).size;
  if (most !== undefined && added > 0 && !(await mayHold(transaction, before.account, added, most)))
    return "identifiers";
  if (reactivated && !(await hasFreeLicense(transaction, before.account, now))) return "noLicense";
  const row = await transaction
    .updateTable("device")
    .set({ ...columnsOf(fields), modification: now })
    .where("key", "=", key)
    .returningAll()
    .executeTakeFirstOrThrow();
  await transaction.deleteFrom("device_identifier").where("device", "=", key).execute();
  await insertIdentifiers(transaction, key, fields);
  return { before, device: deviceOf(row) };
}

/** Whether an account may hold this many more identifiers. */
async function mayHold(
  transaction: Transaction<Schema>,
  accountKey: number,
  added: number,
  { perLicense, least }: MostIdentifiers,
): Promise<boolean> {
  const account = await transaction
    .selectFrom("account")
    .innerJoin("account_use", "account_use.account", "account.key")
    .select(["licenses", "identifiers"])
    .where("key", "=", accountKey)
    .executeTakeFirst();
  if (account === undefined) return false;
  const most = Math.max(least, account.licenses * perLicense);
  return account.identifiers + added <= most;
}

async function isTaken(
  transaction: Transaction<Schema>,
  identifiers: readonly string[],
  except?: DeviceKey,
): Promise<boolean> {
  const rows = await transaction
    .selectFrom("device_identifier")
    .select("device")
    .where("identifier", "in", identifiers)
    .execute();
  return rows.some(({ device }) => device !== except);
}

async function insertIdentifiers(
  transaction: Transaction<Schema>,
  device: DeviceKey,
  fields: DeviceFields,
): Promise<void> {
  const rows = identifiersOf(fields).map((identifier) => ({ identifier, device }));
  await transaction.insertInto("device_identifier").values(rows).execute();
}

/** Devices, each with the days that its positions are kept. */
function withDays(database: Kysely<Schema>) {
  const daysOf = ({ fn }: ExpressionBuilder<Pick<Schema, "device" | "account">, "device" | "account">) =>
    fn.coalesce("device.position_days", "account.position_days");
  return (
    database
      .selectFrom("device")
      .innerJoin("account", "account.key", "device.account")
      .select((eb) => ["device.key", daysOf(eb).as("days")])
      // See `storedDays`.
      .where((eb) => eb.between(daysOf(eb), 1, mostPositionDays))
  );
}
