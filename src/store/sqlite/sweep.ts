import type { DeviceChunks, Most } from "./chunk-index.ts";

/** What to read next: these rows, of which only records before the bound are in their final order yet. */
export interface SweepStep {
  readonly seqs: readonly number[];
  /** Event time before which no other chunk has a record; infinite at the end. */
  readonly bound: number;
  /** Of these rows, also of those that the step before had, too: they are read again. */
  readonly bytes: number;
}

/**
 * Goes over a device's chunks in the order of event time, some records at a time. Chunks mostly follow each other; one that reaches past the bound
 * is read again in the next step. What is held is bounded by the step and by how many chunks overlap each other at one moment.
 * It goes on by (first, seq), so chunks that are added meanwhile do no harm: those before the place reached are not seen. Where chunks were put together
 * meanwhile, it looks again for all that reach past the last bound.
 */
export class Sweep {
  readonly #chunks: DeviceChunks;
  #from: number;
  readonly #to: number;
  /** The place: the last chunk taken. */
  #first = Number.NEGATIVE_INFINITY;
  #seq = 0;
  /** Chunks taken whose last records are still to come. */
  #open: { readonly seq: number; readonly last: number; readonly bytes: number }[] = [];
  #ended = false;
  /** How often the index's chunks had been put together when it was last looked at. */
  #replaced: number;
  /** All before it has been given. */
  #bound: number;

  constructor(chunks: DeviceChunks, from: number, to: number) {
    this.#chunks = chunks;
    this.#from = from;
    this.#to = to;
    this.#bound = from;
    this.#replaced = chunks.replaced;
  }

  /** Begins again at an event time: what was read was not there any more. */
  again(from: number): void {
    this.#from = from;
    this.#bound = from;
    this.#first = Number.NEGATIVE_INFINITY;
    this.#seq = 0;
    this.#open = [];
    this.#ended = false;
    this.#replaced = this.#chunks.replaced;
  }

  /** The next step, of about so much; undefined: there are no more. */
  next(most: Most): SweepStep | undefined {
    if (this.#ended) return undefined;
    const chunks = this.#chunks;
    if (this.#replaced !== chunks.replaced) this.again(this.#bound);
    let [records, bytes] = [0, 0];
    let index = Math.max(chunks.reaching(this.#from), chunks.position(this.#first, this.#seq + 1));
    const more = () => index < chunks.length && chunks.first(index) <= this.#to;
    // Chunks that begin at one moment are taken together: of a part of them nothing could be given yet, and all would be read again.
    const enough = () => (records >= most.records || bytes >= most.bytes) && chunks.first(index) !== this.#first;
    for (; more() && !enough(); index++) {
      this.#first = chunks.first(index);
      this.#seq = chunks.seq(index);
      if (chunks.last(index) < this.#from) continue;
      const open = { seq: this.#seq, last: chunks.last(index), bytes: chunks.bytes(index) };
      this.#open.push(open);
      records += chunks.count(index);
      bytes += open.bytes;
    }
    this.#ended = !more();
    const seqs = this.#open.map(({ seq }) => seq);
    const read = this.#open.reduce((sum, open) => sum + open.bytes, 0);
    const bound = this.#ended ? Number.POSITIVE_INFINITY : chunks.first(index);
    this.#open = this.#open.filter(({ last }) => last >= bound);
    this.#bound = Math.max(this.#bound, bound);
    return seqs.length === 0 ? undefined : { seqs, bound, bytes: read };
  }
}
