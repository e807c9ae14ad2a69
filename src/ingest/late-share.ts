/** Late reports of one commit: the fewest, for a slow disk that takes its time for anything, and the most. */
const fewest = 64;
const most = 16_384;
/** A batch that takes longer holds up the others; one that is faster leaves room for more, ms. */
const longMs = 40;
const shortMs = 20;

/**
 * How many late reports a batch may hold. A late report costs many times what one in order does, and everybody waits for the batch: so a fleet that sends its backlog
 * gets a share of each batch, which grows and shrinks with what the last ones took.
 */
export class LateShare {
  #reports = 1024;

  get reports(): number {
    return this.#reports;
  }

  /** A batch with so many late reports took so long. */
  took(late: number, ms: number): void {
    if (late === 0) return;
    if (ms > longMs) this.#reports = Math.max(fewest, Math.floor(Math.min(this.#reports, late) / 2));
    else if (ms < shortMs && late >= this.#reports) this.#reports = Math.min(most, this.#reports * 2);
  }
}
