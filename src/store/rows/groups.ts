import { type ExpressionBuilder, type Kysely, sql, type Transaction } from "kysely";
import type { Group } from "../../model/group.ts";
import type { GroupFields, GroupStore } from "../../ports/groups.ts";
import { type Page, type PageAsk, workBytes } from "../../ports/pages.ts";
import type { GroupRow, Schema } from "../schema.ts";
import { checkAsRead } from "./as-read.ts";
import { optionalList } from "./json-columns.ts";
import { allByKey, bytesOf, existingIds, fitting, pageByKey, pageRows, someByKey } from "./pages.ts";

/** Groups of one question of a list: each may name every device of its account, some 200 KB at 10,000. */
const listRows = 100;

function groupOf(row: GroupRow): Group {
  return {
    key: row.key,
    id: row.id,
    accountKey: row.account,
    name: row.name,
    description: row.description,
    devices: optionalList(row.devices),
    creation: row.creation,
    lastModified: row.last_modified,
  };
}

function columnsOf(fields: GroupFields): Pick<GroupRow, "name" | "description" | "devices"> {
  return { name: fields.name, description: fields.description, devices: JSON.stringify(fields.devices) };
}

/** By its id or by its name, each with an index of its own. */
function isNamed(reference: string) {
  return ({ eb, or }: ExpressionBuilder<Schema, "device_group">) =>
    or([eb("id", "=", reference), eb("name", "=", reference)]);
}

/** Whether the list has the device. Most lists have not even its text, and are not parsed. */
function holds(deviceId: string) {
  return sql<boolean>`instr(devices, ${JSON.stringify(deviceId)}) > 0
    and exists (select 1 from json_each(devices) where json_each.value = ${deviceId})`;
}

function pageOf({ rows, more }: Page<GroupRow>): Page<Group> {
  return { rows: rows.map(groupOf), more };
}

/** Groups of devices. */
export class GroupRows implements GroupStore {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async create(accountKey: number, id: string, fields: GroupFields, now: number): Promise<Group> {
    // Only the key comes back: the rest is known, and may be a megabyte.
    const { key } = await this.#database
      .insertInto("device_group")
      .values({ ...columnsOf(fields), id, account: accountKey, creation: now, last_modified: now })
      .returning("key")
      .executeTakeFirstOrThrow();
    return { ...fields, key, id, accountKey, creation: now, lastModified: now };
  }

  async find(id: string): Promise<Group | undefined> {
    const row = await this.#database.selectFrom("device_group").selectAll().where("id", "=", id).executeTakeFirst();
    return row && groupOf(row);
  }

  async list(accountKey: number): Promise<readonly Group[]> {
    const own = this.#database.selectFrom("device_group").selectAll().where("account", "=", accountKey);
    return (await allByKey(own, listRows)).map(groupOf);
  }

  async page(accountKey: number, ask: PageAsk, named?: string): Promise<Page<Group>> {
    const sizes = this.#database
      .selectFrom("device_group")
      .select(["key", bytesOf("name", "description", "devices").as("bytes")])
      .where("account", "=", accountKey);
    const rows = this.#database.selectFrom("device_group").selectAll().where("account", "=", accountKey);
    if (named === undefined) return pageOf(await pageByKey(sizes, rows, ask));
    return pageOf(await pageByKey(sizes.where(isNamed(named)), rows.where(isNamed(named)), ask));
  }

  async some(accountKey: number, ids: readonly string[]): Promise<readonly Group[]> {
    const own = this.#database.selectFrom("device_group").selectAll().where("account", "=", accountKey);
    return (await someByKey(ids, listRows, (some) => own.where("id", "in", some).execute())).map(groupOf);
  }

  async existing(accountKey: number, ids: readonly string[]): Promise<ReadonlySet<string>> {
    return existingIds(ids, (some) =>
      this.#database
        .selectFrom("device_group")
        .select("id")
        .where("account", "=", accountKey)
        .where("id", "in", some)
        .execute(),
    );
  }

  holding(accountKey: number, deviceId: string): Promise<ReadonlySet<string>> {
    return groupsHolding(this.#database, accountKey, deviceId);
  }

  replace(key: number, fields: GroupFields, now: number, read?: Group): Promise<Group | undefined> {
    return this.#database.transaction().execute(async (transaction) => {
      await lockAsRead(transaction, read);
      const row = await transaction
        .updateTable("device_group")
        .set({ ...columnsOf(fields), last_modified: now })
        .where("key", "=", key)
        .returning(["id", "account", "creation"])
        .executeTakeFirst();
      return row && { ...fields, key, id: row.id, accountKey: row.account, creation: row.creation, lastModified: now };
    });
  }

  remove(key: number, read?: Group): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      await lockAsRead(transaction, read);
      const group = transaction.deleteFrom("device_group").where("key", "=", key);
      const deleted = await group.returning("id").executeTakeFirst();
      if (deleted === undefined) return false;
      await transaction.deleteFrom("share").where("group_id", "=", deleted.id).execute();
      return true;
    });
  }
}

/** Ids of the account's groups that have this device. */
export async function groupsHolding(
  database: Kysely<Schema>,
  accountKey: number,
  deviceId: string,
): Promise<ReadonlySet<string>> {
  const own = database.selectFrom("device_group").where("account", "=", accountKey);
  const found = new Set<string>();
  // The lists of all groups may be many megabytes: each question looks at some, so that other questions don't wait for
  // long.
  for (let after = 0; ; ) {
    const sizes = await own
      .select(["key", bytesOf("devices").as("bytes")])
      .where("key", ">", after)
      .orderBy("key")
      .limit(pageRows)
      .execute();
    const last = sizes[fitting(sizes, pageRows, workBytes) - 1]?.key;
    if (last === undefined) return found;
    const holding = await own
      .select("id")
      .where("key", ">", after)
      .where("key", "<=", last)
      .where(holds(deviceId))
      .execute();
    for (const { id } of holding) found.add(id);
    after = last;
  }
}

/** Locks a group that is there, if a change was judged by it. */
async function lockAsRead(transaction: Transaction<Schema>, read: Group | undefined): Promise<void> {
  if (read === undefined) return;
  const stored = transaction.selectFrom("device_group").selectAll().where("key", "=", read.key).forUpdate();
  const row = await stored.executeTakeFirst();
  if (row !== undefined) checkAsRead(groupOf(row), read);
}
