import type { Clock } from "../ports/clock.ts";

/** So long nothing may be committed while something waits, ms: a slow disk takes a second or two at times, and no tracker waits much longer for its answer. */
const mostStalledMs = 5000;

/** Whether commits go on while there is something to commit. */
export class Progress {
  readonly #clock: Clock;
  /** When what is being committed was begun, or last went on; undefined: nothing waits. */
  #since: number | undefined;
  /** Since when late reports wait for their history to be read; undefined: none does. */
  #readingSince: number | undefined;
  #asideAt = Number.NEGATIVE_INFINITY;
  #committedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Something waits for a commit. */
  begun(): void {
    this.#since ??= this.#clock.monotonic();
  }

  /** Nothing does. */
  idle(): void {
    this.#since = undefined;
    this.#readingSince = undefined;
  }

  /** Since when the longest of those that wait for their history waits, if one does. */
  reading(since: number | undefined): void {
    this.#readingSince = since;
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

  /** How long something has waited without any commit, ms. */
  get stalledMs(): number {
    return this.#since === undefined ? 0 : this.#clock.monotonic() - this.#since;
  }

  /** Throws where that is too long, or where a history is not read. */
  check(): void {
    const readingMs = this.#readingSince === undefined ? 0 : this.#clock.monotonic() - this.#readingSince;
    if (readingMs > mostStalledMs)
      throw new Error(`late reports have waited ${Math.round(readingMs / 1000)} s for their history to be read`);
    const ms = this.stalledMs;
    if (ms > mostStalledMs) throw new Error(`nothing was committed for ${Math.round(ms / 1000)} s though reports wait`);
  }
}
