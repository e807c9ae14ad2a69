import type { Kysely } from "kysely";
import type { Account, User } from "../../model/account.ts";
import type { Page, PageAsk } from "../../ports/pages.ts";
import type { AccountStore, NewUser } from "../../ports/store.ts";
import type { AccountRow, Schema } from "../schema.ts";
import { secretSettings, settingPlace } from "../secrets/sealed-rows.ts";
import type { Vault } from "../secrets/vault.ts";
import { licensesUsed, licensesUsedByAccount } from "./licenses.ts";
import { isEmailTaken, rowOf, userOf } from "./users.ts";

type NewAccount = Omit<Account, "key" | "creation">;

function accountOf(row: AccountRow): Account {
  const { key, id, name, time_zone, licenses, language, creation } = row;
  return { key, id, name, timeZone: time_zone, licenses, language, creation };
}

/** Accounts and the service's settings. */
export class AccountRows implements AccountStore {
  readonly #database: Kysely<Schema>;
  readonly #vault: Vault;

  constructor(database: Kysely<Schema>, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  async list(): Promise<readonly Account[]> {
    const rows = await this.#database.selectFrom("account").selectAll().orderBy("key").execute();
    return rows.map(accountOf);
  }

  async page({ after = 0, limit }: Pick<PageAsk, "after" | "limit">): Promise<Page<Account>> {
    const rows = await this.#database
      .selectFrom("account")
      .selectAll()
      .where("key", ">", after)
      .orderBy("key")
      .limit(limit + 1)
      .execute();
    return { rows: rows.slice(0, limit).map(accountOf), more: rows.length > limit };
  }

  async find(key: number): Promise<Account | undefined> {
    const row = await this.#database.selectFrom("account").selectAll().where("key", "=", key).executeTakeFirst();
    return row && accountOf(row);
  }

  async findById(id: string): Promise<Account | undefined> {
    const row = await this.#database.selectFrom("account").selectAll().where("id", "=", id).executeTakeFirst();
    return row && accountOf(row);
  }

  create(account: NewAccount, now: number): Promise<Account> {
    return insertAccount(this.#database, account, now);
  }

  createWithOwner(
    account: NewAccount,
    owner: Omit<NewUser, "accountKey" | "owner">,
    now: number,
  ): Promise<{ readonly account: Account; readonly owner: User } | "emailInUse"> {
    return this.#database.transaction().execute(async (transaction) => {
      if (await isEmailTaken(transaction, owner.email)) return "emailInUse";
      const made = await insertAccount(transaction, account, now);
      const row = await transaction
        .insertInto("user")
        .values(rowOf({ ...owner, accountKey: made.key, owner: true }, now))
        .returningAll()
        .executeTakeFirstOrThrow();
      return { account: made, owner: userOf(row) };
    });
  }

  async replace(
    key: number,
    { name, timeZone, licenses, language }: Omit<Account, "key" | "id" | "creation">,
  ): Promise<Account | undefined> {
    const row = await this.#database
      .updateTable("account")
      .set({ name, time_zone: timeZone, licenses, language })
      .where("key", "=", key)
      .returningAll()
      .executeTakeFirst();
    return row && accountOf(row);
  }

  licensesUsed(accountKey: number, now: number): Promise<number> {
    return licensesUsed(this.#database, accountKey, now);
  }

  licensesUsedByAccount(now: number): Promise<ReadonlyMap<number, number>> {
    return licensesUsedByAccount(this.#database, now);
  }

  async setting(name: string, make: () => string): Promise<string> {
    const known = await this.findSetting(name);
    if (known !== undefined) return known;
    await this.#database
      .insertInto("setting")
      .values({ name, value: secretSettings.has(name) ? this.#vault.seal(make(), settingPlace(name)) : make() })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
    // Whoever was first has decided.
    return (await this.findSetting(name)) ?? "";
  }

  async findSetting(name: string): Promise<string | undefined> {
    const row = await this.#database.selectFrom("setting").select("value").where("name", "=", name).executeTakeFirst();
    if (row === undefined || !secretSettings.has(name)) return row?.value;
    return this.#vault.open(row.value, settingPlace(name));
  }
}

async function insertAccount(database: Kysely<Schema>, account: NewAccount, now: number): Promise<Account> {
  const { id, name, timeZone, licenses, language } = account;
  const row = await database
    .insertInto("account")
    .values({ id, name, time_zone: timeZone, licenses, language, creation: now })
    .returningAll()
    .executeTakeFirstOrThrow();
  return accountOf(row);
}
