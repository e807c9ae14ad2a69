import type { DeviceChunks } from "./chunk-index.ts";

/** What to read next: these rows, of which only records before the bound are in their final order yet. */
export interface SweepStep {
  readonly seqs: readonly number[];
  /** Event time before which no other chunk has a record; infinite at the end. */
  readonly bound: number;
}

/**
 * Goes over a device's chunks in the order of event time, some records at a time. Chunks mostly follow each other; one that reaches past the bound
 * is read again in the next step. What is held is bounded by the step and by how many chunks overlap each other at one moment.
 * It goes on by (first, seq), so chunks that are added meanwhile do no harm: those before the place reached are not seen.
 *
 * This is where sealed blocks will be merged: a block is one more kind of chunk, with a first, a last and a count of its own.
 */
export class Sweep {
  readonly #chunks: DeviceChunks;
  readonly #from: number;
  readonly #to: number;
  /** The place: the last chunk taken. */
  #first = Number.NEGATIVE_INFINITY;
  #seq = 0;
  /** Chunks taken whose last records are still to come. */
  #open: { readonly seq: number; readonly last: number }[] = [];
  #ended = false;

  constructor(chunks: DeviceChunks, from: number, to: number) {
    this.#chunks = chunks;
    this.#from = from;
    this.#to = to;
  }

  /** The next step, of about so many records; undefined: there are no more. */
  next(records: number): SweepStep | undefined {
    if (this.#ended) return undefined;
    const chunks = this.#chunks;
    let taken = 0;
    let index = Math.max(chunks.reaching(this.#from), chunks.position(this.#first, this.#seq + 1));
    for (; index < chunks.length && chunks.first(index) <= this.#to && taken < records; index++) {
      this.#first = chunks.first(index);
      this.#seq = chunks.seq(index);
      if (chunks.last(index) < this.#from) continue;
      this.#open.push({ seq: this.#seq, last: chunks.last(index) });
      taken += chunks.count(index);
    }
    this.#ended = index >= chunks.length || chunks.first(index) > this.#to;
    const seqs = this.#open.map(({ seq }) => seq);
    const bound = this.#ended ? Number.POSITIVE_INFINITY : chunks.first(index);
    this.#open = this.#open.filter(({ last }) => last >= bound);
    return seqs.length === 0 ? undefined : { seqs, bound };
  }
}
