import { type Kysely, sql } from "kysely";
import type { Geofence } from "../../model/geofence.ts";
import type { GeofenceFields, GeofenceStore } from "../../ports/alert-store.ts";
import type { Page, PageAsk } from "../../ports/pages.ts";
import type { GeofenceRow, Schema } from "../schema.ts";
import { written } from "./json-columns.ts";
import { allByKey, bytesOf, existingIds, pageByKey, someByKey } from "./pages.ts";

/** Zones of one question of a list: each may have 10,000 corners, some 400 KB. */
const listRows = 25;
/** Least bytes of a position in a stored zone: `[1,2]`. */
const positionBytes = 5;

function geofenceOf(row: GeofenceRow): Geofence {
  return {
    key: row.key,
    id: row.id,
    accountKey: row.account,
    name: row.name,
    description: row.description,
    zone: written(row.zone),
    creation: row.creation,
    modification: row.modification,
  };
}

function columnsOf({ name, description, zone }: GeofenceFields): Pick<GeofenceRow, "name" | "description" | "zone"> {
  return { name, description, zone: JSON.stringify(zone) };
}

/** Zones of accounts. */
export class GeofenceRows implements GeofenceStore {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async create(accountKey: number, id: string, fields: GeofenceFields, now: number): Promise<Geofence> {
    const row = await this.#database
      .insertInto("geofence")
      .values({ ...columnsOf(fields), id, account: accountKey, creation: now, modification: now })
      .returningAll()
      .executeTakeFirstOrThrow();
    return geofenceOf(row);
  }

  async find(id: string): Promise<Geofence | undefined> {
    const row = await this.#database.selectFrom("geofence").selectAll().where("id", "=", id).executeTakeFirst();
    return row && geofenceOf(row);
  }

  async list(accountKey: number): Promise<readonly Geofence[]> {
    const own = this.#database.selectFrom("geofence").selectAll().where("account", "=", accountKey);
    return (await allByKey(own, listRows)).map(geofenceOf);
  }

  async page(accountKey: number, ask: PageAsk, leastPositions = 0): Promise<Page<Geofence>> {
    const large = sql<boolean>`octet_length(${sql.ref("zone")}) > ${leastPositions * positionBytes}`;
    const sizes = this.#database
      .selectFrom("geofence")
      .select(["key", bytesOf("name", "description", "zone").as("bytes")])
      .where("account", "=", accountKey)
      .where(large);
    const rows = this.#database.selectFrom("geofence").selectAll().where("account", "=", accountKey).where(large);
    const page = await pageByKey(sizes, rows, ask);
    return { rows: page.rows.map(geofenceOf), more: page.more };
  }

  async some(accountKey: number, ids: readonly string[]): Promise<readonly Geofence[]> {
    const own = this.#database.selectFrom("geofence").selectAll().where("account", "=", accountKey);
    return (await someByKey(ids, listRows, (some) => own.where("id", "in", some).execute())).map(geofenceOf);
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

  async replace(key: number, fields: GeofenceFields, now: number): Promise<Geofence | undefined> {
    const row = await this.#database
      .updateTable("geofence")
      .set({ ...columnsOf(fields), modification: now })
      .where("key", "=", key)
      .returningAll()
      .executeTakeFirst();
    return row && geofenceOf(row);
  }

  async remove(key: number): Promise<boolean> {
    const [deleted] = await this.#database.deleteFrom("geofence").where("key", "=", key).execute();
    return deleted !== undefined && deleted.numDeletedRows > 0n;
  }
}
