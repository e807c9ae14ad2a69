/** A batch may take so much longer than the disk needs for any, before it holds up the others; below the second figure there is room for more, ms. */
const longMs = 40;
const shortMs = 20;

/** How small a share may become, for a slow disk that takes its time for anything; how large; and what it is before anything is known. */
interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly first: number;
}

/** Late reports of one batch: each costs many times what one in order does. */
const ofLateReports: Bounds = { least: 16, most: 16_384, first: 256 };

/**
 * How much of something that takes long one batch may hold. Everybody waits for the batch, so whoever sends much of that gets a share of each, which grows and
 * shrinks with what the last ones took.
 */
export class BatchShare {
  readonly #bounds: Bounds;
  #amount: number;
  /** What a batch takes on this disk, however little of it there is. */
  #diskMs = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#amount = bounds.first;
  }

  static ofLateReports(): BatchShare {
    return new BatchShare(ofLateReports);
  }

  /** Bytes of devices that send much at a time, up to so many. */
  static ofBytes(most: number): BatchShare {
    return new BatchShare({ least: most / 32, most, first: most / 4 });
  }

  get amount(): number {
    return this.#amount;
  }

  /** A batch with so much of it took so long. */
  took(amount: number, ms: number): void {
    if (amount === 0) return;
    const { least, most } = this.#bounds;
    this.#diskMs = Math.min(this.#diskMs, ms);
    const own = ms - this.#diskMs;
    if (own > longMs) {
      // The least share rarely takes that long by itself: the disk is slow. If it is the share after all, batches take at most twice as long.
      if (this.#amount === least) this.#diskMs = ms;
      this.#amount = Math.max(least, Math.floor(Math.min(this.#amount, amount) / 2));
    }
    // What waits comes in messages of many reports, so it seldom fills the share: where more than half is used, the next message did not fit.
    else if (own < shortMs && amount > this.#amount / 2) this.#amount = Math.min(most, this.#amount * 2);
  }
}
