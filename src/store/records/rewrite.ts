import type { TotalsPatch } from "../../model/commit.ts";
import { withTotals } from "../../model/location.ts";
import { RecordCursor, writeRecord } from "./record-codec.ts";
import type { Shifts } from "./shifts.ts";
import { ByteSink } from "./sink.ts";

/** Bytes of a patch, so that the usual ones need no larger buffer. */
const patchBytes = 96;

/** New totals as bytes, each as a record that has nothing else: thousands of objects would take a third of the writer's heap. */
export function packPatches(patches: readonly TotalsPatch[]): Uint8Array<ArrayBuffer> {
  const sink = new ByteSink(patches.length * patchBytes);
  for (const { time, hash, totals } of patches)
    writeRecord(sink, {
      time,
      arrival: hash,
      hash,
      receivedAt: time,
      valid: false,
      latitude: 0,
      longitude: 0,
      extras: "",
      totals,
    });
  return sink.cut();
}

/** Gives stored records new totals, without the shifts that readers add. */
export class Rewriter {
  /** Where each record's new totals are. */
  readonly #patches = new Map<string, number>();
  readonly #totals: RecordCursor;
  readonly #shifts: Shifts;
  readonly #found = new Set<string>();
  readonly #sink = new ByteSink(4096);

  /** `patches` as `packPatches` made them. */
  constructor(patches: Uint8Array, shifts: Shifts) {
    this.#totals = new RecordCursor(patches);
    const cursor = this.#totals;
    for (let at = 0; at < patches.byteLength; at = cursor.end) {
      cursor.readKey(at);
      this.#patches.set(`${cursor.time}/${cursor.hash}`, at);
    }
    this.#shifts = shifts;
  }

  /** Patches whose record was in no chunk so far. */
  get missing(): number {
    return this.#patches.size - this.#found.size;
  }

  /** Returns the new bytes of a chunk, or undefined when nothing in it changes. */
  rewrite(chunk: Uint8Array, seq: number): Uint8Array | undefined {
    const cursor = new RecordCursor(chunk);
    const shifts = this.#shifts.of({ asOf: seq, first: Number.NEGATIVE_INFINITY, last: Number.POSITIVE_INFINITY });
    const sink = this.#sink;
    sink.length = 0;
    let changed = false;
    for (let at = 0; at < chunk.byteLength; at = cursor.end) {
      cursor.readKey(at);
      const key = `${cursor.time}/${cursor.hash}`;
      const patch = this.#patches.get(key);
      if (patch === undefined) sink.copy(cursor.bytes, at, cursor.end);
      else {
        this.#found.add(key);
        changed = true;
        cursor.read(at);
        this.#totals.read(patch);
        const { totals } = this.#totals.record();
        const record = cursor.record();
        writeRecord(sink, withTotals(record, shifts.withoutShifts(totals, cursor)));
      }
    }
    return changed ? sink.cut() : undefined;
  }
}
