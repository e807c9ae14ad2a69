import { type Kysely, sql, type Transaction } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { RefusedReport } from "../../model/refused.ts";
import type { RefusedPage, RefusedStore } from "../../ports/refused-store.ts";
import type { Schema } from "../schema.ts";
import { partsOf } from "./pages.ts";

const causes: readonly RefusedReport["cause"][] = ["future", "past", "position"];

/**
 * Deleting begins where a device has too many bytes and ends an eighth below, so that it is done now and then and not
 * with each report.
 */
const slack = 8;
/** Rows of one statement. */
const rowsAtOnce = 100;

/** Reports that were refused. */
export class RefusedRows implements RefusedStore {
  readonly #database: Kysely<Schema>;
  readonly #most: number;
  /** The last reports were not answered, so they may be there. */
  #mayBeThere = false;
  /** Reports that were deleted before their age since the opening. */
  dropped = 0;

  /** `most`: bytes that each device may have of them. */
  constructor(database: Kysely<Schema>, most: number) {
    this.#database = database;
    this.#most = most;
  }

  async add(reports: readonly RefusedReport[]): Promise<number> {
    const before = this.#mayBeThere;
    this.#mayBeThere = true;
    const dropped = await this.#database.transaction().execute(async (transaction) => {
      const devices = await devicesOf(transaction, reports);
      const own = reports.filter(({ device }) => devices.has(device));
      const added = before ? await newOf(transaction, own) : own;
      const sizes = new Map<DeviceKey, number>();
      for (const { device, report } of added) sizes.set(device, (sizes.get(device) ?? 0) + Buffer.byteLength(report));
      for (const some of partsOf(added, rowsAtOnce))
        await transaction.insertInto("refused").values(some.map(rowOf)).execute();
      let gone = 0;
      for (const [device, bytes] of [...sizes].toSorted(([one], [other]) => one - other))
        gone += await this.#count(transaction, device, bytes);
      return gone;
    });
    this.#mayBeThere = false;
    this.dropped += dropped;
    return dropped;
  }

  /** Counts what a device has, and makes room where that is too much. */
  async #count(transaction: Transaction<Schema>, device: DeviceKey, added: number): Promise<number> {
    const { bytes } = await transaction
      .insertInto("refused_room")
      .values({ device, bytes: added, dropped: 0, dropped_until: null })
      .onConflict((conflict) =>
        conflict.column("device").doUpdateSet(({ eb }) => ({ bytes: eb("refused_room.bytes", "+", added) })),
      )
      .returning("bytes")
      .executeTakeFirstOrThrow();
    return bytes > this.#most
      ? makeRoom(transaction, device, bytes - (this.#most - Math.floor(this.#most / slack)))
      : 0;
  }

  async page(device: DeviceKey, limit: number, after?: number): Promise<RefusedPage> {
    let query = this.#database
      .selectFrom("refused")
      .selectAll()
      .where("device", "=", device)
      // Those of a removed device are deleted little by little, and nobody's any more.
      .where(({ exists, selectFrom }) =>
        exists(selectFrom("device").select("device.key").where("device.key", "=", device)),
      );
    if (after !== undefined) query = query.where("seq", "<", after);
    // One more than asked for tells whether there are more.
    const rows = await query
      .orderBy("seq", "desc")
      .limit(limit + 1)
      .execute();
    const shown = rows.slice(0, limit);
    const reports = shown.flatMap((row) => {
      const cause = causes.find((known) => known === row.cause);
      if (cause === undefined) return [];
      return [{ device: row.device, receivedAt: row.received_at, time: row.time, cause, report: row.report }];
    });
    return {
      reports,
      next: rows.length > limit ? shown.at(-1)?.seq : undefined,
      dropped: await this.#dropped(device),
    };
  }

  async #dropped(device: DeviceKey): Promise<RefusedPage["dropped"]> {
    const room = await this.#database
      .selectFrom("refused_room")
      .select(["dropped", "dropped_until"])
      .where("device", "=", device)
      .executeTakeFirst();
    return room === undefined || room.dropped_until === null
      ? undefined
      : { reports: room.dropped, until: room.dropped_until };
  }

  prune(before: number, limit: number): Promise<number> {
    return this.#database.transaction().execute(async (transaction) => {
      const old = await transaction
        .selectFrom("refused")
        .select(["seq", "device", sql<number>`octet_length(report)`.as("bytes")])
        .where("received_at", "<", before)
        .orderBy("received_at")
        .limit(limit)
        // Locked, so that of two such transactions the second finds the rows gone and does not count them again.
        .forUpdate()
        .execute();
      if (old.length === 0) return 0;
      const bytes = new Map<DeviceKey, number>();
      for (const row of old) bytes.set(row.device, (bytes.get(row.device) ?? 0) + Number(row.bytes));
      for (const [device, freed] of [...bytes].toSorted(([one], [other]) => one - other))
        await transaction
          .updateTable("refused_room")
          .set((set) => ({ bytes: set("bytes", "-", freed) }))
          .where("device", "=", device)
          .execute();
      const seqs = old.map(({ seq }) => seq);
      await transaction.deleteFrom("refused").where("seq", "in", seqs).execute();
      return old.length;
    });
  }
}

