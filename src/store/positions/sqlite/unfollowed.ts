/** Rows of the log that are not followed yet, and their bytes: they can't be packed. */
export class UnfollowedRows {
  /** In the order in which they are known, which is nearly always that of their numbers. */
  #rows: { readonly seq: number; readonly bytes: number }[] = [];
  #first = 0;
  /** Rows up to this number are followed. */
  through = 0;
  bytes = 0;

  add(seq: number, bytes: number): void {
    if (seq <= this.through) return;
    this.#rows.push({ seq, bytes });
    this.bytes += bytes;
  }

  followed(through: number): void {
    this.through = Math.max(this.through, through);
    for (; ; this.#first++) {
      const row = this.#rows[this.#first];
      if (row === undefined || row.seq > this.through) break;
      this.bytes -= row.bytes;
    }
    if (2 * this.#first < this.#rows.length) return;
    this.#rows = this.#rows.slice(this.#first);
    this.#first = 0;
  }
}
