import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DeviceKey } from "../../model/device.ts";
import { byPlace, type RecordPlace } from "../../model/location.ts";
import { chunkBytes, chunkRecords } from "../records/batch.ts";
import { RecordCursor } from "../records/record-codec.ts";
import { Shifts } from "../records/shifts.ts";
import { ByteSink } from "../records/sink.ts";
import type { CompactAnswer, CompactRequest, ShiftsLeft } from "./messages.ts";

/** What a chunk has at least where it is one of several: half of its records, or of its bytes. */
const half = 1 / 2;

/** A record on its way into another chunk. */
interface Moving extends RecordPlace {
  readonly at: number;
  /** Bytes. */
  readonly length: number;
  readonly seq: number;
}

/** Puts chunks of a device together, with the shifts that concern them folded into the records; one transaction, the writer's part of it. */
export class Compaction {
  readonly #database: DatabaseSync;
  readonly #chunk: StatementSync;
  readonly #append: StatementSync;
  readonly #remove: StatementSync;
  readonly #shifts: StatementSync;
  readonly #keep: StatementSync;
  readonly #forget: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#chunk = database.prepare("select data from tail where seq = ?");
    this.#append = database.prepare(
      "insert into tail (seq, device, first, last, count, data) values (?, ?, ?, ?, ?, ?)",
    );
    this.#remove = database.prepare("delete from tail where seq = ?");
    this.#shifts = database.prepare("select data from shifts where device = ?");
    this.#keep = database.prepare("update shifts set since = ?, count = ?, data = ? where device = ?");
    this.#forget = database.prepare("delete from shifts where device = ?");
  }

  /** Writes the records of these chunks into new ones. Undefined, and nothing is done: one of them is not there. */
  compact({ device, seqs, seq }: CompactRequest): CompactAnswer | undefined {
    return this.#transaction(() => {
      const packed = new ByteSink(64 * 1024);
      const moving: Moving[] = [];
      for (const old of seqs) {
        const data = this.#chunk.get(old)?.data;
        if (!(data instanceof Uint8Array)) return undefined;
        addRecords(data, old, packed, moving);
      }
      moving.sort(byPlace);
      const shifts = this.#shiftsOf(device);
      const cursor = new RecordCursor(packed.bytes);
      const ends = endsOf(moving);
      const table = new Float64Array(ends.length * 4);
      const sink = new ByteSink(64 * 1024);
      ends.forEach((end, index) => {
        const start = ends[index - 1] ?? 0;
        sink.length = 0;
        for (const { at, seq: from } of moving.slice(start, end)) shifts.copy(cursor, at, from, sink);
        const first = moving[start]?.time ?? 0;
        const last = moving[end - 1]?.time ?? 0;
        this.#append.run(seq + index, device, first, last, end - start, sink.bytes.subarray(0, sink.length));
        table.set([first, last, end - start, sink.length], index * 4);
      });
      for (const old of seqs) this.#remove.run(old);
      return { table };
    });
  }

  /** Forgets a device's shifts up to a row number: the chunks that they concern are written anew. What is left. */
  forget(device: DeviceKey, seq: number): ShiftsLeft {
    return this.#transaction(() => {
      const left = this.#shiftsOf(device).after(seq);
      if (left.count === 0) this.#forget.run(device);
      else this.#keep.run(left.since, left.count, left.bytes, device);
      return { count: left.count, since: left.since };
    });
  }

  #shiftsOf(device: DeviceKey): Shifts {
    const data = this.#shifts.get(device)?.data;
    return new Shifts(data instanceof Uint8Array ? data : undefined);
  }

  #transaction<T>(work: () => T): T {
    this.#database.exec("begin immediate");
    try {
      const result = work();
      this.#database.exec("commit");
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("rollback");
      throw error;
    }
  }
}

/** Where each of the new chunks ends: by their records and bytes they are nearly alike, and none is so small that it would be put together with others again. */
function endsOf(moving: readonly Moving[]): readonly number[] {
  const weights = moving.map(({ length }) => Math.max(1 / chunkRecords, length / chunkBytes));
  let left = weights.reduce((sum, weight) => sum + weight, 0);
  const each = left / Math.ceil(left);
  const ends: number[] = [];
  let weight = 0;
  weights.forEach((one, index) => {
    weight += one;
    left -= one;
    if (weight < each || left < half) return;
    ends.push(index + 1);
    weight = 0;
  });
  return weight > 0 ? [...ends, moving.length] : ends;
}

function addRecords(chunk: Uint8Array, seq: number, packed: ByteSink, moving: Moving[]): void {
  const cursor = new RecordCursor(chunk);
  for (let at = 0; at < chunk.byteLength; at = cursor.end) {
    cursor.readKey(at);
    moving.push({ at: packed.length + at, length: cursor.end - at, seq, time: cursor.time, arrival: cursor.arrival });
  }
  packed.append(chunk);
}
