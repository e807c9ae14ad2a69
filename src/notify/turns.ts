import type { Notice } from "../model/notice.ts";

/**
 * Notices that wait for one target. Their accounts take turns, so that one with many keeps none of another's waiting;
 * those of one account stay in order.
 */
export class Turns {
  /** In the order of their turns; none is empty. */
  readonly #queues = new Map<number, Notice[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** How many accounts have some here. */
  get accountCount(): number {
    return this.#queues.size;
  }

  accounts(): Iterable<number> {
    return this.#queues.keys();
  }

  sizeOf(account: number): number {
    return this.#queues.get(account)?.length ?? 0;
  }

  add(notice: Notice): void {
    const queue = this.#queues.get(notice.account);
    if (queue === undefined) this.#queues.set(notice.account, [notice]);
    else queue.push(notice);
    this.#size++;
  }

  /** The next one, which waits here no longer; its account is the last from now on. */
  take(): Notice | undefined {
    for (const [account, queue] of this.#queues) {
      const notice = queue.shift();
      this.#queues.delete(account);
      if (queue.length > 0) this.#queues.set(account, queue);
      this.#size--;
      return notice;
    }
    return undefined;
  }

  /** Keeps the notices whose turn comes first, at most `most`, and returns the others. */
  keep(most: number): readonly Notice[] {
    if (this.#size <= most) return [];
    const all: Notice[] = [];
    for (let next = this.take(); next !== undefined; next = this.take()) all.push(next);
    for (const notice of all.slice(0, most)) this.add(notice);
    return all.slice(most);
  }
}
