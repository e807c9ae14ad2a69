import { createHash } from "node:crypto";
import {
  type ExpressionBuilder,
  type Kysely,
  type SqlBool,
  sql,
  type UpdateQueryBuilder,
  type UpdateResult,
} from "kysely";
import type { Alert, AlertAct, AlertHandling } from "../../model/alert.ts";
import type { DeviceKey } from "../../model/device.ts";
import type { NoticeChannel } from "../../model/notice.ts";
import type { AccountAlertsAsk, AlertPlaces, AlertRange, AlertStore, StoredAlert } from "../../ports/alert-store.ts";
import type { Page } from "../../ports/pages.ts";
import type { Schema } from "../schema.ts";
import type { AlertRow, NewAlertRow } from "../schema-alerts.ts";
import { alertPlaces } from "./alert-places.ts";
import { alertStates, closed, isOpen } from "./alert-states.ts";
import { written } from "./json-columns.ts";
import { someByKey } from "./pages.ts";

/** Bits of the column `channels`. */
const channelBits: Readonly<Record<NoticeChannel, number>> = { email: 1, sms: 2, webhook: 4, command: 8 };
const channels: readonly NoticeChannel[] = ["email", "sms", "webhook", "command"];

/** Alerts of a page that one question reads; and that one transaction changes. */
const readAlerts = 250;
const handledAtOnce = 100;

/** A change of alerts. */
type AlertUpdate = UpdateQueryBuilder<Schema, "alert", "alert", UpdateResult>;

/** Alerts of one question: each has a text of up to 4,000 characters. */
const askedAlerts = 500;

function alertOf(row: AlertRow): StoredAlert {
  return {
    key: row.key,
    id: row.id,
    device: row.device,
    ruleKey: row.rule,
    ruleId: row.rule_id,
    name: row.name,
    type: row.type,
    phase: row.phase,
    time: row.time,
    raisedAt: row.raised_at,
    latitude: row.latitude,
    longitude: row.longitude,
    speed: row.speed,
    critical: row.critical !== 0,
    late: row.late !== 0,
    facts: written(row.facts),
    text: row.text,
    channels: channels.filter((channel) => (row.channels & channelBits[channel]) !== 0),
    handling: handlingOf(row),
  };
}

function handlingOf(row: AlertRow): AlertHandling {
  const { acknowledged_at, closed_at } = row;
  return {
    state: alertStates[row.state] ?? "closed",
    endedAt: row.ended_at,
    acknowledged: acknowledged_at === null ? null : actOf(acknowledged_at, row.acknowledged_by, row.acknowledged_note),
    closed: closed_at === null ? null : actOf(closed_at, row.closed_by, row.closed_note),
  };
}

function actOf(at: number, user: string | null, note: string | null): AlertAct {
  return { at, user, note };
}

/** What one holds in memory beside its texts, bytes. */
const alertBytes = 500;

function bytesOfAlert({ text, facts, handling: { acknowledged, closed: end } }: StoredAlert): number {
  return alertBytes + text.length + JSON.stringify(facts).length + lengthOf(acknowledged?.note) + lengthOf(end?.note);
}

function lengthOf(note: string | null | undefined): number {
  return note?.length ?? 0;
}

/**
 * What tells alerts of a rule apart that lie at one time: a zone, an event, a figure or an alarm of several. What was
 * withdrawn leaves its place to what is raised again.
 */
function subjectOf({ id, phase, facts: { zone, event, limit, alarm } }: Alert): string {
  if (phase === "withdrawn") return id;
  const parts = [zone, event, limit, alarm];
  if (parts.every((part) => part === undefined)) return "";
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 16);
}

/** The row of a new alert. */
export function alertRow(alert: Alert): NewAlertRow {
  return {
    id: alert.id,
    device: alert.device,
    rule: alert.ruleKey,
    rule_id: alert.ruleId,
    name: alert.name,
    type: alert.type,
    phase: alert.phase,
    time: alert.time,
    subject: subjectOf(alert),
    raised_at: alert.raisedAt,
    latitude: alert.latitude,
    longitude: alert.longitude,
    speed: alert.speed,
    critical: alert.critical ? 1 : 0,
    late: alert.late ? 1 : 0,
    facts: JSON.stringify(alert.facts),
    text: alert.text,
    channels: 0,
    state: alert.phase === "raised" ? 0 : closed,
  };
}

/** Alerts of a removed device are gone at once, though their rows are deleted later. */
function ofDevice(where: ExpressionBuilder<Schema, "alert">) {
  return where.exists(where.selectFrom("device").select("device.key").whereRef("device.key", "=", "alert.device"));
}

/** Alerts, as `writeFound` wrote them. */
export class AlertRows implements AlertStore {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async list(device: DeviceKey, { from, to, after, limit, name }: AlertRange): Promise<readonly StoredAlert[]> {
    let found = this.#kept().where("device", "=", device).where("time", ">=", from).where("time", "<=", to);
    if (after !== undefined)
      found = found.where(({ eb, refTuple, tuple }) => eb(refTuple("time", "key"), ">", tuple(after.time, after.key)));
    if (name !== undefined) found = found.where("name", "=", name);
    const rows = await found.orderBy("time").orderBy("key").limit(limit).execute();
    return rows.map(alertOf);
  }

