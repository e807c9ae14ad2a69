import type { Clock } from "../ports/clock.ts";

/** So long nothing may be committed while something waits, ms: a slow disk takes a second or two at times, and no tracker waits much longer for its answer. */
const mostStalledMs = 5000;

/** Whether commits go on while there is something to commit. */
export class Progress {
  readonly #clock: Clock;
  /** When what is being committed was begun, or last went on; undefined: nothing waits. */
  #since: number | undefined;
  /** When a read of a history last ended. */
  #readAt = Number.NEGATIVE_INFINITY;
  #asideAt = Number.NEGATIVE_INFINITY;
  #committedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Something waits for a commit. */
  begun(): void {
    this.#since ??= this.#clock.monotonic();
  }

  /** Nothing waits for a commit. */
  idle(): void {
    this.#since = undefined;
  }

  /** A read of a history ended. */
  read(): void {
    this.#readAt = this.#clock.monotonic();
  }

  committed(): void {
    const now = this.#clock.monotonic();
    this.#committedAt = now;
    if (this.#since !== undefined) this.#since = now;
  }

  /** Something was set aside: the rest goes on. */
  setAside(): void {
    const now = this.#clock.monotonic();
    this.#asideAt = now;
    if (this.#since !== undefined) this.#since = now;
  }

  get nothingSinceAside(): boolean {
    return this.#asideAt > this.#committedAt;
  }

  /**
   * Ms without a commit while reports wait for one, or without a read of a history while late reports wait for one, whichever is longer. `unreadSince`: when the
   * read was asked for that late reports have waited for longest.
   */
  stalledMs(unreadSince?: number): number {
    return Math.max(this.#uncommittedMs, this.#unreadMs(unreadSince));
  }

  /** Throws where `stalledMs` is too long. */
  check(unreadSince?: number): void {
    const uncommittedMs = this.#uncommittedMs;
    const unreadMs = this.#unreadMs(unreadSince);
    if (uncommittedMs > mostStalledMs)
      throw new Error(`nothing was committed for ${Math.round(uncommittedMs / 1000)} s though reports wait`);
    if (unreadMs > mostStalledMs)
      throw new Error(`no history was read for ${Math.round(unreadMs / 1000)} s though late reports wait for theirs`);
  }

  get #uncommittedMs(): number {
    return this.#since === undefined ? 0 : this.#clock.monotonic() - this.#since;
  }

  #unreadMs(since: number | undefined): number {
    return since === undefined ? 0 : this.#clock.monotonic() - Math.max(since, this.#readAt);
  }
}
