import { type ExpressionBuilder, type Kysely, type SqlBool, sql } from "kysely";
import type { Alert } from "../../model/alert.ts";
import type { DeviceKey } from "../../model/device.ts";
import type { NoticeChannel } from "../../model/notice.ts";
import type { AlertRange, AlertStore, StoredAlert } from "../../ports/alert-store.ts";
import type { AlertRow, NewAlertRow, Schema } from "../schema.ts";
import { written } from "./json-columns.ts";
import { someByKey } from "./pages.ts";

/** Bits of the column `channels`. */
const channelBits: Readonly<Record<NoticeChannel, number>> = { email: 1, sms: 2, webhook: 4, command: 8 };
const channels: readonly NoticeChannel[] = ["email", "sms", "webhook", "command"];

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
  };
}

/** The row of a new alert; the engine's commit writes it. */
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
    raised_at: alert.raisedAt,
    latitude: alert.latitude,
    longitude: alert.longitude,
    speed: alert.speed,
    critical: alert.critical ? 1 : 0,
    late: alert.late ? 1 : 0,
    facts: JSON.stringify(alert.facts),
    text: alert.text,
    channels: 0,
  };
}

/** Alerts of a removed device are gone at once, though their rows are deleted later. */
function ofDevice(where: ExpressionBuilder<Schema, "alert">) {
  return where.exists(where.selectFrom("device").select("device.key").whereRef("device.key", "=", "alert.device"));
}

/** Alerts, as the engine's commits wrote them. */
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

/** The statement that notes at its alert that somebody is told by the channel of a notice, which the owner is sending. A rule's 20 webhooks write the alert once. */
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
