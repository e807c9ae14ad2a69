import type { Kysely, Transaction } from "kysely";
import type { User } from "../../model/account.ts";
import type { DeviceKey } from "../../model/device.ts";
import type { Page, PageAsk } from "../../ports/pages.ts";
import type { NewUser, ResultsDelta, Usage, UsageDelta, UserFields, UserStore } from "../../ports/store.ts";
import type { NewUserRow, Schema, UserRow } from "../schema.ts";
import { checkAsRead } from "./as-read.ts";
import { dayBefore } from "./days.ts";
import { optionalList, stringMap } from "./json-columns.ts";
import { allByKey, bytesOf, pageByKey } from "./pages.ts";

/** Stands before every day in the order of texts: the sum of the days that were put together. */
const allBefore = "";

/** A user of its row. */
export function userOf(row: UserRow): User {
  return {
    key: row.key,
    id: row.id,
    accountKey: row.account,
    owner: row.owner !== 0,
    name: row.name,
    email: row.email,
    country: row.country,
    timeZone: row.time_zone,
    description: row.description,
    message: row.message,
    disabled: row.disabled !== 0,
    disabledMessage: row.disabled_message,
    tags: stringMap(row.tags),
    privileges: optionalList(row.privileges),
    group: row.group_name,
    deviceId: row.device_id,
    adminDevices: row.admin_devices,
    from: row.valid_from,
    expires: row.expires,
    passwordHash: row.password_hash,
    passwordSignsIn: row.password_signs_in === 1,
    apiKeyHash: row.api_key_hash,
    apiKeyId: row.api_key_id,
    creation: row.creation,
    modification: row.modification,
    lastLogin: row.last_login,
  };
}

function columnsOf(user: Omit<UserFields, "passwordHash" | "passwordSignsIn">) {
  return {
    name: user.name,
    email: user.email,
    email_lower: user.email.toLowerCase(),
    country: user.country,
    time_zone: user.timeZone,
    description: user.description,
    message: user.message,
    disabled: user.disabled ? 1 : 0,
    disabled_message: user.disabledMessage,
    tags: JSON.stringify(user.tags),
    privileges: JSON.stringify(user.privileges),
    group_name: user.group,
    device_id: user.deviceId,
    admin_devices: user.adminDevices,
    valid_from: user.from,
    expires: user.expires,
  };
}

/** The row of a new user. */
export function rowOf(user: NewUser, now: number): NewUserRow {
  return {
    ...columnsOf(user),
    id: user.id,
    account: user.accountKey,
    owner: user.owner ? 1 : 0,
    password_hash: user.passwordHash,
    password_signs_in: user.passwordSignsIn === true ? 1 : 0,
    api_key_hash: user.apiKeyHash,
    api_key_id: user.apiKeyId,
    creation: now,
    modification: now,
    last_login: null,
  };
}

/** Whether an address is a user's, service-wide, other than the one of `except`. */
export async function isEmailTaken(database: Kysely<Schema>, email: string, except?: number): Promise<boolean> {
  const row = await database
    .selectFrom("user")
    .select("key")
    .where("email_lower", "=", email.toLowerCase())
    .executeTakeFirst();
  return row !== undefined && row.key !== except;
}

/** Locks a user. Returns false if it is not there, and throws `ChangedSince` if it is not as it was read. */
async function isThere(transaction: Transaction<Schema>, key: number, read: User | undefined): Promise<boolean> {
  const stored = transaction.selectFrom("user").selectAll().where("key", "=", key).forNoKeyUpdate();
  const row = await stored.executeTakeFirst();
  // Nothing is judged by the time of the last login.
  if (row !== undefined) checkAsRead({ ...userOf(row), lastLogin: null }, read && { ...read, lastLogin: null });
  return row !== undefined;
}

