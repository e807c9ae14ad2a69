import { createHash } from "node:crypto";
import type { Kysely, Transaction } from "kysely";
import { type NoticePause, type PauseDecision, passedOver, paused } from "../../model/notice-pause.ts";
import type { PauseAsk } from "../../ports/alert-store.ts";
import type { Schema } from "../schema.ts";
import type { NoticeRow } from "../schema-alerts.ts";
import { written } from "./json-columns.ts";

/** Whether a notice may go out now, and what then becomes of its pause. */
interface AskedPause {
  readonly decision: PauseDecision;
  /** Remembers it, once the notice has its places. */
  keep(): Promise<void>;
  /** There is no place for it: see `passOver`. */
  pass(): Promise<void>;
}

/** Asks the pause of a claimed notice. */
export async function askPause(
  transaction: Transaction<Schema>,
  row: NoticeRow,
  ask: PauseAsk,
  now: number,
): Promise<AskedPause> {
  const subject = hashOf(ask);
  // The row first, so that of two notices of the same subject one waits for the other.
  await transaction
    .insertInto("notice_pause")
    .values({ subject, data: "null", asked_at: now })
    .onConflict((conflict) => conflict.column("subject").doUpdateSet({ asked_at: now }))
    .execute();
  const found = await transaction
    .selectFrom("notice_pause")
    .select("data")
    .where("subject", "=", subject)
    .executeTakeFirstOrThrow();
  const notice = { key: row.key, event: ask.event, time: ask.time, waited: row.reason !== null };
  const before = pauseOf(found.data);
  const { decision, after } = paused(before, notice, now, ask.minutes);
  const write = async (pause: NoticePause) => {
    const data = JSON.stringify(pause);
    await transaction.updateTable("notice_pause").set({ data }).where("subject", "=", subject).execute();
  };
  return {
    decision,
    keep: () => write(after),
    pass: async () => {
      if (before !== undefined) await write(passedOver(before, notice));
    },
  };
}

/** Notes a message that does not go out. If its subject has no row, no message about it waits. */
export function passOver(database: Kysely<Schema>, key: number, { subject, time }: PauseAsk): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    const hash = hashOf({ subject });
    // An update that changes nothing, because it locks the row.
    const found = await transaction
      .updateTable("notice_pause")
      .set((set) => ({ data: set.ref("data") }))
      .where("subject", "=", hash)
      .returning("data")
      .executeTakeFirst();
    const before = found && pauseOf(found.data);
    if (before === undefined) return;
    const data = JSON.stringify(passedOver(before, { key, time }));
    await transaction.updateTable("notice_pause").set({ data }).where("subject", "=", hash).execute();
  });
}

function hashOf({ subject }: Pick<PauseAsk, "subject">): string {
  return createHash("sha256").update(subject).digest("base64url");
}

/** Undefined: there was none, or it is damaged, and the next message goes out. */
function pauseOf(data: string): NoticePause | undefined {
  try {
    return written<NoticePause | null>(data) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Forgets pauses of what was last to be told before then. */
export async function prunePauses(database: Kysely<Schema>, before: number, limit: number): Promise<number> {
  const old = database.selectFrom("notice_pause").select("subject").where("asked_at", "<", before).limit(limit);
  const [deleted] = await database
    .deleteFrom("notice_pause")
    .where("subject", "in", old)
    .where("asked_at", "<", before)
    .execute();
  return Number(deleted?.numDeletedRows ?? 0n);
}
