import type { DeviceChunks } from "./device-chunks.ts";
import type { Most } from "./sizes.ts";

/** The chunks to read next. Only their records before the bound are complete: later chunks have more records from the bound on. */
export interface SweepStep {
  readonly seqs: readonly number[];
  /** Event time before which no later chunk has a record that was not given. Infinite at the end. It never goes back. */
  readonly bound: number;
  /** Bytes of all these chunks, those included that the last step had too and that are read again. */
  readonly bytes: number;
}

/**
 * Goes over a device's chunks in the order of event time, some records at a time. Chunks seldom overlap. A chunk that reaches past the bound is read again in the next step.
 * The step, and the number of chunks that overlap at one moment, bound what is held. The sweep continues by (first, seq), so chunks that are added meanwhile do no harm: those
 * before the place reached are not seen. After chunks were replaced, it looks again for all that reach past the last bound.
 */
export class Sweep {
  readonly #chunks: DeviceChunks;
  #from: number;
  readonly #to: number;
  /** The place of the last chunk that was taken. */
  #first = Number.NEGATIVE_INFINITY;
  #seq = 0;
  /** Chunks that were taken and have records at or after the bound. */
  #open: { readonly seq: number; readonly last: number; readonly bytes: number }[] = [];
  #ended = false;
  /** `DeviceChunks.replaced` when the index was last looked at. */
  #replaced: number;
  /** Event time before which all has been given. */
  #bound: number;

  constructor(chunks: DeviceChunks, from: number, to: number) {
    this.#chunks = chunks;
    this.#from = from;
    this.#to = to;
    this.#bound = from;
    this.#replaced = chunks.replaced;
  }

  /** Begins again at an event time, because a chunk of the last step was gone. */
  again(from: number): void {
    this.#from = from;
    this.#bound = from;
    this.#first = Number.NEGATIVE_INFINITY;
    this.#seq = 0;
    this.#open = [];
    this.#ended = false;
    this.#replaced = this.#chunks.replaced;
  }

  /** Returns the next step, of about `most`, or undefined when there are no more. */
  next(most: Most): SweepStep | undefined {
    if (this.#ended) return undefined;
    const chunks = this.#chunks;
    if (this.#replaced !== chunks.replaced) this.again(this.#bound);
    let [records, bytes] = [0, 0];
    let index = Math.max(chunks.reaching(this.#from), chunks.position(this.#first, this.#seq + 1));
    const more = () => index < chunks.length && chunks.first(index) <= this.#to;
    // Chunks that begin at one moment, or reach over the beginning, are taken together: of a part of them nothing could be given yet, and all would be read again.
    const begun = () => chunks.first(index) <= Math.max(this.#first, this.#from);
    const enough = () => (records >= most.records || bytes >= most.bytes) && !begun();
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
    // After chunks were put together, the next one may begin before the bound of the step before: nothing of what was given may come again.
    const bound = this.#ended ? Number.POSITIVE_INFINITY : Math.max(this.#bound, chunks.first(index));
    this.#open = this.#open.filter(({ last }) => last >= bound);
    this.#bound = bound;
    return seqs.length === 0 ? undefined : { seqs, bound, bytes: read };
  }
}
