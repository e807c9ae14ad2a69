import { type Kysely, sql } from "kysely";
import type { RefusedReport } from "../../model/commit.ts";
import type { DeviceKey } from "../../model/device.ts";
import type { RefusedPage, RefusedStore } from "../../ports/refused-store.ts";
import type { Schema } from "../schema.ts";

const causes: readonly RefusedReport["cause"][] = ["future", "past", "position"];

/** Reports that were refused; the engine's commit writes them. */
export class RefusedRows implements RefusedStore {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async page(device: DeviceKey, limit: number, after?: number): Promise<RefusedPage> {
    let query = this.#database
      .selectFrom("refused")
      .selectAll()
      .where("device", "=", device)
      // Those of a removed device are deleted little by little, and nobody's any more.
      .where(({ exists, selectFrom }) =>
        exists(selectFrom("device_state").select("device").where("device", "=", device)),
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
