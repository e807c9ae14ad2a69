import type { TotalsPatch, TotalsShift } from "../../model/commit.ts";
import { shiftedTotals, type Totals } from "../../model/location.ts";
import { RecordCursor, writeRecord } from "./record-codec.ts";
import { ByteSink } from "./sink.ts";

/** Changes the totals of stored records: first each patched record gets its new totals, then every record after the shift's key gets its sums. */
export class Rewriter {
  readonly #patches = new Map<string, Totals>();
  readonly #shift: TotalsShift | undefined;
  readonly #found = new Set<string>();
  readonly #sink = new ByteSink(4096);

  constructor(patches: readonly TotalsPatch[], shift: TotalsShift | undefined) {
    for (const { time, hash, totals } of patches) this.#patches.set(`${time}/${hash}`, totals);
    this.#shift = shift;
  }

  /** Patches whose record was in no chunk so far. */
  get missing(): number {
    return this.#patches.size - this.#found.size;
  }

  /** A chunk's new bytes; undefined where nothing in it changes. */
  rewrite(chunk: Uint8Array): Uint8Array | undefined {
    const cursor = new RecordCursor(chunk);
    const sink = this.#sink;
    sink.length = 0;
    let changed = false;
    for (let at = 0; at < chunk.byteLength; at = cursor.end) {
      cursor.readKey(at);
      const totals = this.#totalsFor(cursor, at);
      if (totals === undefined) sink.copy(chunk, at, cursor.end);
      else {
        changed = true;
        writeRecord(sink, { ...cursor.record(), totals });
      }
    }
    return changed ? sink.cut() : undefined;
  }

  #totalsFor(cursor: RecordCursor, at: number): Totals | undefined {
    const patch = this.#patchFor(cursor);
    const shift = this.#shift !== undefined && isAfter(cursor, this.#shift) ? this.#shift : undefined;
    if (patch === undefined && shift === undefined) return undefined;
    cursor.read(at);
    const totals = patch ?? cursor.record().totals;
    return shift === undefined ? totals : shiftedTotals(totals, shift);
  }

  #patchFor({ time, hash }: RecordCursor): Totals | undefined {
    // A shift alone goes over all later records.
    if (this.#patches.size === 0) return undefined;
    const key = `${time}/${hash}`;
    const patch = this.#patches.get(key);
    if (patch !== undefined) this.#found.add(key);
    return patch;
  }
}

function isAfter(cursor: RecordCursor, shift: TotalsShift): boolean {
  return cursor.time > shift.afterTime || (cursor.time === shift.afterTime && cursor.hash > shift.afterHash);
}
