import type { Kysely, Transaction } from "kysely";
import { type Geofence, type GeofenceText, positionsOf, type Zone } from "../../model/geofence.ts";
import type { GeofenceFields, GeofenceStore, ReadPositions } from "../../ports/alert-store.ts";
import type { Page, PageAsk } from "../../ports/pages.ts";
import type { GeofenceRow, Schema } from "../schema.ts";
import { checkAsRead } from "./as-read.ts";
import { written } from "./json-columns.ts";
import { lockAccount } from "./locks.ts";
import { allByKey, bytesOf, existingIds, pageByKey, someByKey } from "./pages.ts";

/** Zones of one question of a list: each may have 10,000 corners, some 400 KB. */
const listRows = 25;

/** Texts of the zones of geofences that were read. */
const texts = new WeakMap<Geofence, string>();

/**
 * The zone is read out of its text when somebody first asks for it: 20 large ones take some 80 ms, and most of who asks
 * for a geofence wants its name.
 */
function geofenceOf(row: GeofenceRow, known?: Zone): Geofence {
  let zone = known;
  const geofence: Geofence = {
    ...namesOf(row),
    get zone() {
      zone ??= written<Zone>(row.zone);
      return zone;
    },
  };
  texts.set(geofence, row.zone);
  return geofence;
}

function namesOf({ key, id, account, name, description, creation, modification }: GeofenceRow): Omit<Geofence, "zone"> {
  return { key, id, accountKey: account, name, description, creation, modification };
}

function geofenceTextOf(row: GeofenceRow): GeofenceText {
  return { ...namesOf(row), zoneText: row.zone };
}

/** A geofence with the text of its zone: two large texts are compared in no time. */
function withText(geofence: Geofence): GeofenceText {
  const { key, id, accountKey, name, description, creation, modification } = geofence;
  const zoneText = texts.get(geofence) ?? JSON.stringify(geofence.zone);
  return { key, id, accountKey, name, description, creation, modification, zoneText };
}

type Columns = Pick<GeofenceRow, "name" | "description" | "zone" | "positions">;

function columnsOf({ name, description, zone }: GeofenceFields): Columns {
  return { name, description, zone: JSON.stringify(zone), positions: positionsOf(zone) };
}

/** Zones of accounts. */
export class GeofenceRows implements GeofenceStore {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  create(accountKey: number, id: string, fields: GeofenceFields, now: number, read?: ReadPositions): Promise<Geofence> {
    return this.#database.transaction().execute(async (transaction) => {
      if (read !== undefined) await checkPositions(transaction, accountKey, read);
      const row = await transaction
        .insertInto("geofence")
        .values({ ...columnsOf(fields), id, account: accountKey, creation: now, modification: now })
        .returningAll()
        .executeTakeFirstOrThrow();
      return geofenceOf(row, fields.zone);
    });
  }

  async find(id: string): Promise<Geofence | undefined> {
    const row = await this.#database.selectFrom("geofence").selectAll().where("id", "=", id).executeTakeFirst();
    return row && geofenceOf(row);
  }

  async list(accountKey: number): Promise<readonly Geofence[]> {
    const own = this.#database.selectFrom("geofence").selectAll().where("account", "=", accountKey);
    return (await allByKey(own, listRows)).map((row) => geofenceOf(row));
  }

  async page(accountKey: number, ask: PageAsk): Promise<Page<GeofenceText>> {
    const sizes = this.#database
      .selectFrom("geofence")
      .select(["key", bytesOf("name", "description", "zone").as("bytes")])
      .where("account", "=", accountKey);
    const rows = this.#database.selectFrom("geofence").selectAll().where("account", "=", accountKey);
    const page = await pageByKey(sizes, rows, ask);
    return { rows: page.rows.map(geofenceTextOf), more: page.more };
  }

  positions(accountKey: number, few: number, besides = 0): Promise<number> {
    return positionsIn(this.#database, accountKey, few, besides);
  }

  async some(accountKey: number, ids: readonly string[]): Promise<readonly Geofence[]> {
    const own = this.#database.selectFrom("geofence").selectAll().where("account", "=", accountKey);
    return (await someByKey(ids, listRows, (some) => own.where("id", "in", some).execute())).map((row) =>
      geofenceOf(row),
    );
  }

  existing(accountKey: number, ids: readonly string[]): Promise<ReadonlySet<string>> {
    return existingIds(ids, (some) =>
      this.#database
        .selectFrom("geofence")
        .select("id")
        .where("account", "=", accountKey)
        .where("id", "in", some)
        .execute(),
    );
  }

  replace(
    key: number,
    fields: GeofenceFields,
    now: number,
    read?: { readonly geofence: Geofence; readonly positions?: ReadPositions | undefined },
  ): Promise<Geofence | undefined> {
    return this.#database.transaction().execute(async (transaction) => {
      if (read?.positions !== undefined) await checkPositions(transaction, read.geofence.accountKey, read.positions);
      const stored = transaction.selectFrom("geofence").selectAll().where("key", "=", key).forNoKeyUpdate();
      const before = await stored.executeTakeFirst();
      if (before === undefined) return undefined;
      checkAsRead(geofenceTextOf(before), read && withText(read.geofence));
      const row = await transaction
        .updateTable("geofence")
        .set({ ...columnsOf(fields), modification: now })
        .where("key", "=", key)
        .returningAll()
        .executeTakeFirst();
      return row && geofenceOf(row, fields.zone);
    });
  }

  async remove(key: number): Promise<boolean> {
    const [deleted] = await this.#database.deleteFrom("geofence").where("key", "=", key).execute();
    return deleted !== undefined && deleted.numDeletedRows > 0n;
  }
}

async function positionsIn(database: Kysely<Schema>, account: number, few: number, besides = 0): Promise<number> {
  const { sum } = await database
    .selectFrom("geofence")
    .select((select) => select.fn.sum<number | null>("positions").as("sum"))
    .where("account", "=", account)
    .where("positions", ">", few)
    .where("key", "!=", besides)
    .executeTakeFirstOrThrow();
  return sum ?? 0;
}

/** Locks the account, so that of two who make its zones larger the second sees the first. */
async function checkPositions(
  transaction: Transaction<Schema>,
  account: number,
  { few, besides, sum }: ReadPositions,
): Promise<void> {
  await lockAccount(transaction, account);
  checkAsRead(await positionsIn(transaction, account, few, besides), sum);
}
