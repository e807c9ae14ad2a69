import { setImmediate as nextTurn } from "node:timers/promises";
import { type ExpressionBuilder, type Kysely, type SqlBool, sql } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { NewNotice, Notice, NoticeChannel, NoticeState, NoticeTarget } from "../../model/notice.ts";
import type {
  DayPlaces,
  Due,
  DueAsk,
  DuePlace,
  NoticeBacklog,
  NoticeOutcome,
  NoticeRange,
  NoticeRoom,
  NoticeStore,
  PauseAsk,
} from "../../ports/alert-store.ts";
import type { Page, PageAsk } from "../../ports/pages.ts";
import type { Schema } from "../schema.ts";
import type { NewNoticeRow, NoticeRow } from "../schema-alerts.ts";
import { openTarget, sealTarget } from "../secrets/sealed-rows.ts";
import type { Vault } from "../secrets/vault.ts";
import { Leases, type Owner } from "./leases.ts";
import { passOver, prunePauses } from "./notice-pauses.ts";
import type { CrowdedNotices } from "./notice-room.ts";
import { NoticeSteps, ofDevice, waits } from "./notice-steps.ts";
import { bytesOf, pageByKey } from "./pages.ts";
import type { RunTogether } from "./statement-groups.ts";

/** In the words of its index, as `waits`. */
const hasFinished = sql<SqlBool>`notice.finished_at is not null`;

/**
 * Places of due notices that one question looks at, unless more notices are asked for: a millisecond of the engine's
 * thread.
 */
const placesAtOnce = 1000;

/** Sealed targets that are opened in one turn of the event loop, some 0.1 ms each. */
const openedAtOnce = 32;

/** In place of a target that can't be read. */
const noTarget = { channel: "webhook", url: "", secret: "" } satisfies NoticeTarget;

/** A notice's row with the account of its device. The account is null when the device is gone. */
type RowOfAccount = NoticeRow & { readonly account: number | null };

function noticeOf(row: RowOfAccount, vault: Vault): Notice {
  const target = targetOf(row, vault);
  return {
    key: row.key,
    account: row.account ?? 0,
    id: row.id,
    alertId: row.alert,
    device: row.device,
    target: target ?? noTarget,
    ...(target === undefined && { damaged: row.channel }),
    state: row.state,
    reason: row.reason,
    creation: row.creation,
    dueAt: row.due_at,
    attempts: row.attempts,
    finishedAt: row.finished_at,
    peerId: row.peer_id,
    countedDay: row.counted_day,
  };
}

/** Returns undefined when the target is damaged, or was encrypted with a key that is lost. */
function targetOf({ id, channel, target }: NoticeRow, vault: Vault): NoticeTarget | undefined {
  try {
    const opened = openTarget(target, id, vault);
    return opened.channel === channel ? opened : undefined;
  } catch {
    return undefined;
  }
}

/** The row of a new notice. */
export function noticeRow(notice: NewNotice, vault: Vault): NewNoticeRow {
  return {
    id: notice.id,
    alert: notice.alertId,
    device: notice.device,
    channel: notice.target.channel,
    target: sealTarget(notice.target, notice.id, vault),
    state: notice.state,
    reason: notice.reason,
    creation: notice.creation,
    due_at: notice.dueAt,
    attempts: 0,
    finished_at: notice.state === "suppressed" ? notice.creation : null,
    peer_id: null,
    counted_day: null,
    counted_places: 1,
    resends: 0,
  };
}

/** The account of a notice's device. */
function accountOf(from: ExpressionBuilder<Schema, "notice">) {
  const device = from.selectFrom("device").whereRef("device.key", "=", "notice.device");
  return device.select("device.account").as("account");
}

/** What the outbox is built on beside its tables. */
export interface NoticeParts {
  readonly vault: Vault;
  readonly crowded: CrowdedNotices;
  readonly together: RunTogether;
  readonly owner: Owner;
}

/** The outbox. */
export class NoticeRows implements NoticeStore {
  readonly #database: Kysely<Schema>;
  readonly #vault: Vault;
  readonly #crowded: CrowdedNotices;
  readonly #leases: Leases;
  readonly #steps: NoticeSteps;