  async find(id: string): Promise<StoredAlert | undefined> {
    const row = await this.#kept().where("id", "=", id).executeTakeFirst();
    return row && alertOf(row);
  }

  async some(device: DeviceKey, ids: readonly string[]): Promise<readonly StoredAlert[]> {
    const own = this.#kept().where("device", "=", device);
    return (await someByKey(ids, askedAlerts, (some) => own.where("id", "in", some).execute())).map(alertOf);
  }

  places(accountKey: number, ask: AccountAlertsAsk): Promise<AlertPlaces> {
    return alertPlaces(this.#database, accountKey, ask);
  }

  async newest(accountKey: number): Promise<number> {
    const own = this.#database.selectFrom("alert").select("key").where("account", "=", accountKey);
    return (await own.orderBy("key", "desc").limit(1).executeTakeFirst())?.key ?? 0;
  }

  async read(keys: readonly number[], bytes: number): Promise<Page<StoredAlert>> {
    const rows: StoredAlert[] = [];
    let left = bytes;
    for (let at = 0; at < keys.length; at += readAlerts) {
      const some = keys.slice(at, at + readAlerts);
      const found = await this.#kept().where("key", "in", some).execute();
      const byKey = new Map(found.map((row) => [row.key, row]));
      for (const key of some) {
        const row = byKey.get(key);
        if (row === undefined) continue;
        const alert = alertOf(row);
        left -= bytesOfAlert(alert);
        if (left < 0 && rows.length > 0) return { rows, more: true };
        rows.push(alert);
      }
    }
    return { rows, more: false };
  }

  async ofAccount(accountKey: number, ids: readonly string[]): Promise<readonly StoredAlert[]> {
    const own = this.#kept().where("account", "=", accountKey);
    return (await someByKey(ids, askedAlerts, (some) => own.where("id", "in", some).execute())).map(alertOf);
  }

  async acknowledge(keys: readonly number[], { at, user, note }: AlertAct): Promise<void> {
    await this.#handle(keys, (some) =>
      some
        .set({ acknowledged_at: at, acknowledged_by: user, acknowledged_note: note })
        .set(({ ref }) => ({
          state: sql<number>`case when ${ref("ended_at")} is null then 1 else ${sql.lit(closed)} end`,
          closed_at: sql<
            number | null
          >`case when ${ref("ended_at")} is null then null else cast(${sql.val(at)} as bigint) end`,
        }))
        .where("state", "=", 0),
    );
  }

  async close(keys: readonly number[], { at, user, note }: AlertAct): Promise<void> {
    await this.#handle(keys, (some) =>
      some.set({ state: closed, closed_at: at, closed_by: user, closed_note: note }).where(isOpen),
    );
  }

  async closeOld(before: number, limit: number, now: number): Promise<number> {
    const old = this.#database
      .selectFrom("alert")
      .select("key")
      .where(isOpen)
      .where("raised_at", "<", before)
      .where("critical", "=", 0)
      .orderBy("raised_at")
      .limit(limit);
    const keys = (await old.execute()).map(({ key }) => key);
    await this.close(keys, { at: now, user: null, note: null });
    return keys.length;
  }

  /** Changes alerts in the order of their keys, as those who end them lock them. */
  async #handle(keys: readonly number[], change: (some: AlertUpdate) => AlertUpdate): Promise<void> {
    const sorted = keys.toSorted((one, other) => one - other);
    for (let at = 0; at < sorted.length; at += handledAtOnce) {
      const some = sorted.slice(at, at + handledAtOnce);
      await this.#database.transaction().execute(async (transaction) => {
        for (const key of some) await change(transaction.updateTable("alert").where("key", "=", key)).execute();
      });
    }
  }

  async prune(before: number, limit: number): Promise<number> {
    const old = this.#database
      .selectFrom("alert")
      .select("key")
      .where("raised_at", "<", before)
      .orderBy("raised_at")
      .limit(limit);
    const [deleted] = await this.#database.deleteFrom("alert").where("key", "in", old).execute();
    return Number(deleted?.numDeletedRows ?? 0n);
  }

  #kept() {
    return this.#database.selectFrom("alert").selectAll("alert").where(ofDevice);
  }
}

/** The bit of a notice's channel. */
const bitOfNotice = sql<number>`case notice.channel ${sql.join(
  channels.map((channel) => sql`when ${sql.lit(channel)} then ${sql.lit(channelBits[channel])}`),
  sql` `,
)} end`;

/**
 * The statement that notes at its alert that somebody is told by the channel of a notice, which the owner is sending. A
 * rule's 20 webhooks write the alert once.
 */
export function noteChannel(database: Kysely<Schema>, notice: number, owner: string) {
  return database
    .updateTable("alert")
    .from("notice")
    .set((set) => ({ channels: set("alert.channels", "|", bitOfNotice) }))
    .where("notice.key", "=", notice)
    .where("notice.state", "=", "sending")
    .where("notice.owner", "=", owner)
    .whereRef("alert.id", "=", "notice.alert")
    .where(sql<SqlBool>`(alert.channels & ${bitOfNotice}) = 0`);
}
