import type { RecordView, RecordWalk, WholeRecord } from "./record-view.ts";
import type { ByteSink } from "./sink.ts";

/** Records that are to be merged. */
export interface MergeSource {
  /** Event time of its first record, or an earlier time. */
  readonly first: number;
  /** Called once, when the merge comes to `first`. Undefined: it can't be read. */
  open(): RecordWalk | undefined;
}

/** A walk that stands at a record. */
interface Head {
  readonly walk: RecordWalk;
  readonly rank: number;
}

/**
 * Merges records in the order of event time and drops repeats. Of records of one moment, those of an earlier source
 * come first; within a source, as they stand there. So the sources must be given in the order in which they came. A
 * source is opened when its time comes: a long history takes the memory of what overlaps at one moment.
 */
export class Merge implements RecordView {
  readonly #waiting: { readonly source: MergeSource; readonly rank: number }[];
  /** A heap: the head that comes first stands first. */
  readonly #heads: Head[] = [];
  #present: Head | undefined;
  /** Keys of the present moment's records before the present one. */
  readonly #keys = new Set<number>();
  time = Number.NEGATIVE_INFINITY;
  /** How many records of the present moment were met, with the present one. */
  nth = 0;

  constructor(sources: readonly MergeSource[]) {
    this.#waiting = sources
      .map((source, rank) => ({ source, rank }))
      .sort((one, other) => other.source.first - one.source.first);
  }

  /** Rank of the source that the present record is of: its index. */
  get rank(): number {
    return this.#present?.rank ?? -1;
  }

  /** The present record; undefined before the first and behind the last. */
  get record(): WholeRecord | undefined {
    return this.#present?.walk.record;
  }

  get key(): number {
    return this.#present?.walk.key ?? 0;
  }

  write(sink: ByteSink): void {
    this.#present?.walk.write(sink);
  }

  next(): boolean {
    for (;;) {
      this.#advance();
      this.#openWaiting();
      const head = this.#heads[0];
      if (head === undefined) return false;
      this.#present = head;
      if (this.#isNew(head.walk)) return true;
    }
  }

  /** Moves the present record's walk on. */
  #advance(): void {
    const present = this.#present;
    if (present === undefined) return;
    this.#present = undefined;
    // Most moments have one record, whose key nobody needs.
    const { time } = this;
    if (present.walk.nextTime === time || this.#heads[1]?.walk.time === time || this.#heads[2]?.walk.time === time)
      this.#keys.add(present.walk.key);
    if (present.walk.next()) {
      this.#sinkDown();
      return;
    }
    const last = this.#heads.pop();
    if (last === undefined || last === present) return;
    this.#heads[0] = last;
    this.#sinkDown();
  }

  #openWaiting(): void {
    for (;;) {
      const next = this.#waiting.at(-1);
      const head = this.#heads[0];
      if (next === undefined || (head !== undefined && next.source.first > head.walk.time)) return;
      this.#waiting.pop();
      const walk = next.source.open();
      if (walk?.next()) this.#push({ walk, rank: next.rank });
    }
  }

  /** Whether the record is the first of its moment, or differs from all of its moment that came before. */
  #isNew(walk: RecordWalk): boolean {
    if (walk.time !== this.time) {
      this.time = walk.time;
      this.nth = 1;
      this.#keys.clear();
      return true;
    }
    if (this.#keys.has(walk.key)) return false;
    this.nth++;
    return true;
  }

  #push(head: Head): void {
    const heads = this.#heads;
    let at = heads.length;
    heads.push(head);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = heads[above];
      if (other === undefined || !isBefore(head, other)) break;
      heads[at] = other;
      at = above;
    }
    heads[at] = head;
  }

  #sinkDown(): void {
    const heads = this.#heads;
    const head = heads[0];
    if (head === undefined) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      let other = heads[below];
      if (other === undefined) break;
      const right = heads[below + 1];
      if (right !== undefined && isBefore(right, other)) {
        below++;
        other = right;
      }
      if (!isBefore(other, head)) break;
      heads[at] = other;
      at = below;
    }
    heads[at] = head;
  }
}

function isBefore(one: Head, other: Head): boolean {
  return one.walk.time < other.walk.time || (one.walk.time === other.walk.time && one.rank < other.rank);
}
