import { type ExpressionBuilder, type Kysely, type SqlBool, sql } from "kysely";
import type { Command, CommandState } from "../../model/command.ts";
import type { DeviceKey } from "../../model/device.ts";
import type { CommandChange, CommandStore, MadeCommand, NewCommand } from "../../ports/store.ts";
import type { CommandRow, NewCommandRow, Schema } from "../schema.ts";

/** In the words of the indexes of waiting commands: an engine takes them only for a condition that says the same without a parameter. */
const waits = sql<SqlBool>`command.state = 'queued'`;

function commandOf(row: CommandRow): Command {
  return {
    key: row.key,
    id: row.id,
    device: row.device,
    userKey: row.user,
    userName: row.user_name,
    channel: row.channel,
    format: row.format,
    command: row.command,
    encode: row.encode !== 0,
    state: row.state,
    creation: row.creation,
    expires: row.expires,
    sentAt: row.sent_at,
    finishedAt: row.finished_at,
    reply: row.reply,
    failure: row.failure,
    smsId: row.sms_id,
    idempotencyKey: row.idempotency_key,
  };
}

function rowOf(command: NewCommand): NewCommandRow {
  return {
    id: command.id,
    device: command.device,
    user: command.userKey,
    user_name: command.userName,
    channel: command.channel,
    format: command.format,
    command: command.command,
    encode: command.encode ? 1 : 0,
    state: command.state,
    creation: command.creation,
    expires: command.expires,
    sent_at: command.sentAt,
    finished_at: command.finishedAt,
    reply: command.reply,
    failure: command.failure,
    sms_id: command.smsId,
    idempotency_key: command.idempotencyKey,
  };
}

function columnsOf({ sentAt, finishedAt, reply, failure, smsId }: CommandChange): Partial<CommandRow> {
  return {
    ...(sentAt !== undefined && { sent_at: sentAt }),
    ...(finishedAt !== undefined && { finished_at: finishedAt }),
    ...(reply !== undefined && { reply }),
    ...(failure !== undefined && { failure }),
    ...(smsId !== undefined && { sms_id: smsId }),
  };
}

/** Whether so many commands wait for the device. Looks at no more of the index than these. */
async function isFull(database: Kysely<Schema>, device: DeviceKey, most: number): Promise<boolean> {
  const waiting = database.selectFrom("command").select("key").where("device", "=", device).where(waits);
  const last = waiting
    .orderBy("key")
    .limit(1)
    .offset(most - 1);
  return (await last.executeTakeFirst()) !== undefined;
}

/** Commands of a removed device are gone at once, though their rows are deleted later. */
function ofDevice(where: ExpressionBuilder<Schema, "command">) {
  return where.exists(where.selectFrom("device").select("device.key").whereRef("device.key", "=", "command.device"));
}

/** Records of commands. */
export class CommandRows implements CommandStore {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async create(command: NewCommand): Promise<MadeCommand | "missing"> {
    const made = await this.enqueue(command, undefined);
    if (made === "full") throw new Error("a command was refused without a bound");
    return made;
  }

  enqueue(command: NewCommand, mostWaiting: number | undefined): Promise<MadeCommand | "missing" | "full"> {
    return this.#database.transaction().execute(async (transaction) => {
      const device = transaction.selectFrom("device").select("key").where("key", "=", command.device);
      if ((await device.executeTakeFirst()) === undefined) return "missing";
      const full = mostWaiting !== undefined && (await isFull(transaction, command.device, mostWaiting));
      const row = full
        ? undefined
        : await transaction
            .insertInto("command")
            .values(rowOf(command))
            .onConflict((conflict) => conflict.columns(["device", "user", "idempotency_key"]).doNothing())
            .returningAll()
            .executeTakeFirst();
      if (row !== undefined) return { command: commandOf(row), existing: false };
      const before = await transaction
        .selectFrom("command")
        .selectAll()
        .where("device", "=", command.device)
        .where("user", "=", command.userKey)
        .where("idempotency_key", "=", command.idempotencyKey)
        .executeTakeFirst();
      if (before === undefined && full) return "full";
      if (before === undefined) throw new Error("a command was neither made nor there");
      return { command: commandOf(before), existing: true };
    });
  }

  async find(device: DeviceKey, id: string): Promise<Command | undefined> {
    const row = await this.#kept().where("id", "=", id).where("device", "=", device).executeTakeFirst();
    return row && commandOf(row);
  }

  async findByIdempotencyKey(device: DeviceKey, userKey: number, idempotencyKey: string): Promise<Command | undefined> {
    const row = await this.#kept()
      .where("device", "=", device)
      .where("user", "=", userKey)
      .where("idempotency_key", "=", idempotencyKey)
      .executeTakeFirst();
    return row && commandOf(row);
  }

  async list(device: DeviceKey, after: number | undefined, limit: number): Promise<readonly Command[]> {
    const all = this.#kept().where("device", "=", device);
    const rows = await (after === undefined ? all : all.where("key", "<", after))
      .orderBy("key", "desc")
      .limit(limit)
      .execute();
    return rows.map(commandOf);
  }

  async queued(device: DeviceKey, after: number, limit: number): Promise<readonly Command[]> {
    const waiting = this.#kept().where("device", "=", device).where("key", ">", after).where(waits);
    const rows = await waiting.where("channel", "=", "data").orderBy("key").limit(limit).execute();
    return rows.map(commandOf);
  }

  async step(
    key: number,
    from: readonly CommandState[],
    to: CommandState,
    change: CommandChange,
    failure?: string,
  ): Promise<Command | undefined> {
    const update = this.#database
      .updateTable("command")
      .set({ ...columnsOf(change), state: to })
      .where("key", "=", key)
      .where("state", "in", from)
      .where(ofDevice);
    const row = await (failure === undefined ? update : update.where("failure", "=", failure))
      .returningAll()
      .executeTakeFirst();
    return row && commandOf(row);
  }

  async bySmsId(smsId: string): Promise<Command | undefined> {
    // Gateways start their numbers anew some day: the newest is meant.
    const row = await this.#kept().where("sms_id", "=", smsId).orderBy("key", "desc").limit(1).executeTakeFirst();
    return row && commandOf(row);
  }

  async expire(now: number): Promise<number> {
    const [updated] = await this.#database
      .updateTable("command")
      .set({ state: "expired", finished_at: now })
      .where(waits)
      .where("expires", "<=", now)
      .execute();
    return Number(updated?.numUpdatedRows ?? 0n);
  }

  async nextExpiry(): Promise<number | undefined> {
    const row = await this.#database
      .selectFrom("command")
      .select((select) => select.fn.min("expires").as("expires"))
      .where(waits)
      .executeTakeFirst();
    return row?.expires ?? undefined;
  }

  #kept() {
    return this.#database.selectFrom("command").selectAll("command").where(ofDevice);
  }
}
