import { type ExpressionBuilder, type Kysely, type SqlBool, sql, type Transaction } from "kysely";
import type { Command, CommandState } from "../../model/command.ts";
import type { DeviceKey } from "../../model/device.ts";
import type {
  CommandChange,
  CommandStore,
  MadeCommand,
  NewCommand,
  SmsDelivery,
  StepFrom,
} from "../../ports/command-store.ts";
import type { Page, PageAsk } from "../../ports/pages.ts";
import type { CommandRow, NewCommandRow, Schema } from "../schema.ts";
import { lockDevice } from "./locks.ts";
import { bytesOf, pageByKey } from "./pages.ts";

/**
 * In the words of the indexes of waiting commands: an engine takes them only for a condition that says the same without
 * a parameter.
 */
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
    idempotencyKey: row.idempotency_key,
  };
}

function rowOf(command: NewCommand, owner: string): NewCommandRow {
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
    idempotency_key: command.idempotencyKey,
    owner: command.state === "sent" ? owner : "",
  };
}

function columnsOf({ sentAt, finishedAt, reply, failure }: CommandChange): Partial<CommandRow> {
  return {
    ...(sentAt !== undefined && { sent_at: sentAt }),
    ...(finishedAt !== undefined && { finished_at: finishedAt }),
    ...(reply !== undefined && { reply }),
    ...(failure !== undefined && { failure }),
  };
}

/** Whether at least this many commands wait for the device. Reads no more of the index than that. */
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

/** Deletes commands with their parts. Waits for transactions that are writing parts of them. */
export async function deleteCommands(database: Kysely<Schema>, keys: readonly number[]): Promise<void> {
  if (keys.length === 0) return;
  await database.selectFrom("command").select("key").where("key", "in", keys).orderBy("key").forUpdate().execute();
  await database.deleteFrom("command_part").where("command", "in", keys).execute();
  await database.deleteFrom("command").where("key", "in", keys).execute();
}

/** Deletes these commands but for those that were queued again meanwhile. */
async function deleteUnqueued(transaction: Transaction<Schema>, keys: readonly number[]): Promise<void> {
  const ended = transaction.selectFrom("command").select("key").where("key", "in", keys).where("state", "!=", "queued");
  const rows = await ended.orderBy("key").forUpdate().execute();
  await deleteCommands(
    transaction,
    rows.map(({ key }) => key),
  );
}

/**
 * Records that one new command deletes at most: more than one, so that a device that has far too many, from before
 * there was a bound, comes down to it.
 */
const deletedAtOnce = 10;

/**
 * Deletes the oldest records of a device that ended, beyond the `most` newest; only some of them if there are many.
 * Looks at no more of the index than the bound and those that wait.
 */
async function makeRoom(database: Kysely<Schema>, device: DeviceKey, most: number): Promise<void> {
  const ofThis = database.selectFrom("command").select("key").where("device", "=", device);
  const beyond = await ofThis.orderBy("key", "desc").limit(1).offset(most).executeTakeFirst();
  if (beyond === undefined) return;
  const ended = ofThis.where("key", "<=", beyond.key).where("state", "!=", "queued");
  const rows = await ended.orderBy("key").limit(deletedAtOnce).forUpdate().execute();
  await deleteCommands(
    database,
    rows.map(({ key }) => key),
  );
}

async function setParts(database: Kysely<Schema>, command: number, ids: readonly (string | null)[]): Promise<void> {
  await database.deleteFrom("command_part").where("command", "=", command).execute();
  if (ids.length === 0) return;
  const rows = ids.map((id, part) => ({ command, part, sms_id: id, delivered: null }));
  await database.insertInto("command_part").values(rows).execute();
}

/** Whether a command is in one of these states. */
function isFrom(from: readonly StepFrom[], owner: string) {
  const states = from.filter((one) => one !== "ours");
  return ({ eb, or }: ExpressionBuilder<Schema, "command">) =>
    or([
      ...(states.length > 0 ? [eb("state", "in", states)] : []),
      ...(from.includes("ours") ? [eb("state", "=", "sent").and("owner", "=", owner)] : []),
    ]);
}

