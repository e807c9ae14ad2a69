import { type ExpressionBuilder, type Kysely, type SqlBool, sql } from "kysely";
import type { DayPlaces, NoticeOutcome } from "../../ports/alert-store.ts";
import type { NoticeRow, Schema } from "../schema.ts";
import { noteChannel } from "./alerts.ts";
import { giveBackDay, takeDay } from "./notice-days.ts";
import { type RunTogether, StatementGroups } from "./statement-groups.ts";

/** In the words of the indexes of open notices: an engine takes them only for a condition that says the same without a parameter. */
export const waits = sql<SqlBool>`notice.state = 'queued'`;
export const isSending = sql<SqlBool>`notice.state = 'sending'`;

/** Notices of a removed device are gone at once, though their rows are deleted later. */
export function ofDevice(where: ExpressionBuilder<Schema, "notice">) {
  return where.exists(where.selectFrom("device").select("device.key").whereRef("device.key", "=", "notice.device"));
}

/** What each try writes: a claim, and its end. Hundreds of calls of webhooks a second go out, so what needs no look at a day's places goes in groups. */
export class NoticeSteps {
  readonly #database: Kysely<Schema>;
  readonly #groups: StatementGroups;

  constructor(database: Kysely<Schema>, together: RunTogether) {
    this.#database = database;
    this.#groups = new StatementGroups(together);
  }

  async claim(key: number, now: number, places: DayPlaces | undefined): Promise<"claimed" | "limit" | "gone"> {
    if (places === undefined) {
      const [claimed = 0] = await this.#groups.run([claiming(this.#database, key).compile()]);
      return claimed > 0 ? "claimed" : "gone";
    }
    return this.#database.transaction().execute(async (transaction) => {
      // First of all, so that of two who claim it one waits for the other.
      const row = await claiming(transaction, key).returningAll().executeTakeFirst();
      if (row === undefined) return "gone";
      const taken = await takeDay(transaction, row, places);
      if (taken === "taken") return "claimed";
      await transaction
        .updateTable("notice")
        .set({
          state: "suppressed",
          reason: `daily ${row.channel === "sms" ? "SMS" : "e-mail"} limit ${taken === "account" ? "of the account " : ""}reached`,
          finished_at: now,
          attempts: row.attempts - 1,
          counted_day: null,
        })
        .where("key", "=", key)
        .execute();
      return "limit";
    });
  }

  async finish(key: number, outcome: NoticeOutcome, now: number): Promise<void> {
    const finish = finishing(this.#database, key, outcome, now);
    if (outcome.state === "queued") await this.#groups.run([finish.compile()]);
    else if (outcome.state === "sent")
      // In this order: the alert's condition is that the notice is still being sent.
      await this.#groups.run([noteChannel(this.#database, key).compile(), finish.compile()]);
    else {
      const [finished = 0] = await this.#groups.run([finish.where("counted_day", "is", null).compile()]);
      if (finished === 0) await this.#giveUp(key, outcome, now);
    }
  }

  /** Ends a notice that may hold places of a day, and is not sent after all. */
  async #giveUp(key: number, outcome: NoticeOutcome, now: number): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      const row: NoticeRow | undefined = await finishing(transaction, key, outcome, now)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) return;
      await giveBackDay(transaction, row);
      await transaction.updateTable("notice").set({ counted_day: null }).where("key", "=", key).execute();
    });
  }
}

/** Claims a notice that waits. */
function claiming(database: Kysely<Schema>, key: number) {
  return database
    .updateTable("notice")
    .set((set) => ({ state: "sending", attempts: set("attempts", "+", 1) }))
    .where("key", "=", key)
    .where(waits)
    .where(ofDevice);
}

/** Records what became of a claimed notice, unless that was recorded before. */
function finishing(
  database: Kysely<Schema>,
  key: number,
  { state, reason, peerId, dueAt, untried }: NoticeOutcome,
  now: number,
) {
  return database
    .updateTable("notice")
    .set({
      state,
      reason,
      peer_id: peerId,
      ...(state === "queued" ? { due_at: dueAt } : { finished_at: now }),
    })
    .$if(untried === true, (update) => update.set((set) => ({ attempts: set("attempts", "-", 1) })))
    .where("key", "=", key)
    .where(isSending);
}
