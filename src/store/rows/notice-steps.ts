import { type ExpressionBuilder, type Kysely, type SqlBool, sql, type Transaction } from "kysely";
import type { PauseDecision } from "../../model/notice-pause.ts";
import type { DayPlaces, NoticeOutcome, PauseAsk } from "../../ports/alert-store.ts";
import type { Schema } from "../schema.ts";
import type { NoticeRow } from "../schema-alerts.ts";
import { noteChannel } from "./alerts.ts";
import { isSending, type Leases } from "./leases.ts";
import { giveBackDay, takeDay } from "./notice-days.ts";
import { askPause } from "./notice-pauses.ts";
import { type RunTogether, StatementGroups } from "./statement-groups.ts";

/**
 * In the words of the indexes of waiting notices: an engine takes them only for a condition that says the same without
 * a parameter.
 */
export const waits = sql<SqlBool>`notice.state = 'queued'`;

/** Notices of a removed device are gone at once, though their rows are deleted later. */
export function ofDevice(where: ExpressionBuilder<Schema, "notice">) {
  return where.exists(where.selectFrom("device").select("device.key").whereRef("device.key", "=", "notice.device"));
}

/**
 * What each try writes: a claim, and its end. Hundreds of calls of webhooks a second go out, so what needs no look at a
 * day's places goes in groups.
 */
export class NoticeSteps {
  readonly #database: Kysely<Schema>;
  readonly #groups: StatementGroups;
  readonly #leases: Leases;

  constructor(database: Kysely<Schema>, together: RunTogether, leases: Leases) {
    this.#database = database;
    this.#leases = leases;
    this.#groups = new StatementGroups(together);
  }

  async claim(
    key: number,
    now: number,
    places: DayPlaces | undefined,
    pause?: PauseAsk,
  ): Promise<"claimed" | "limit" | "gone" | "waits" | "repeated"> {
    if (places === undefined) {
      const [claimed = 0] = await this.#groups.run(key, [this.#claiming(this.#database, key).compile()]);
      return claimed > 0 ? "claimed" : "gone";
    }
    return this.#database.transaction().execute(async (transaction) => {
      // First of all, so that of two who claim it one waits for the other.
      const row = await this.#claiming(transaction, key).returningAll().executeTakeFirst();
      if (row === undefined) return "gone";
      const asked = pause && isFirstTry(row) ? await askPause(transaction, row, pause, now) : undefined;
      if (asked !== undefined && asked.decision.outcome !== "send") {
        await asked.keep();
        return leave(transaction, row, asked.decision, now);
      }
      const taken = await takeDay(transaction, row, places);
      if (taken === "taken") {
        await asked?.keep();
        return "claimed";
      }
      // An older message that waits would go out when the day is over, and say what is so no longer.
      await asked?.pass();
      const rest = (await hasRest(transaction, row, places)) ? "; the rest is kept for critical alerts" : "";
      const reason = `daily ${row.channel === "sms" ? "SMS" : "e-mail"} limit ${taken === "account" ? "of the account " : ""}reached${rest}`;
      await unclaim(transaction, row, { state: "suppressed", reason, finished_at: now });
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
    // The key is the place in the group: notices have the order of their alerts, and whoever acknowledges or ends
    // alerts locks them in this order.
    const changed = await this.#groups.run(key, [...note, last.compile()]);
    const recorded = (changed.at(-1) ?? 0) > 0 || (ends && (await this.#giveUp(key, outcome, now)));
    return recorded ? "recorded" : "lost";
  }

  /**
   * Ends a notice that may hold places of a day, and is not sent after all. Resolves with false if this process has no
   * claim of it.
   */
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

/** Whether it was never tried: what is tried again, or sent again by hand, is past the pauses. */
function isFirstTry({ attempts, resends, counted_day }: NoticeRow): boolean {
  return attempts <= 1 && resends === 0 && counted_day === null;
}

/** Whether the day has places left that are kept for critical alerts. */
async function hasRest(transaction: Transaction<Schema>, claimed: NoticeRow, { whole, ...places }: DayPlaces) {
  // The statement before gave back the places that the notice held.
  const row = { ...claimed, counted_day: null };
  if (whole === undefined || (await takeDay(transaction, row, { ...places, ...whole })) !== "taken") return false;
  await giveBackDay(transaction, { ...row, counted_day: places.day, counted_places: places.count ?? 1 });
  return true;
}

/** What came too soon waits, or ends. */
async function leave(
  transaction: Transaction<Schema>,
  row: NoticeRow,
  decision: Exclude<PauseDecision, { readonly outcome: "send" }>,
  now: number,
): Promise<"waits" | "repeated"> {
  if (decision.outcome === "suppress") {
    await unclaim(transaction, row, { state: "suppressed", reason: decision.reason, finished_at: now });
    return "repeated";
  }
  const reason = `waits: at most one in ${decision.minutes} minutes`;
  await unclaim(transaction, row, { state: "queued", reason, due_at: decision.until });
  return "waits";
}

/** Takes back the claim of a notice that holds no place. */
async function unclaim(
  transaction: Transaction<Schema>,
  { key, attempts }: NoticeRow,
  end: Partial<Pick<NoticeRow, "reason" | "finished_at" | "due_at">> & Pick<NoticeRow, "state">,
): Promise<void> {
  const set = { ...end, attempts: attempts - 1, counted_day: null };
  await transaction.updateTable("notice").set(set).where("key", "=", key).execute();
}