/** Users and the counters of what they ask for. */
export class UserRows implements UserStore {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async create(user: NewUser, now: number): Promise<User | "emailInUse"> {
    const row = await this.#database
      .insertInto("user")
      .values(rowOf(user, now))
      .onConflict((conflict) => conflict.column("email_lower").doNothing())
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? "emailInUse" : userOf(row);
  }

  async findByEmail(email: string): Promise<User | undefined> {
    const row = await this.#database
      .selectFrom("user")
      .selectAll()
      .where("email_lower", "=", email.toLowerCase())
      .executeTakeFirst();
    return row && userOf(row);
  }

  async findByKey(key: number): Promise<User | undefined> {
    const row = await this.#database.selectFrom("user").selectAll().where("key", "=", key).executeTakeFirst();
    return row && userOf(row);
  }

  async findOwner(accountKey: number): Promise<User | undefined> {
    const own = this.#database.selectFrom("user").selectAll().where("account", "=", accountKey).where("owner", "=", 1);
    const row = await own.orderBy("key").limit(1).executeTakeFirst();
    return row && userOf(row);
  }

  async find(id: string): Promise<User | undefined> {
    const row = await this.#database.selectFrom("user").selectAll().where("id", "=", id).executeTakeFirst();
    return row && userOf(row);
  }

  async list(accountKey: number): Promise<readonly User[]> {
    const own = this.#database.selectFrom("user").selectAll().where("account", "=", accountKey);
    return (await allByKey(own)).map(userOf);
  }

  async page(accountKey: number, ask: PageAsk): Promise<Page<User>> {
    const sizes = this.#database
      .selectFrom("user")
      .select(["key", bytesOf("tags", "privileges", "description", "message", "disabled_message").as("bytes")])
      .where("account", "=", accountKey);
    const rows = this.#database.selectFrom("user").selectAll().where("account", "=", accountKey);
    const page = await pageByKey(sizes, rows, ask);
    return { rows: page.rows.map(userOf), more: page.more };
  }

