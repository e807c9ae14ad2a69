/** The limits of a share. */
interface Bounds {
  /**
   * A batch that takes longer than this holds up the others, ms; one that takes less than half leaves room for a larger share. The time that the disk needs for any batch does not
   * count; a share may take as long again, for the times of a slow disk vary by more than this.
   */
  readonly longMs: number;
  /** The same while nobody else reports, ms. */
  readonly aloneMs: number;
  readonly least: number;
  /** The least share mostly takes less than this by itself, ms. */
  readonly leastMs: number;
  readonly most: number;
  /** The share before the first batch was measured. */
  readonly first: number;
}

/** Batches in a row that must not be too long before a share grows: reports that are cheap in every other batch must not make it grow for the others. */
const manyShort = 2;

/** Late reports in one batch. Each costs many times as much as a report in order. */
const ofLateReports: Bounds = { longMs: 10, aloneMs: 40, least: 16, leastMs: 10, most: 16_384, first: 256 };

/**
 * The part of a batch that expensive reports may fill. Everybody waits for the batch, so those who send many expensive reports get a share of each batch. The share
 * grows and shrinks with the time that the last batches took.
 */
export class BatchShare {
  readonly #bounds: Bounds;
  #amount: number;
  /** The time that this disk needs for any batch, however small the share. */
  #diskMs = 0;
  /** The batch before was too long. */
  #wasLong = false;
  /** How many batches in succession were not too long. */
  #short = manyShort;
  /** Nobody else waits for the batches. */
  isAlone = false;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#amount = bounds.first;
  }

  static ofLateReports(): BatchShare {
    return new BatchShare(ofLateReports);
  }

  /** Bytes in one batch of the devices that send many at a time. `most`: the bytes of a whole batch. */
  static ofBytes(most: number): BatchShare {
    // Longer, for they cost no more than those of others: smaller batches would only make a fleet's backlog slower.
    return new BatchShare({ longMs: 40, aloneMs: 40, least: most / 32, leastMs: 40, most, first: most / 4 });
  }

  get amount(): number {
    return this.#amount;
  }

  /** Learns from a batch that held nothing of this and took `ms`: the disk needs no more for any batch. Without this, a share that is always used up hides that a slow disk is fast again. */
  othersTook(ms: number): void {
    this.#diskMs = Math.min(this.#diskMs, ms);
  }

  /**
   * Learns from a batch that held this amount and took `ms`. `counted`: the part of the amount that was committed in that time. The rest was postponed. `wrote`: something was
   * written; a batch of repeats tells nothing of the disk.
   */
  took(amount: number, ms: number, counted = amount, wrote = true): void {
    if (counted === 0) return;
    const { longMs, aloneMs, least, leastMs, most } = this.#bounds;
    if (wrote) this.#diskMs = Math.min(this.#diskMs, ms);
    // A share grows only if the whole amount would have fitted into the time.
    const scale = amount / counted;
    // The least share rarely takes this long by itself, so the disk or other reports took the time. If the share is the cause after all, batches take at most twice as long.
    if (wrote && this.#amount === least && (ms - this.#diskMs) * scale >= leastMs) this.#diskMs = ms;
    const own = ms - this.#diskMs;
    const long = Math.max(this.isAlone ? aloneMs : longMs, this.#diskMs);
    // What costs much makes every batch long. A single long batch tells of a disk that stalled or of a processor that others used.
    const wasLong = this.#wasLong;
    this.#wasLong = own >= long;
    this.#short = this.#wasLong ? 0 : this.#short + 1;
    if (wasLong && this.#wasLong) this.#amount = Math.max(least, Math.floor(Math.min(this.#amount, amount) / 2));
    // Waiting reports come in messages of many, which seldom fill the share exactly. A batch that uses more than half of it had no room for the next message.
    else if (this.#short >= manyShort && own * scale < long / 2 && amount > this.#amount / 2)
      this.#amount = Math.min(most, this.#amount * 2);
  }
}
