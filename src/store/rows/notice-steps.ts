import { type ExpressionBuilder, type Kysely, type SqlBool, sql } from "kysely";
import type { DayPlaces, NoticeOutcome } from "../../ports/alert-store.ts";
import type { Schema } from "../schema.ts";
import type { NoticeRow } from "../schema-alerts.ts";
import { noteChannel } from "./alerts.ts";
import { isSending, type Leases } from "./leases.ts";
import { giveBackDay, takeDay } from "./notice-days.ts";
import { type RunTogether, StatementGroups } from "./statement-groups.ts";

/** In the words of the indexes of waiting notices: an engine takes them only for a condition that says the same without a parameter. */
export const waits = sql<SqlBool>`notice.state = 'queued'`;

/** Notices of a removed device are gone at once, though their rows are deleted later. */
export function ofDevice(where: ExpressionBuilder<Schema, "notice">) {
  return where.exists(where.selectFrom("device").select("device.key").whereRef("device.key", "=", "notice.device"));
}

/** What each try writes: a claim, and its end. Hundreds of calls of webhooks a second go out, so what needs no look at a day's places goes in groups. */
export class NoticeSteps {
  readonly #database: Kysely<Schema>;
  readonly #groups: StatementGroups;
  readonly #leases: Leases;

  constructor(database: Kysely<Schema>, together: RunTogether, leases: Leases) {
    this.#database = database;
    this.#leases = leases;
    this.#groups = new StatementGroups(together);
  }

  async claim(key: number, now: number, places: DayPlaces | undefined): Promise<"claimed" | "limit" | "gone"> {
    if (places === undefined) {
      const [claimed = 0] = await this.#groups.run([this.#claiming(this.#database, key).compile()]);
      return claimed > 0 ? "claimed" : "gone";
    }
    return this.#database.transaction().execute(async (transaction) => {
      // First of all, so that of two who claim it one waits for the other.
      const row = await this.#claiming(transaction, key).returningAll().executeTakeFirst();
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

  async finish(key: number, outcome: NoticeOutcome, now: number): Promise<"recorded" | "lost"> {
    const finish = this.#finishing(this.#database, key, outcome, now);
    const { owner } = this.#leases.claim;
    // In this order: the alert's condition is that the notice is still being sent.
    const note = outcome.state === "sent" ? [noteChannel(this.#database, key, owner).compile()] : [];
    const ends = outcome.state === "failed" || outcome.state === "suppressed";
    const last = ends ? finish.where("counted_day", "is", null) : finish;
    const changed = await this.#groups.run([...note, last.compile()]);
    const recorded = (changed.at(-1) ?? 0) > 0 || (ends && (await this.#giveUp(key, outcome, now)));
    return recorded ? "recorded" : "lost";
  }

  /** Ends a notice that may hold places of a day, and is not sent after all. Resolves with false if this process has no claim of it. */
  #giveUp(key: number, outcome: NoticeOutcome, now: number): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const row: NoticeRow | undefined = await this.#finishing(transaction, key, outcome, now)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) return false;
      await giveBackDay(transaction, row);
      await transaction.updateTable("notice").set({ counted_day: null }).where("key", "=", key).execute();
      return true;
    });
  }

  /** Claims a notice that waits. */
  #claiming(database: Kysely<Schema>, key: number) {
    const { claim } = this.#leases;
    return database
      .updateTable("notice")
      .set((set) => ({ state: "sending", attempts: set("attempts", "+", 1), ...claim }))
      .where("key", "=", key)
      .where(waits)
      .where(ofDevice);
  }

  /** Records what became of a notice that this process has claimed, unless that was recorded before. */
  #finishing(
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
      .where(isSending)
      .where("owner", "=", this.#leases.claim.owner);
  }
}