  replace(key: number, fields: UserFields, now: number, read?: User): Promise<User | "emailInUse" | "missing"> {
    const { passwordHash, passwordSignsIn = false } = fields;
    return this.#database.transaction().execute(async (transaction) => {
      if (!(await isThere(transaction, key, read))) return "missing";
      if (await isEmailTaken(transaction, fields.email, key)) return "emailInUse";
      const row = await transaction
        .updateTable("user")
        .set({
          ...columnsOf(fields),
          ...(passwordHash !== undefined && {
            ...{ password_hash: passwordHash, password_signs_in: passwordSignsIn ? 1 : 0 },
          }),
          modification: now,
        })
        .where("key", "=", key)
        .returningAll()
        .executeTakeFirstOrThrow();
      return userOf(row);
    });
  }

  remove(key: number): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      // First, because it waits for transactions that are counting for the user, so that their counts are deleted
      // below.
      const [deleted] = await transaction.deleteFrom("user").where("key", "=", key).execute();
      // One row for each day that the user asked for something.
      for (const table of ["user_usage", "sign_in", "second_factor", "share"] as const)
        await transaction.deleteFrom(table).where("user", "=", key).execute();
      return deleted !== undefined && deleted.numDeletedRows > 0n;
    });
  }

  async setApiKey(
    key: number,
    apiKey: { readonly id: string; readonly hash: string } | null,
    now: number,
    read?: User,
  ): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      if (!(await isThere(transaction, key, read))) return;
      await transaction
        .updateTable("user")
        .set({ api_key_id: apiKey?.id ?? null, api_key_hash: apiKey?.hash ?? null, modification: now })
        .where("key", "=", key)
        .execute();
    });
  }

  setPassword(key: number, passwordHash: string, now: number, read?: User): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      if (!(await isThere(transaction, key, read))) return false;
      const password = { password_hash: passwordHash, password_signs_in: 1 };
      const changed = transaction.updateTable("user").set({ ...password, modification: now });
      await changed.where("key", "=", key).execute();
      return true;
    });
  }

  async setLastLogin(key: number, now: number): Promise<void> {
    await this.#database.updateTable("user").set({ last_login: now }).where("key", "=", key).execute();
  }

  async addUsage(users: readonly UsageDelta[], devices: readonly ResultsDelta[]): Promise<void> {
    if (users.length === 0 && devices.length === 0) return;
    await this.#database.transaction().execute(async (transaction) => {
      // Of the user's and the device's own rows, so that nothing is kept of one that is gone. In one order, so that two
      // who do so never wait for each other.
      for (const { userKey, day, requests } of users.toSorted((one, other) => one.userKey - other.userKey))
        await transaction
          .insertInto("user_usage")
          .columns(["user", "day", "requests"])
          .expression((select) =>
            select
              .selectFrom("user")
              .select(({ val }) => ["key as user", val(day).as("day"), val(requests).as("requests")])
              .where("key", "=", userKey)
              .forKeyShare(),
          )
          .onConflict((conflict) =>
            conflict.columns(["user", "day"]).doUpdateSet((set) => ({
              requests: set("user_usage.requests", "+", set.ref("excluded.requests")),
            })),
          )
          .execute();
      for (const { device, day, results } of devices.toSorted((one, other) => one.device - other.device)) {
        await transaction
          .insertInto("device_results")
          .columns(["device", "day", "results"])
          .expression((select) =>
            select
              .selectFrom("device")
              .select(({ val }) => ["key as device", val(day).as("day"), val(results).as("results")])
              .where("key", "=", device)
              .forKeyShare(),
          )
          .onConflict((conflict) =>
            conflict.columns(["device", "day"]).doUpdateSet((set) => ({
              results: set("device_results.results", "+", set.ref("excluded.results")),
            })),
          )
          .execute();
        // Only the present day limits anything; yesterday's stays for a node that is late.
        await transaction
          .deleteFrom("device_results")
          .where("device", "=", device)
          .where("day", "<", dayBefore(day))
          .execute();
      }
    });
  }

  async usage(userKey: number, day: string): Promise<Usage> {
    const rows = await this.#database
      .selectFrom("user_usage")
      .select(["day", "requests"])
      .where("user", "=", userKey)
      .execute();
    let total = 0;
    let daily = 0;
    for (const row of rows) {
      total += row.requests;
      if (row.day === day) daily += row.requests;
    }
    return { total, daily };
  }

  foldUsage(before: string, after: number, limit: number): Promise<number | undefined> {
    return this.#database.transaction().execute(async (transaction) => {
      const users = await transaction
        .selectFrom("user")
        .select("key")
        .where("key", ">", after)
        .orderBy("key")
        .limit(limit)
        .forKeyShare()
        .execute();
      for (const { key } of users) {
        const old = transaction.selectFrom("user_usage").where("user", "=", key).where("day", "<", before);
        const { days } = await old.select(({ fn }) => fn.countAll<number>().as("days")).executeTakeFirstOrThrow();
        if (days < 2) continue;
        // Sums exactly the rows that it deletes, whatever others count meanwhile.
        const deleted = transaction.deleteFrom("user_usage").where("user", "=", key).where("day", "<", before);
        const rows = await deleted.returning("requests").execute();
        const requests = rows.reduce((sum, row) => sum + row.requests, 0);
        await transaction
          .insertInto("user_usage")
          .values({ user: key, day: allBefore, requests })
          .onConflict((conflict) =>
            conflict.columns(["user", "day"]).doUpdateSet((set) => ({
              requests: set("user_usage.requests", "+", set.ref("excluded.requests")),
            })),
          )
          .execute();
      }
      return users.length < limit ? undefined : users.at(-1)?.key;
    });
  }

  async results(device: DeviceKey, day: string): Promise<number> {
    const row = await this.#database
      .selectFrom("device_results")
      .select("results")
      .where("device", "=", device)
      .where("day", "=", day)
      .executeTakeFirst();
    return row?.results ?? 0;
  }
}
