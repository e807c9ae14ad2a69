import type { Kysely, Transaction } from "kysely";
import type { OutsideRecipient } from "../../model/recipient.ts";
import type { Page, PageAsk } from "../../ports/pages.ts";
import type { Asked, CodeLimits, NewCode, RecipientName, RecipientStore } from "../../ports/recipients.ts";
import type { RecipientRow, Schema } from "../schema.ts";
import { takeOfAccount } from "./daily.ts";
import { lockService } from "./locks.ts";
import { bytesOf, pageByKey } from "./pages.ts";

function recipientOf(row: RecipientRow): OutsideRecipient {
  const { key, id, account, channel, address, state, creation, modification } = row;
  const codeExpires = row.code_hash === null ? null : row.code_expires;
  return { key, id, accountKey: account, channel, address, state, codeExpires, creation, modification };
}

/** People outside of accounts. */
export class RecipientRows implements RecipientStore {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async find(name: RecipientName): Promise<OutsideRecipient | undefined> {
    const row = await rowOf(this.#database, name).executeTakeFirst();
    return row && recipientOf(row);
  }

  async page(accountKey: number, ask: PageAsk): Promise<Page<OutsideRecipient>> {
    const sizes = this.#database
      .selectFrom("recipient")
      .select(["key", bytesOf("address").as("bytes")])
      .where("account", "=", accountKey);
    const rows = this.#database.selectFrom("recipient").selectAll().where("account", "=", accountKey);
    const page = await pageByKey(sizes, rows, ask);
    return { rows: page.rows.map(recipientOf), more: page.more };
  }

  ask(name: RecipientName, code: NewCode, limits: CodeLimits, now: number): Promise<Asked> {
    return this.#database.transaction().execute(async (transaction) => {
      // Codes to an address are counted over all accounts.
      await lockService(transaction);
      const before = await lockedRow(transaction, name);
      if (before !== undefined && (before.state !== "pending" || (!code.again && isGood(before, now))))
        return { outcome: "known", recipient: recipientOf(before) };
      const refusal = await refusalOf(transaction, name, before === undefined, code, limits, now);
      if (refusal !== undefined) return { outcome: refusal };
      const set = {
        code_hash: code.hash,
        code_expires: code.expires,
        wrong: 0,
        asked_day: code.day,
        asked: before?.asked_day === code.day ? before.asked + 1 : 1,
        modification: now,
      };
      const { accountKey: account, channel, address } = name;
      const written =
        before === undefined
          ? transaction
              .insertInto("recipient")
              .values({ ...set, id: code.id, account, channel, address, state: "pending", creation: now })
              .returningAll()
          : transaction.updateTable("recipient").set(set).where("key", "=", before.key).returningAll();
      return { outcome: "asked", recipient: recipientOf(await written.executeTakeFirstOrThrow()) };
    });
  }

  async confirmSent(key: number, hash: string, expires: number): Promise<OutsideRecipient | undefined> {
    const row = await this.#database
      .updateTable("recipient")
      .set({ code_expires: expires })
      .where("key", "=", key)
      .where("code_hash", "=", hash)
      .where("state", "=", "pending")
      .returningAll()
      .executeTakeFirst();
    return row && recipientOf(row);
  }

  remove(accountKey: number, id: string, day: string): Promise<"removed" | "refused" | "asked" | "missing"> {
    return this.#database.transaction().execute(async (transaction) => {
      const row = await transaction
        .selectFrom("recipient")
        .select(["key", "state", "asked_day"])
        .where("account", "=", accountKey)
        .where("id", "=", id)
        .forUpdate()
        .executeTakeFirst();
      if (row === undefined) return "missing";
      if (row.state === "refused") return "refused";
      if (row.asked_day === day) return "asked";
      await transaction.deleteFrom("recipient").where("key", "=", row.key).execute();
      return "removed";
    });
  }

  async withdraw(key: number, hash: string): Promise<void> {
    await this.#database
      .updateTable("recipient")
      .set({ code_hash: null, code_expires: null })
      .where("key", "=", key)
      .where("code_hash", "=", hash)
      .execute();
  }

  answer(
    name: RecipientName,
    hash: string,
    state: "confirmed" | "refused",
    mostWrong: number,
    now: number,
  ): Promise<OutsideRecipient | "wrong"> {
    return this.#database.transaction().execute(async (transaction) => {
      const row = await lockedRow(transaction, name);
      if (row === undefined || row.code_hash === null) return "wrong";
      const update = transaction.updateTable("recipient").where("key", "=", row.key);
      if (row.code_hash !== hash) {
        const wrong = row.wrong + 1;
        const ended = wrong >= mostWrong ? { code_hash: null, code_expires: null } : {};
        await update.set({ wrong, ...ended }).execute();
        return "wrong";
      }
      if (state === "confirmed" && !isGood(row, now)) return "wrong";
      const changed = update.set({ state, modification: now }).returningAll();
      return recipientOf(await changed.executeTakeFirstOrThrow());
    });
  }
}