function deliveryOf(parts: readonly { readonly delivered: number | null }[]): SmsDelivery {
  if (parts.some(({ delivered }) => delivered === 0)) return "failed";
  return parts.every(({ delivered }) => delivered === 1) ? "delivered" : "open";
}

/** Commands that one transaction ends because their time has run out. */
const expiredAtOnce = 500;

/** Records of commands. */
export class CommandRows implements CommandStore {
  readonly #database: Kysely<Schema>;
  readonly #keptPerDevice: number;
  readonly #owner: string;

  /** `keptPerDevice`: records that each device may have. `owner`: the name of this opening of the store. */
  constructor(database: Kysely<Schema>, keptPerDevice: number, owner: string) {
    this.#database = database;
    this.#keptPerDevice = keptPerDevice;
    this.#owner = owner;
  }

  async create(command: NewCommand): Promise<MadeCommand | "missing"> {
    const made = await this.enqueue(command, undefined);
    if (made === "full") throw new Error("a command was refused without a bound");
    return made;
  }

  enqueue(command: NewCommand, mostWaiting: number | undefined): Promise<MadeCommand | "missing" | "full"> {
    return this.#database.transaction().execute(async (transaction) => {
      if (!(await lockDevice(transaction, command.device))) return "missing";
      const full = mostWaiting !== undefined && (await isFull(transaction, command.device, mostWaiting));
      const row = full
        ? undefined
        : await transaction
            .insertInto("command")
            .values(rowOf(command, this.#owner))
            .onConflict((conflict) => conflict.columns(["device", "user", "idempotency_key"]).doNothing())
            .returningAll()
            .executeTakeFirst();
      if (row !== undefined) {
        await makeRoom(transaction, command.device, this.#keptPerDevice);
        return { command: commandOf(row), existing: false };
      }
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
    const row = await kept(this.#database).where("id", "=", id).where("device", "=", device).executeTakeFirst();
    return row && commandOf(row);
  }

  async findByIdempotencyKey(device: DeviceKey, userKey: number, idempotencyKey: string): Promise<Command | undefined> {
    const row = await kept(this.#database)
      .where("device", "=", device)
      .where("user", "=", userKey)
      .where("idempotency_key", "=", idempotencyKey)
      .executeTakeFirst();
    return row && commandOf(row);
  }

  async list(device: DeviceKey, after: number | undefined, limit: number): Promise<readonly Command[]> {
    const all = kept(this.#database).where("device", "=", device);
    const rows = await (after === undefined ? all : all.where("key", "<", after))
      .orderBy("key", "desc")
      .limit(limit)
      .execute();
    return rows.map(commandOf);
  }

  async page(device: DeviceKey, ask: PageAsk): Promise<Page<Command>> {
    const sizes = this.#database
      .selectFrom("command")
      .select(["key", bytesOf("command", "reply", "failure").as("bytes")])
      .where("device", "=", device)
      .where(ofDevice);
    const { rows, more } = await pageByKey(sizes, kept(this.#database).where("device", "=", device), ask, "desc");
    return { rows: rows.map(commandOf), more };
  }

  async queued(device: DeviceKey, after: number, limit: number): Promise<readonly Command[]> {
    const waiting = kept(this.#database).where("device", "=", device).where("key", ">", after).where(waits);
    const rows = await waiting.where("channel", "=", "data").orderBy("key").limit(limit).execute();
    return rows.map(commandOf);
  }

  step(
    key: number,
    from: readonly StepFrom[],
    to: CommandState,
    change: CommandChange,
    failure?: string,
  ): Promise<Command | undefined> {
    const { smsIds } = change;
    const set = async (database: Kysely<Schema>) => {
      const update = database
        .updateTable("command")
        .set({ ...columnsOf(change), state: to, ...(to === "sent" && { owner: this.#owner }) })
        .where("key", "=", key)
        .where(isFrom(from, this.#owner))
        .where(ofDevice);
      const row = await (failure === undefined ? update : update.where("failure", "=", failure))
        .returningAll()
        .executeTakeFirst();
      if (row !== undefined && smsIds !== undefined) await setParts(database, key, smsIds);
      return row && commandOf(row);
    };
    // One statement is a transaction by itself.
    return smsIds === undefined ? set(this.#database) : this.#database.transaction().execute(set);
  }

  receipt(
    smsId: string,
    delivered: boolean,
  ): Promise<{ readonly command: Command; readonly delivery: SmsDelivery } | undefined> {
    return this.#database.transaction().execute(async (transaction) => {
      // Gateways start their numbers anew some day: the newest is meant.
      const part = await transaction
        .selectFrom("command_part")
        .selectAll()
        .where("sms_id", "=", smsId)
        .orderBy("command", "desc")
        .limit(1)
        .executeTakeFirst();
      if (part === undefined) return undefined;
      // Locked, so that of two parts that are delivered at once the second sees the first.
      const row = await kept(transaction).where("key", "=", part.command).forUpdate().executeTakeFirst();
      if (row === undefined) return undefined;
      await transaction
        .updateTable("command_part")
        .set({ delivered: delivered ? 1 : 0 })
        .where("command", "=", part.command)
        // Mostly one part. A gateway that calls all parts the same tells of the message.
        .where("sms_id", "=", smsId)
        // Gateways repeat themselves; what they said first was final.
        .where("delivered", "is", null)
        .execute();
      const parts = transaction.selectFrom("command_part").select("delivered").where("command", "=", part.command);
      return { command: commandOf(row), delivery: deliveryOf(await parts.execute()) };
    });
  }

  async expire(now: number): Promise<readonly Command[]> {
    const over = this.#database.selectFrom("command").select("key").where(waits).where("expires", "<=", now);
    const rows = await this.#database
      .updateTable("command")
      .set({ state: "expired", finished_at: now })
      .where("key", "in", over.limit(expiredAtOnce))
      .where(waits)
      .returningAll()
      .execute();
    return rows.map(commandOf);
  }

  async nextExpiry(): Promise<number | undefined> {
    const row = await this.#database
      .selectFrom("command")
      .select((select) => select.fn.min("expires").as("expires"))
      .where(waits)
      .executeTakeFirst();
    return row?.expires ?? undefined;
  }

  async waitingDevices(limit: number): Promise<readonly string[]> {
    const rows = await this.#database
      .selectFrom("command")
      .innerJoin("device", "device.key", "command.device")
      .select("device.id")
      .distinct()
      .where(waits)
      .limit(limit)
      .execute();
    return rows.map(({ id }) => id);
  }

  async deleteEnded(
    before: number,
    after: number,
    limit: number,
  ): Promise<{ readonly deleted: number; readonly next: number | undefined }> {
    const rows = await this.#database
      .selectFrom("command")
      .select(["key", "state", "creation", "sent_at", "finished_at"])
      .where("key", ">", after)
      .orderBy("key")
      .limit(limit)
      .execute();
    const ended = rows.filter(
      ({ state, creation, sent_at, finished_at }) =>
        state !== "queued" && (finished_at ?? sent_at ?? creation) < before,
    );
    const keys = ended.map(({ key }) => key);
    if (keys.length > 0) await this.#database.transaction().execute((transaction) => deleteUnqueued(transaction, keys));
    // None ends before it is made, and keys are in the order of making; one young one among old ones had a wrong clock.
    const young = rows.every(({ creation }) => creation >= before);
    return { deleted: keys.length, next: young || rows.length < limit ? undefined : rows.at(-1)?.key };
  }
}

function kept(database: Kysely<Schema>) {
  return database.selectFrom("command").selectAll("command").where(ofDevice);
}