function rowOf({ device, receivedAt, time, cause, report }: RefusedReport) {
  return { device, received_at: receivedAt, time, cause, report };
}

/** The devices that are there, which stay there until the transaction ends. */
async function devicesOf(
  transaction: Transaction<Schema>,
  reports: readonly RefusedReport[],
): Promise<ReadonlySet<DeviceKey>> {
  const found = new Set<DeviceKey>();
  for (const some of partsOf([...new Set(reports.map(({ device }) => device))], rowsAtOnce)) {
    const rows = transaction.selectFrom("device").select("key").where("key", "in", some).orderBy("key");
    for (const { key } of await rows.forKeyShare().execute()) found.add(key);
  }
  return found;
}

/** Reports that are not there yet. */
async function newOf(
  transaction: Transaction<Schema>,
  reports: readonly RefusedReport[],
): Promise<readonly RefusedReport[]> {
  const fresh: RefusedReport[] = [];
  for (const report of reports) {
    // By the arrival, which has an index.
    const same = transaction.selectFrom("refused").select("seq").where("received_at", "=", report.receivedAt);
    const { received_at: _, ...row } = rowOf(report);
    const found = await same.where((where) => where.and(row)).executeTakeFirst();
    if (found === undefined) fresh.push(report);
  }
  return fresh;
}

/** Deletes a device's oldest reports. How many. */
async function makeRoom(transaction: Transaction<Schema>, device: DeviceKey, bytes: number): Promise<number> {
  let [freed, count, until] = [0, 0, 0];
  while (freed < bytes) {
    const oldest = await transaction
      .selectFrom("refused")
      .select(["seq", "received_at", sql<number>`octet_length(report)`.as("bytes")])
      .where("device", "=", device)
      .orderBy("seq")
      .limit(rowsAtOnce)
      .execute();
    const gone: number[] = [];
    for (const row of oldest) {
      if (freed >= bytes) break;
      gone.push(row.seq);
      freed += Number(row.bytes);
      until = Math.max(until, row.received_at);
    }
    await transaction.deleteFrom("refused").where("seq", "in", gone).execute();
    count += gone.length;
    if (oldest.length < rowsAtOnce) break;
  }
  await transaction
    .updateTable("refused_room")
    .set(({ eb }) => ({
      bytes: eb("bytes", "-", freed),
      dropped: eb("dropped", "+", count),
      dropped_until: sql<number>`case when coalesce(dropped_until, 0) > ${until} then dropped_until else cast(${until} as bigint) end`,
    }))
    .where("device", "=", device)
    .execute();
  return count;
}
