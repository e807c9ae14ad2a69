import type { Kysely } from "kysely";
import type { NewShare, Share } from "../../model/share.ts";
import type { Page, PageAsk } from "../../ports/pages.ts";
import type { ShareStore, SharesOf } from "../../ports/shares.ts";
import type { Schema } from "../schema.ts";
import type { ShareRow } from "../schema-shares.ts";
import { bytesOf, pageByKey } from "./pages.ts";

/** Links to devices and groups. */
export class ShareRows implements ShareStore {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  create(share: NewShare, most: number) {
    const { accountKey: account, userKey: user, target, tokenHash: token_hash, id, name, creation, expires } = share;
    const device = "device" in target ? target.device : null;
    const group_id = "group" in target ? target.group : null;
    return this.#database.transaction().execute(async (transaction) => {
      // One after the other for a user, and none of a user or to a device that is being deleted.
      const maker = transaction.selectFrom("user").select("key").where("key", "=", user).forNoKeyUpdate();
      if ((await maker.executeTakeFirst()) === undefined) return "missing";
      if (device !== null) {
        const shown = transaction.selectFrom("device").select("key").where("key", "=", device).forNoKeyUpdate();
        if ((await shown.executeTakeFirst()) === undefined) return "missing";
      }
      const own = transaction.selectFrom("share").select("key").where("user", "=", user);
      const present = await own.where("expires", ">", creation).limit(most).execute();
      if (present.length >= most) return "full";
      const row = await transaction
        .insertInto("share")
        .values({ id, account, user, device, group_id, name, token_hash, creation, expires })
        .returningAll()
        .executeTakeFirstOrThrow();
      return shareOf(row);
    });
  }

  async find(tokenHash: string): Promise<Share | undefined> {
    const found = this.#database.selectFrom("share").selectAll().where("token_hash", "=", tokenHash);
    const row = await found.executeTakeFirst();
    return row && shareOf(row);
  }

  async page({ accountKey, userKey }: SharesOf, now: number, ask: PageAsk): Promise<Page<Share>> {
    let own = this.#database.selectFrom("share").where("expires", ">", now).where("account", "=", accountKey);
    if (userKey !== undefined) own = own.where("user", "=", userKey);
    const { rows, more } = await pageByKey(
      own.select(["key", bytesOf("name").as("bytes")]),
      own.selectAll(),
      ask,
      "desc",
    );
    return { rows: rows.map(shareOf), more };
  }

  async remove({ accountKey, userKey }: SharesOf, id: string): Promise<Share | undefined> {
    let rows = this.#database.deleteFrom("share").where("id", "=", id).where("account", "=", accountKey);
    if (userKey !== undefined) rows = rows.where("user", "=", userKey);
    const row = await rows.returningAll().executeTakeFirst();
    return row && shareOf(row);
  }

  async prune(before: number, limit: number): Promise<number> {
    const ended = this.#database.selectFrom("share").select("key").where("expires", "<", before).limit(limit);
    // Asks for `expires` again, so that PostgreSQL reads by the index of it.
    const [deleted] = await this.#database
      .deleteFrom("share")
      .where("key", "in", ended)
      .where("expires", "<", before)
      .execute();
    return Number(deleted?.numDeletedRows ?? 0n);
  }
}

function shareOf({ key, id, account, user, device, group_id, name, token_hash, creation, expires }: ShareRow): Share {
  const target = device === null ? { group: group_id ?? "" } : { device };
  return { key, id, accountKey: account, userKey: user, target, name, tokenHash: token_hash, creation, expires };
}
