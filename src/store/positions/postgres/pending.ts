import type { DeviceKey } from "../../../model/device.ts";
import type { UnfollowedSpan } from "../../../model/follow.ts";
import type { Unfollowed } from "../../../ports/positions.ts";
import { bucketCount, bucketOf, type Processes } from "../../../ports/processes.ts";

/** This process, and what it follows. */
export type Follows = Pick<Processes, "name" | "follows">;

/** Asks the database, and tries again what met another transaction. */
export type Ask = <R extends object>(text: string, values: readonly unknown[]) => Promise<readonly R[]>;

/** Rows that are taken at a time. */
const rowsAtOnce = 2000;
/** A row of a commit and a share as one number. */
const rowOf = (commit: number, bucket: number) => commit * bucketCount + bucket;
const row = `commit * ${bucketCount} + bucket`;

const take = (which: string) => `
  with found as (select bucket, commit from position_pending where bucket = any($2::int[]) and ${which} order by commit limit ${rowsAtOnce})
  update position_pending as pending set holder = $1 from found where pending.bucket = found.bucket and pending.commit = found.commit
  returning pending.bucket::int as bucket, pending.commit::float8 as commit, devices::text as devices, first::text as first, last::text as last`;
const takeNew = take("holder is null");
/** What others left, and what this process was never told of because an answer was lost. */
const takeAll = take(`(holder is distinct from $1 or not ${row} = any($3::bigint[]))`);

const spans = `
  select device::float8 as device, min(span.first) as "from", max(span.last) as "to"
  from position_pending, unnest(devices, position_pending.first, position_pending.last) as span (device, first, last)
  where bucket = any($1::int[]) and devices && $2::bigint[] and device = any($2::bigint[]) group by 1`;

interface PendingRow {
  readonly bucket: number;
  readonly commit: number;
  /** Arrays as the server writes them. */
  readonly devices: string;
  readonly first: string;
  readonly last: string;
}

/**
 * Rows of `position_pending`: this process's places, and the rows behind each, which it deletes when they are followed.
 */
export class PendingRows {
  readonly #processes: Follows;
  readonly #ask: Ask;
  /** The last place. */
  place = 0;
  /** Rows behind places that are not followed, in the order of the places. */
  readonly #behind = new Map<number, readonly number[]>();
  /** Followed, and to be deleted. */
  #done = new Set<number>();

  constructor(processes: Follows, ask: Ask) {
    this.#processes = processes;
    this.#ask = ask;
  }

  get holder(): string {
    return this.#processes.name;
  }

  /** Shares of these devices that this process follows. */
  bucketsOf(devices: readonly DeviceKey[]): readonly number[] {
    return [...new Set(devices.filter((device) => this.#processes.follows(device)).map(bucketOf))];
  }

  #ownBuckets(): readonly number[] {
    return this.bucketsOf(Array.from({ length: bucketCount }, (_, bucket) => bucket));
  }

  /** The place of a commit that this process appended. It noted itself as the holder in these shares. */
  async appended(commit: number, buckets: readonly number[]): Promise<number> {
    for (let kept = buckets; ; ) {
      const own = this.#ownBuckets();
      const left = kept.filter((bucket) => !own.includes(bucket));
      if (left.length === 0) return this.#add(kept.map((bucket) => rowOf(commit, bucket)));
      kept = kept.filter((bucket) => own.includes(bucket));
      // More shares may be lost meanwhile: nobody here would follow what is noted of them then.
      await this.#release(left.map((bucket) => rowOf(commit, bucket)));
    }
  }

  #add(rows: readonly number[]): number {
    if (rows.length > 0) this.#behind.set(++this.place, rows);
    else this.place++;
    return this.place;
  }

  /** Whoever follows them now looks for them. */
  async #release(rows: readonly number[]): Promise<void> {
    await this.#ask(`update position_pending set holder = null where holder = $1 and ${oneOf("$2")}`, [
      this.holder,
      rows,
    ]);
  }

  /** See `PositionStore.unfollowed`. */
  async *take(how: "all" | "new"): AsyncGenerator<Unfollowed, void, undefined> {
    for (let count = rowsAtOnce; count === rowsAtOnce; ) {
      const buckets = this.#ownBuckets();
      if (buckets.length === 0) return;
      const taken = await this.#ask<PendingRow>(
        how === "new" ? takeNew : takeAll,
        how === "new" ? [this.holder, buckets] : [this.holder, buckets, [...this.#known()]],
      );
      count = taken.length;
      const own = this.#ownBuckets();
      const left = taken.filter(({ bucket }) => !own.includes(bucket));
      if (left.length > 0) await this.#release(left.map(({ commit, bucket }) => rowOf(commit, bucket)));
      // Some may be this process's own, whose appends were answered since the question.
      const known = new Set(taken.length > 0 ? this.#known() : []);
      const kept = taken.filter(({ commit, bucket }) => own.includes(bucket) && !known.has(rowOf(commit, bucket)));
      if (kept.length === 0) continue;
      const place = this.#add(kept.map(({ commit, bucket }) => rowOf(commit, bucket)));
      yield { place, spans: kept.flatMap(spansOf) };
    }
  }

  *#known(): Iterable<number> {
    yield* this.#done;
    for (const rows of this.#behind.values()) yield* rows;
  }

  /** See `PositionStore.pending`. */
  async of(devices: readonly DeviceKey[]): Promise<readonly (Omit<UnfollowedSpan, "device"> | undefined)[]> {
    const found = await this.#ask<UnfollowedSpan>(spans, [[...new Set(devices.map(bucketOf))], devices]);
    const byDevice = new Map(found.map(({ device, from, to }) => [device, { from, to }]));
    return devices.map((device) => byDevice.get(device));
  }

  followed(place: number): void {
    for (const [at, rows] of this.#behind) {
      if (at > place) return;
      this.#behind.delete(at);
      for (const one of rows) this.#done.add(one);
    }
  }

  /** Deletes rows that are followed. */
  async forget(): Promise<void> {
    while (this.#done.size > 0) {
      const some = [...this.#done];
      await this.#ask(`delete from position_pending where holder = $1 and ${oneOf("$2")}`, [this.holder, some]);
      for (const one of some) this.#done.delete(one);
    }
  }

  /** These shares are another process's, and so are their rows, but for those that are followed. */
  left(buckets: readonly number[], areFollowed: boolean): void {
    for (const [at, rows] of this.#behind) {
      const kept = rows.filter((one) => !buckets.includes(one % bucketCount));
      if (areFollowed) for (const one of rows) if (!kept.includes(one)) this.#done.add(one);
      if (kept.length > 0) this.#behind.set(at, kept);
      else this.#behind.delete(at);
    }
  }
}

/** The rows of an array of numbers, by the primary key. */
function oneOf(parameter: string): string {
  return `(bucket, commit) in (select (one % ${bucketCount})::smallint, one / ${bucketCount} from unnest(${parameter}::bigint[]) as one)`;
}

function spansOf({ devices, first, last }: PendingRow): readonly UnfollowedSpan[] {
  const [from, to] = [numbersOf(first), numbersOf(last)];
  return numbersOf(devices).map((device, at) => ({ device, from: from[at] ?? 0, to: to[at] ?? 0 }));
}

function numbersOf(array: string): readonly number[] {
  return array.slice(1, -1).split(",").map(Number);
}
