/** Late reports of one commit: the fewest, for a slow disk that takes its time for anything, and the most. */
const fewest = 64;
const most = 16_384;
/** A batch may take so much longer than the disk needs for any, before it holds up the others; below the second figure there is room for more, ms. */
const longMs = 40;
const shortMs = 20;
/** The most that a disk is believed to need for any batch, ms: with a slower one everybody waits so long that late reports should not add to it. */
const mostDiskMs = 200;

/**
 * How many late reports a batch may hold. A late report costs many times what one in order does, and everybody waits for the batch: so a fleet that sends its backlog
 * gets a share of each batch, which grows and shrinks with what the last ones took.
 */
export class LateShare {
  #reports = 1024;
  /** What a batch takes on this disk, however few late reports it has. */
  #diskMs = 0;

  get reports(): number {
    return this.#reports;
  }

  /** A batch with so many late reports took so long. */
  took(late: number, ms: number): void {
    if (late === 0) return;
    this.#diskMs = Math.min(this.#diskMs, ms);
    const own = ms - this.#diskMs;
    if (own > longMs) {
      // The smallest share rarely takes that long by itself: the disk is slow. If it is the reports after all, batches take at most twice as long.
      if (this.#reports === fewest) this.#diskMs = Math.min(ms, mostDiskMs);
      this.#reports = Math.max(fewest, Math.floor(Math.min(this.#reports, late) / 2));
    } else if (own < shortMs && late >= this.#reports) this.#reports = Math.min(most, this.#reports * 2);
  }
}
