import { setImmediate as nextTurn } from "node:timers/promises";
import { type SqlBool, sql, type Transaction } from "kysely";
import type { Alert, AlertEnd } from "../../model/alert.ts";
import type { DeviceKey } from "../../model/device.ts";
import type { NewNotice } from "../../model/notice.ts";
import type { Schema } from "../schema.ts";
import type { AlertTable, NewNoticeRow } from "../schema-alerts.ts";
import type { Vault } from "../secrets/vault.ts";
import { closed, isOpen } from "./alert-states.ts";
import { alertRow } from "./alerts.ts";
import { noticeRow } from "./notices.ts";
import { partsOf } from "./pages.ts";

/** Webhooks whose targets are encrypted in one turn of the event loop: each takes 0.1 ms. */
export const sealedAtOnce = 32;
/** Rows of one statement. */
const rowsAtOnce = 50;

/** What rules found, of one device. */
export interface FoundOfDevice {
  readonly device: DeviceKey;
  readonly alerts?: readonly Alert[];
  readonly notices?: readonly NewNotice[];
  readonly ended?: readonly AlertEnd[];
}

/** What rules found, as it is written. */
export interface Found {
  readonly alerts: readonly Alert[];
  readonly notices: readonly NewNoticeRow[];
  readonly ended: readonly (AlertEnd & { readonly device: DeviceKey })[];
}

/**
 * Makes the rows of notices; most commits have none. Lets the event loop serve others after each `sealedAtOnce`
 * webhooks.
 */
export async function foundBy(devices: readonly FoundOfDevice[], vault: Vault): Promise<Found> {
  const rows: NewNoticeRow[] = [];
  let sealed = 0;
  for (const notice of devices.flatMap(({ notices = [] }) => notices)) {
    if (notice.target.channel === "webhook" && sealed++ >= sealedAtOnce) {
      await nextTurn();
      sealed = 1;
    }
    rows.push(noticeRow(notice, vault));
  }
  const ended = devices.flatMap(({ device, ended: ends = [] }) => ends.map((end) => ({ ...end, device })));
  // The first of two ends of an alert counts. A withdrawn alert has no end, so withdrawals come first.
  const isGone = ({ withdrawn }: AlertEnd) => Number(withdrawn !== undefined);
  ended.sort((one, other) => one.time - other.time || isGone(other) - isGone(one));
  return { alerts: devices.flatMap(({ alerts = [] }) => alerts), notices: rows, ended };
}

/**
 * Writes what rules found of devices that are there, and tells how many notices of each were written. What was written
 * before, by a commit whose answer was lost, is not written again; neither is an alert that stands already because
 * somebody else found the same, nor its notices. `accounts`: of the devices that are there.
 */
export async function writeFound(
  transaction: Transaction<Schema>,
  { alerts, notices, ended }: Found,
  accounts: ReadonlyMap<DeviceKey, number>,
): Promise<ReadonlyMap<DeviceKey, number>> {
  const ofThere = <T extends { readonly device: DeviceKey }>(all: readonly T[]) =>
    all.filter(({ device }) => accounts.has(device));
  const found = ofThere(alerts);
  for (const alert of found) if (alert.phase === "withdrawn") await freePlace(transaction, alert);
  const left = await writeAlerts(transaction, found, accounts);
  const made = new Map<DeviceKey, number>();
  const told = ofThere(notices).filter(({ alert }) => !left.has(alert));
  for (const rows of partsOf(told, rowsAtOnce)) {
    const query = transaction
      .insertInto("notice")
      .values([...rows])
      .onConflict((conflict) => conflict.doNothing());
    for (const { device } of await query.returning("device").execute()) made.set(device, (made.get(device) ?? 0) + 1);
  }
  for (const end of ofThere(ended)) await endAlerts(transaction, end);
  return made;
}

/** What is withdrawn can be raised again at the same moment. */
async function freePlace(transaction: Transaction<Schema>, { device, ruleKey, time }: Alert): Promise<void> {
  await transaction
    .updateTable("alert")
    .set(({ ref }) => ({ subject: ref("id") }))
    .where("device", "=", device)
    .where("rule", "=", ruleKey)
    .where("time", "=", time)
    .execute();
}

/** Returns the ids of alerts that were left out because others stand in their places. */
async function writeAlerts(
  transaction: Transaction<Schema>,
  alerts: readonly Alert[],
  accounts: ReadonlyMap<DeviceKey, number>,
): Promise<ReadonlySet<string>> {
  const left = new Set<string>();
  for (const some of partsOf(alerts, rowsAtOnce)) {
    const rows = some.map((alert) => ({ ...alertRow(alert), account: accounts.get(alert.device) ?? null }));
    const query = transaction
      .insertInto("alert")
      .values(rows)
      .onConflict((conflict) => conflict.doNothing());
    const written = new Set((await query.returning("id").execute()).map(({ id }) => id));
    const others = some.map(({ id }) => id).filter((id) => !written.has(id));
    if (others.length === 0) continue;
    const again = await transaction.selectFrom("alert").select("id").where("id", "in", others).execute();
    const standing = new Set(again.map(({ id }) => id));
    for (const id of others) if (!standing.has(id)) left.add(id);
  }
  return left;
}

/**
 * An alert closes by itself at its end; a critical one stays open until somebody has acknowledged it, unless it is
 * withdrawn.
 */
async function endAlerts(
  transaction: Transaction<Schema>,
  { device, ruleKey, withdrawn, time, foundAt }: Found["ended"][number],
): Promise<void> {
  if (withdrawn !== undefined) {
    const gone = transaction.updateTable("alert").set({ state: closed, closed_at: foundAt });
    await gone.where("id", "=", withdrawn).where(isOpen).execute();
    return;
  }
  const closes = sql<SqlBool>`(critical = 0 or state = 1)`;
  await transaction
    .updateTable("alert")
    .set({
      ended_at: time,
      state: sql<AlertTable["state"]>`case when ${closes} then ${sql.lit(closed)} else state end`,
      closed_at: sql<number | null>`case when ${closes} then cast(${foundAt} as bigint) end`,
    })
    .where("device", "=", device)
    .where("rule", "=", ruleKey)
    .where(isOpen)
    .where("phase", "=", "raised")
    // By `+` the time is no reason to take the index of all alerts of the device.
    .where(sql<SqlBool>`+alert.time <= ${time}`)
    .where("ended_at", "is", null)
    .execute();
}
