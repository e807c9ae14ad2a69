import type { Kysely } from "kysely";
import type { RefusedReport } from "../../model/commit.ts";
import type { DeviceKey } from "../../model/device.ts";
import type { Schema } from "../schema.ts";

const causes: readonly RefusedReport["cause"][] = ["future", "past", "position"];

/** Reports that were refused; the engine's commit writes them. */
export class RefusedRows {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async newest(device: DeviceKey, limit: number): Promise<readonly RefusedReport[]> {
    const rows = await this.#database
      .selectFrom("refused")
      .selectAll()
      .where("device", "=", device)
      .orderBy("seq", "desc")
      .limit(limit)
      .execute();
    return rows.flatMap((row) => {
      const cause = causes.find((known) => known === row.cause);
      if (cause === undefined) return [];
      return [{ device: row.device, receivedAt: row.received_at, time: row.time, cause, report: row.report }];
    });
  }
}
