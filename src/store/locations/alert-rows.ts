import { setImmediate } from "node:timers/promises";
import type { CommitBatch } from "../../model/commit.ts";
import { alertRow } from "../rows/alerts.ts";
import { noticeRow } from "../rows/notices.ts";
import type { NewAlertRow, NewNoticeRow } from "../schema-alerts.ts";
import type { Vault } from "../secrets/vault.ts";
import type { EndedAlerts } from "./calls.ts";

/** Webhooks whose targets are encrypted in one turn of the event loop: each takes 0.1 ms. */
export const sealedAtOnce = 32;

/** The alerts of a commit and their notices as rows. */
export interface AlertRows {
  readonly alerts: NewAlertRow[];
  readonly notices: NewNoticeRow[];
  readonly ended: EndedAlerts[];
}

/** Makes the rows of a batch's alerts and notices. Most batches have none. Lets the event loop serve others after each `sealedAtOnce` webhooks. */
export async function alertRows({ devices }: Pick<CommitBatch, "devices">, vault: Vault): Promise<AlertRows> {
  const rows: AlertRows = { alerts: [], notices: [], ended: [] };
  let sealed = 0;
  for (const { device, alerts, notices, ended } of devices) {
    if (alerts !== undefined) for (const alert of alerts) rows.alerts.push(alertRow(alert));
    if (ended !== undefined)
      for (const { ruleKey, time, foundAt, withdrawn = "" } of ended)
        rows.ended.push({ device, rule: ruleKey, time, foundAt, withdrawn });
    if (notices === undefined) continue;
    for (const notice of notices) {
      if (notice.target.channel === "webhook" && sealed++ >= sealedAtOnce) {
        await setImmediate();
        sealed = 1;
      }
      rows.notices.push(noticeRow(notice, vault));
    }
  }
  // The first of two ends of an alert counts. A withdrawn alert has no end, so withdrawals come first.
  rows.ended.sort(
    (one, other) => one.time - other.time || Number(other.withdrawn !== "") - Number(one.withdrawn !== ""),
  );
  return rows;
}
