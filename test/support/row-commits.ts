import type { CommitBatch } from "../../src/model/commit.ts";
import { noTotals } from "../../src/model/location.ts";
import type { CommitConflict, LocationStore } from "../../src/ports/store.ts";
import type { PostgresRows } from "../../src/store/postgres/open.ts";
import { alertRow } from "../../src/store/rows/alerts.ts";
import { noticeRow } from "../../src/store/rows/notices.ts";

/** In place of the positions of PostgreSQL until they stand: commits write versions, alerts, notices and refused reports, and no position. */
export function rowCommits({ tables, vault, crowded }: PostgresRows): LocationStore {
  const missing = () => {
    throw new Error("positions are not stored yet");
  };
  return {
    async states(devices) {
      const rows = await tables.selectFrom("device_state").selectAll().where("device", "in", devices).execute();
      const versions = new Map(rows.map(({ device, version }) => [device, version]));
      return devices.map((device) => ({ version: versions.get(device) ?? 0, time: 0, arrivals: 0, totals: noTotals }));
    },
    async commit(batch) {
      const conflict = await tables.transaction().execute(async (transaction) => {
        const alerts = batch.devices.flatMap((device) => device.alerts ?? []).map(alertRow);
        const notices = batch.devices.flatMap((device) => device.notices ?? []).map((one) => noticeRow(one, vault));
        for (const { device, state } of batch.devices) {
          const update = transaction.updateTable("device_state").set({ version: state.version });
          const [updated] = await update
            .where("device", "=", device)
            .where("version", "=", state.version - 1)
            .execute();
          if (updated?.numUpdatedRows !== 1n) return { conflicts: [device] } satisfies CommitConflict;
        }
        for (const alert of alerts) await transaction.insertInto("alert").values(alert).execute();
        for (const notice of notices) await transaction.insertInto("notice").values(notice).execute();
        for (const { device, receivedAt, time, cause, report } of batch.refused)
          await transaction
            .insertInto("refused")
            .values({ device, received_at: receivedAt, time, cause, report })
            .execute();
        return undefined;
      });
      if (conflict === undefined) note(batch, crowded);
      return conflict;
    },
    context: missing,
    packedContext: missing,
    moment: missing,
    countAbout: missing,
    oldPositions: missing,
    deleteOld: missing,
    history: missing,
  };
}

function note({ devices }: CommitBatch, crowded: PostgresRows["crowded"]): void {
  for (const { device, notices = [] } of devices) if (notices.length > 0) crowded.made(device, notices.length);
}
