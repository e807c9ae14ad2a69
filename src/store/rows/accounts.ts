import type { Kysely } from "kysely";
import type { Account } from "../../model/account.ts";
import type { AccountStore } from "../../ports/store.ts";
import type { AccountRow, Schema } from "../schema.ts";
import { licensesUsed } from "./licenses.ts";

function accountOf(row: AccountRow): Account {
  const { key, name, time_zone, licenses, creation } = row;
  return { key, name, timeZone: time_zone, licenses, creation };
}

/** Accounts and the service's settings. */
export class AccountRows implements AccountStore {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async list(): Promise<readonly Account[]> {
    const rows = await this.#database.selectFrom("account").selectAll().orderBy("key").execute();
    return rows.map(accountOf);
  }

  async find(key: number): Promise<Account | undefined> {
    const row = await this.#database.selectFrom("account").selectAll().where("key", "=", key).executeTakeFirst();
    return row && accountOf(row);
  }

  async create(account: Omit<Account, "key" | "creation">, now: number): Promise<Account> {
    const { name, timeZone, licenses } = account;
    const row = await this.#database
      .insertInto("account")
      .values({ name, time_zone: timeZone, licenses, creation: now })
      .returningAll()
      .executeTakeFirstOrThrow();
    return accountOf(row);
  }

  licensesUsed(accountKey: number, now: number): Promise<number> {
    return licensesUsed(this.#database, accountKey, now);
  }

  async setting(name: string, make: () => string): Promise<string> {
    const known = await this.#setting(name);
    if (known !== undefined) return known;
    await this.#database
      .insertInto("setting")
      .values({ name, value: make() })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
    // Whoever was first has decided.
    return (await this.#setting(name)) ?? "";
  }

  async #setting(name: string): Promise<string | undefined> {
    const row = await this.#database.selectFrom("setting").select("value").where("name", "=", name).executeTakeFirst();
    return row?.value;
  }
}
