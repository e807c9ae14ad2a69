import type { TotalsPatch } from "../../model/commit.ts";
import { shiftedTotals, type Totals, withTotals } from "../../model/location.ts";
import { RecordCursor, writeRecord } from "./record-codec.ts";
import type { Shifts } from "./shifts.ts";
import { ByteSink } from "./sink.ts";

/** Gives stored records new totals. What shifts will add to them when they are read is taken off before. */
export class Rewriter {
  readonly #patches = new Map<string, Totals>();
  readonly #shifts: Shifts;
  readonly #found = new Set<string>();
  readonly #sink = new ByteSink(4096);

  constructor(patches: readonly TotalsPatch[], shifts: Shifts) {
    for (const { time, hash, totals } of patches) this.#patches.set(`${time}/${hash}`, totals);
    this.#shifts = shifts;
  }

  /** Patches whose record was in no chunk so far. */
  get missing(): number {
    return this.#patches.size - this.#found.size;
  }

  /** New bytes of the chunk with this row number; undefined where nothing in it changes. */
  rewrite(chunk: Uint8Array, seq: number): Uint8Array | undefined {
    const cursor = new RecordCursor(chunk);
    const sink = this.#sink;
    sink.length = 0;
    let changed = false;
    for (let at = 0; at < chunk.byteLength; at = cursor.end) {
      cursor.readKey(at);
      const key = `${cursor.time}/${cursor.hash}`;
      const totals = this.#patches.get(key);
      if (totals === undefined) sink.copy(chunk, at, cursor.end);
      else {
        this.#found.add(key);
        changed = true;
        cursor.read(at);
        const record = cursor.record();
        writeRecord(sink, withTotals(record, without(totals, this.#shifts, cursor, seq)));
      }
    }
    return changed ? sink.cut() : undefined;
  }
}

function without(totals: Totals, shifts: Shifts, cursor: RecordCursor, seq: number): Totals {
  const { odometerMm, sensorMs } = shifts.sumsFor(cursor, seq);
  const [first, second, third, fourth] = sensorMs;
  return shiftedTotals(totals, { odometerMm: -odometerMm, sensorMs: [-first, -second, -third, -fourth] });
}