  constructor(database: Kysely<Schema>, { vault, crowded, together, owner }: NoticeParts) {
    this.#database = database;
    this.#vault = vault;
    this.#crowded = crowded;
    this.#leases = new Leases(database, owner);
    this.#steps = new NoticeSteps(database, together, this.#leases);
  }

  async due(channel: NoticeChannel, now: number, ask: DueAsk): Promise<Due> {
    const { limit, besides, ofAccount } = ask;
    const places = await this.#placesAfter(channel, now, ask);
    const fresh = places.filter(
      ({ key, account }) => besides?.has(key) !== true && (account == null || ofAccount?.(account) !== false),
    );
    const cut = fresh.length > limit;
    const end = (cut ? fresh.slice(0, limit) : places).at(-1);
    const last = end && { dueAt: end.dueAt, key: end.key };
    const keys = fresh.slice(0, limit).map(({ key }) => key);
    const notices = keys.length === 0 ? [] : await this.#readable(keys, now);
    return { notices, last, more: cut || places.length >= placesAtOnce };
  }

  /** From their index alone, unless their accounts are asked for. */
  async #placesAfter(
    channel: NoticeChannel,
    now: number,
    { limit, after, ofAccount }: DueAsk,
  ): Promise<readonly (DuePlace & { readonly account?: number | null | undefined })[]> {
    const places = this.#database
      .selectFrom("notice")
      .select(["key", "due_at as dueAt"])
      .where(waits)
      .where("channel", "=", channel)
      .where("due_at", "<=", now)
      .orderBy("due_at")
      .orderBy("key")
      .limit(Math.max(limit, placesAtOnce))
      .$if(ofAccount !== undefined, (query) => query.select(accountOf));
    if (after === undefined) return places.execute();
    return places.where(sql<SqlBool>`(due_at, key) > (${after.dueAt}, ${after.key})`).execute();
  }

  async #readable(keys: readonly number[], now: number): Promise<readonly Notice[]> {
    const rows = await this.#kept().where(waits).where("key", "in", keys).orderBy("due_at").orderBy("key").execute();
    const notices: Notice[] = [];
    for (const row of rows) {
      if (notices.length % openedAtOnce === openedAtOnce - 1) await nextTurn();
      notices.push(noticeOf(row, this.#vault));
    }
    const unreadable = notices.filter(({ damaged }) => damaged !== undefined).map(({ key }) => key);
    if (unreadable.length > 0) await this.#giveUp(unreadable, now);
    return notices.filter(({ damaged }) => damaged === undefined);
  }

  /** Ends notices whose row is damaged, so that they hold up no others: nobody knows any more where they were to go. */
  async #giveUp(keys: readonly number[], now: number): Promise<void> {
    await this.#database
      .updateTable("notice")
      .set({ state: "failed", reason: "its target is damaged in the database", finished_at: now })
      .where("key", "in", keys)
      .where(waits)
      .execute();
  }

  async nextDue(): Promise<number | undefined> {
    // In the order of their index, so that it ends at the first; `min` would look at every one for its device.
    const row = await this.#database
      .selectFrom("notice")
      .select("due_at")
      .where(waits)
      .where(ofDevice)
      .orderBy("due_at")
      .limit(1)
      .executeTakeFirst();
    return row?.due_at;
  }

  claim(key: number, now: number, places: DayPlaces | undefined, pause?: PauseAsk): ReturnType<NoticeStore["claim"]> {
    return this.#steps.claim(key, now, places, pause);
  }

  passOver(key: number, pause: PauseAsk): Promise<void> {
    return passOver(this.#database, key, pause);
  }

  finish(key: number, outcome: NoticeOutcome, now: number): Promise<"recorded" | "lost"> {
    return this.#steps.finish(key, outcome, now);
  }

  async postpone(keys: readonly number[], dueAt: number): Promise<void> {
    if (keys.length === 0) return;
    await this.#database
      .updateTable("notice")
      .set({ due_at: dueAt })
      .where("key", "in", keys)
      .where("state", "=", "queued")
      .execute();
  }

  async backlog(): Promise<NoticeBacklog> {
    // From their index alone: the reader's one thread read each row for its device and its age, 0.4 s for 300,000, in
    // which no history was read.
    const { queued, first } = await this.#database
      .selectFrom("notice")
      .select(({ fn }) => [fn.countAll<number>().as("queued"), fn.min("key").as("first")])
      .where(waits)
      .executeTakeFirstOrThrow();
    if (first === null) return { queued: 0, oldest: undefined };
    const oldest = await this.#database
      .selectFrom("notice")
      .select("creation")
      .where("key", "=", first)
      .executeTakeFirst();
    return { queued: Number(queued), oldest: oldest?.creation };
  }

  renew(now: number, underWay: readonly number[]): Promise<number> {
    return this.#leases.renew(now, underWay);
  }

  takeUp(): Promise<number> {
    return this.#leases.takeUp();
  }

  async list(device: DeviceKey, { after, limit, states }: NoticeRange): Promise<readonly Notice[]> {
    let found = this.#kept().where("device", "=", device);
    if (after !== undefined) found = found.where("key", "<", after);
    if (states !== undefined) found = found.where("state", "in", states);
    const rows = await found.orderBy("key", "desc").limit(limit).execute();
    return rows.map((row) => noticeOf(row, this.#vault));
  }

  async page(device: DeviceKey, ask: PageAsk, states?: readonly NoticeState[]): Promise<Page<Notice>> {
    let sizes = this.#database
      .selectFrom("notice")
      .select(["key", bytesOf("target", "reason").as("bytes")])
      .where("device", "=", device)
      .where(ofDevice);
    let found = this.#kept().where("device", "=", device);
    if (states !== undefined) {
      sizes = sizes.where("state", "in", states);
      found = found.where("state", "in", states);
    }
    const { rows, more } = await pageByKey(sizes, found, ask, "desc");
    return { rows: rows.map((row) => noticeOf(row, this.#vault)), more };
  }

  async find(device: DeviceKey, id: string): Promise<Notice | undefined> {
    const row = await this.#kept().where("id", "=", id).where("device", "=", device).executeTakeFirst();
    return row && noticeOf(row, this.#vault);
  }

  async resend(key: number, now: number, most: number): Promise<Notice | "open" | "limit"> {
    const row = await this.#database
      .updateTable("notice")
      // The place of a notice that was sent stays taken: it was sent.
      .set((set) => ({
        state: "queued",
        reason: null,
        due_at: now,
        attempts: 0,
        finished_at: null,
        counted_day: null,
        resends: set("resends", "+", 1),
      }))
      .where("key", "=", key)
      .where("resends", "<", most)
      .where(hasFinished)
      .where(ofDevice)
      .returningAll()
      .returning(accountOf)
      .executeTakeFirst();
    if (row !== undefined) return noticeOf(row, this.#vault);
    const kept = this.#kept().where("key", "=", key).where(hasFinished).where("resends", ">=", most);
    return (await kept.executeTakeFirst()) === undefined ? "open" : "limit";
  }

  makeRoom(now: number): Promise<NoticeRoom> {
    return this.#crowded.makeRoom(this.#database, now);
  }

  prunePauses(before: number, limit: number): Promise<number> {
    return prunePauses(this.#database, before, limit);
  }

  async prune(before: number, limit: number): Promise<number> {
    const old = this.#database
      .selectFrom("notice")
      .select("key")
      .where(hasFinished)
      .where("finished_at", "<", before)
      .orderBy("finished_at")
      .limit(limit);
    // Not in the subquery alone, which PostgreSQL does not look at again: a notice that was queued again meanwhile
    // stays.
    const [deleted] = await this.#database.deleteFrom("notice").where("key", "in", old).where(hasFinished).execute();
    return Number(deleted?.numDeletedRows ?? 0n);
  }

  #kept() {
    return this.#database.selectFrom("notice").selectAll("notice").select(accountOf).where(ofDevice);
  }
}