function isGood({ code_hash, code_expires }: RecipientRow, now: number): boolean {
  return code_hash !== null && code_expires !== null && now < code_expires;
}

/** Reads the row and locks it: others that decide by it wait until the transaction ends. */
function lockedRow(transaction: Transaction<Schema>, name: RecipientName): Promise<RecipientRow | undefined> {
  return rowOf(transaction, name).forUpdate().executeTakeFirst();
}

function rowOf(database: Kysely<Schema>, { accountKey, channel, address }: RecipientName) {
  return database
    .selectFrom("recipient")
    .selectAll()
    .where("account", "=", accountKey)
    .where("channel", "=", channel)
    .where("address", "=", address);
}

/** Returns why a code may not be sent. Returns undefined when it may: then its place in the account's day is taken. */
async function refusalOf(
  transaction: Transaction<Schema>,
  { accountKey, channel, address }: RecipientName,
  isNew: boolean,
  { day, accountDay, accountLimit, parts }: NewCode,
  limits: CodeLimits,
  now: number,
): Promise<"address" | "account" | "sent" | "full" | undefined> {
  const today = transaction
    .selectFrom("recipient")
    .select(({ fn }) => fn.sum<number | null>("asked").as("asked"))
    .where("asked_day", "=", day);
  const toAddress = await today.where("channel", "=", channel).where("address", "=", address).executeTakeFirst();
  if (Number(toAddress?.asked ?? 0) >= limits.codesToAddress) return "address";
  const ofAccount = await today.where("account", "=", accountKey).executeTakeFirst();
  if (Number(ofAccount?.asked ?? 0) >= limits.codesOfAccount) return "account";
  if (isNew && !(await hasRoom(transaction, accountKey, limits.perAccount, day, now))) return "full";
  const taken = await takeOfAccount(transaction, accountKey, accountDay, channel, accountLimit, parts);
  return taken ? undefined : "sent";
}

/** Whether the account may have one more; the oldest one that did not answer makes room. */
async function hasRoom(
  transaction: Transaction<Schema>,
  accountKey: number,
  most: number,
  day: string,
  now: number,
): Promise<boolean> {
  const { count } = await transaction
    .selectFrom("recipient")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("account", "=", accountKey)
    .executeTakeFirstOrThrow();
  if (Number(count) < most) return true;
  const oldest = await transaction
    .selectFrom("recipient")
    .select("key")
    .where("account", "=", accountKey)
    .where("state", "=", "pending")
    .where(({ eb, or }) => or([eb("code_expires", "is", null), eb("code_expires", "<=", now)]))
    .where(({ eb, or }) => or([eb("asked_day", "is", null), eb("asked_day", "<>", day)]))
    .orderBy("key")
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
  if (oldest === undefined) return false;
  await transaction.deleteFrom("recipient").where("key", "=", oldest.key).execute();
  return Number(count) - 1 < most;
}
