import type { Kysely } from "kysely";
import type { Account, User } from "../../model/account.ts";
import { type AccountCaps, unsetCaps } from "../../model/caps.ts";
import { storedDays } from "../../model/position-days.ts";
import type { Quotas } from "../../model/quotas.ts";
import type { Page, PageAsk } from "../../ports/pages.ts";
import type {
  AccountFields,
  AccountQuotas,
  AccountStore,
  NewAccount,
  NewUser,
  ReadAccount,
} from "../../ports/store.ts";
import type { AccountRow, Schema } from "../schema.ts";
import { secretSettings, settingPlace } from "../secrets/sealed-rows.ts";
import type { Vault } from "../secrets/vault.ts";
import { checkAsRead } from "./as-read.ts";
import { licensesUsed, licensesUsedByAccount } from "./licenses.ts";
import { readQuotas, writeQuotas } from "./quotas.ts";
import { isEmailTaken, rowOf, userOf } from "./users.ts";

function accountOf(row: AccountRow): Account {
  const { key, id, name, time_zone, licenses, language, creation } = row;
  return {
    key,
    id,
    name,
    timeZone: time_zone,
    licenses,
    language,
    creation,
    caps: capsOf(row),
    positionDays: storedDays(row.position_days),
  };
}

function capsOf(row: AccountRow): AccountCaps {
  return {
    dailyEmails: row.daily_emails,
    dailySms: row.daily_sms,
    deviceDailyEmails: row.device_daily_emails,
    deviceDailySms: row.device_daily_sms,
    unconfirmedRecipients: row.unconfirmed_recipients === null ? null : row.unconfirmed_recipients !== 0,
  };
}

function capColumns(caps: AccountCaps) {
  const { dailyEmails, dailySms, deviceDailyEmails, deviceDailySms, unconfirmedRecipients } = caps;
  return {
    daily_emails: dailyEmails,
    daily_sms: dailySms,
    device_daily_emails: deviceDailyEmails,
    device_daily_sms: deviceDailySms,
    unconfirmed_recipients: unconfirmedRecipients === null ? null : Number(unconfirmedRecipients),
  };
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

  replace(
    key: number,
    { name, timeZone, licenses, language, caps, positionDays, quotas }: AccountFields,
    read?: ReadAccount,
  ): Promise<Account | undefined> {
    return this.#database.transaction().execute(async (transaction) => {
      const stored = transaction.selectFrom("account").selectAll().where("key", "=", key).forNoKeyUpdate();
      const before = await stored.executeTakeFirst();
      if (before === undefined) return undefined;
      checkAsRead(accountOf(before), read?.account);
      if (read !== undefined) checkAsRead((await readQuotas(transaction, key)).own, read.quotas);
      if (quotas !== undefined) await writeQuotas(transaction, key, quotas);
      const row = await transaction
        .updateTable("account")
        .set({
          ...{ name, time_zone: timeZone, licenses, language },
          ...(caps && capColumns(caps)),
          ...(positionDays !== undefined && { position_days: positionDays }),
        })
        .where("key", "=", key)
        .returningAll()
        .executeTakeFirst();
      return row && accountOf(row);
    });
  }

  licensesUsed(accountKey: number, now: number): Promise<number> {
    return licensesUsed(this.#database, accountKey, now);
  }

  licensesUsedByAccount(now: number): Promise<ReadonlyMap<number, number>> {
    return licensesUsedByAccount(this.#database, now);
  }

  setUsualQuotas(quotas: Quotas): Promise<void> {
    return writeQuotas(this.#database, undefined, quotas);
  }

  quotas(accountKey: number): Promise<AccountQuotas> {
    return readQuotas(this.#database, accountKey);
  }

  async setting(name: string, make: () => string): Promise<string> {
    const known = await this.findSetting(name);
    if (known !== undefined) return known;
    await this.#database
      .insertInto("setting")
      .values({ name, value: secretSettings.has(name) ? this.#vault.seal(make(), settingPlace(name)) : make() })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
    // The first of several callers sets the value.
    return (await this.findSetting(name)) ?? "";
  }

  async findSetting(name: string): Promise<string | undefined> {
    const row = await this.#database.selectFrom("setting").select("value").where("name", "=", name).executeTakeFirst();
    if (row === undefined || !secretSettings.has(name)) return row?.value;
    return this.#vault.open(row.value, settingPlace(name));
  }
}

async function insertAccount(database: Kysely<Schema>, account: NewAccount, now: number): Promise<Account> {
  const { id, name, timeZone, licenses, language, caps = unsetCaps, positionDays = null } = account;
  const own = { id, name, time_zone: timeZone, licenses, language, creation: now, position_days: positionDays };
  const row = await database
    .insertInto("account")
    .values({ ...own, ...capColumns(caps) })
    .returningAll()
    .executeTakeFirstOrThrow();
  return accountOf(row);
}
