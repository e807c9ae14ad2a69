import { type Totals, withTotals } from "../../model/location.ts";
import { RecordCursor, writeRecord } from "./record-codec.ts";
import type { ShiftedChunk, Shifts } from "./shifts.ts";
import type { ByteSink } from "./sink.ts";

/** New totals of some records, as of a row number. `data`: as `packPatches` made them. */
export interface PatchRow {
  readonly seq: number;
  readonly data: Uint8Array;
}

interface Place {
  readonly row: number;
  readonly at: number;
}

/** New totals that wait beside the chunks of one device, because a commit changes no block. They are few, because the sealer folds them in. */
export class Patches {
  readonly #rows: readonly { readonly seq: number; readonly cursor: RecordCursor }[];
  /** Where each record's newest patch is, by time, then by content key. */
  readonly #places = new Map<number, Map<number, Place>>();

  /** `rows`: in the order in which they were written. */
  constructor(rows: readonly PatchRow[]) {
    this.#rows = rows.map(({ seq, data }) => ({ seq, cursor: new RecordCursor(data) }));
    for (const [row, { cursor }] of this.#rows.entries())
      for (let at = 0; at < cursor.bytes.length; at = cursor.end) {
        cursor.readKey(at);
        const ofTime = this.#places.get(cursor.time) ?? new Map<number, Place>();
        this.#places.set(cursor.time, ofTime.set(cursor.hash, { row, at }));
      }
  }

  /** Whether a patch may concern a record of the chunk. */
  touch({ asOf, first, last }: ShiftedChunk): boolean {
    for (const [time, places] of this.#places)
      if (time >= first && time <= last)
        for (const { row } of places.values()) if ((this.#rows[row]?.seq ?? 0) > asOf) return true;
    return false;
  }

  /** Returns the totals of a record's newest patch and the patch's row number, or undefined when no patch is newer than the chunk. */
  #newest({ time, hash }: RecordCursor, asOf: number): { readonly totals: Totals; readonly seq: number } | undefined {
    const place = this.#places.get(time)?.get(hash);
    const row = place && this.#rows[place.row];
    if (row === undefined || row.seq <= asOf) return undefined;
    row.cursor.read(place?.at ?? 0);
    return { totals: row.cursor.record().totals, seq: row.seq };
  }

  /** Appends a chunk's records with their true totals. `until`: shifts of commits with a higher row number are left out. */
  copyAll(records: Uint8Array, chunk: ShiftedChunk, shifts: Shifts, sink: ByteSink, until?: number): void {
    const cursor = new RecordCursor(records);
    const own = shifts.of(chunk, until);
    for (let at = 0; at < records.byteLength; at = cursor.end) {
      cursor.readKey(at);
      const patch = this.#newest(cursor, chunk.asOf);
      if (patch === undefined) {
        own.copy(cursor, at, sink);
        continue;
      }
      const { time } = cursor;
      const later = shifts.of({ asOf: patch.seq, first: time, last: time }, until);
      const totals = later.withShifts(patch.totals, cursor);
      cursor.read(at);
      writeRecord(sink, withTotals(cursor.record(), totals));
    }
  }
}
