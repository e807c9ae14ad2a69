import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { noticeLeaseMs } from "../../ports/alert-store.ts";
import type { Schema } from "../schema.ts";

/** In the words of its index, as `waits`. */
export const isSending = sql<SqlBool>`notice.state = 'sending'`;

/** Who claims rows of this store. */
export interface Owner {
  /** A name that each opening of a store gives itself. */
  readonly name: string;
  /** Whether the run of another `owner` is known to have ended. */
  readonly hasEnded: RawBuilder<SqlBool>;
}

/**
 * Looks at others' claims that are this far apart or less follow each other, ms: after a longer time without the
 * database, everybody may have missed renewals.
 */
const mostApartMs = noticeLeaseMs / 3;

/** What was last seen of an owner. */
interface Seen {
  readonly lease: number;
  /** When it was first seen so, monotonic ms. */
  readonly since: number;
}

/**
 * Claims of notices, which their owners renew. A lease is a number that its owner raises, and no time: clocks of
 * several machines differ, and each may jump. Whoever wants another's claims must have seen again and again that nobody
 * raised it, for as long as a lease lasts by a clock of its own that never goes back.
 */
export class Leases {
  readonly #database: Kysely<Schema>;
  readonly #owner: Owner;
  /** How often this process has renewed its claims. */
  #renewals = 0;
  #others: ReadonlyMap<string, Seen> = new Map();
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(database: Kysely<Schema>, owner: Owner) {
    this.#database = database;
    this.#owner = owner;
  }

  /** What a claim writes. */
  get claim(): { readonly owner: string; readonly lease: number } {
    return { owner: this.#owner.name, lease: this.#renewals };
  }

  /** See `NoticeStore.renew`. */
  async renew(now: number, underWay: readonly number[]): Promise<number> {
    this.#renewals++;
    const { name } = this.#owner;
    if (underWay.length > 0) await this.#raise(underWay);
    // Those that were claimed before the last renewal and are not under way: their claims were not answered.
    let queued = await this.#takeOver(name, this.#renewals - 2);
    for (const [owner, { lease, since }] of await this.#look(now))
      if (now - since >= noticeLeaseMs) queued += await this.#takeOver(owner, lease);
    return queued;
  }

  /** What is seen of others, and since when it has been so. */
  async #look(now: number): Promise<ReadonlyMap<string, Seen>> {
    const leases = await this.#leasesOfOthers();
    const before = now - this.#lookedAt <= mostApartMs ? this.#others : new Map<string, Seen>();
    const seen = new Map<string, Seen>();
    for (const [owner, lease] of leases) {
      const known = before.get(owner);
      seen.set(owner, known?.lease === lease ? known : { lease, since: now });
    }
    this.#others = seen;
    this.#lookedAt = now;
    return seen;
  }

  async #raise(keys: readonly number[]): Promise<void> {
    const { owner, lease } = this.claim;
    const own = this.#database.updateTable("notice").set({ lease }).where("key", "in", keys);
    await own.where(isSending).where("owner", "=", owner).execute();
  }

  /** Everybody else who has claims, with the highest lease of them. They are as many as are sent at a time. */
  async #leasesOfOthers(): Promise<ReadonlyMap<string, number>> {
    const claims = this.#database.selectFrom("notice").select(["owner", "lease"]).where(isSending);
    const leases = new Map<string, number>();
    for (const { owner, lease } of await claims.where("owner", "!=", this.#owner.name).execute())
      leases.set(owner, Math.max(lease, leases.get(owner) ?? lease));
    return leases;
  }

  /** See `NoticeStore.takeUp`. */
  async takeUp(): Promise<number> {
    const others = this.#claimed().where("owner", "!=", this.#owner.name);
    const [updated] = await others.where(this.#owner.hasEnded).execute();
    return Number(updated?.numUpdatedRows ?? 0n);
  }

  /**
   * Each has been due since it was claimed, and keeps its places. What its owner renewed or claimed since that lease
   * was seen stays.
   */
  async #takeOver(owner: string, lease: number): Promise<number> {
    const [updated] = await this.#claimed().where("owner", "=", owner).where("lease", "<=", lease).execute();
    return Number(updated?.numUpdatedRows ?? 0n);
  }

  #claimed() {
    return this.#database.updateTable("notice").set({ state: "queued" }).where(isSending);
  }
}
