import type { DatabaseSync, StatementSync } from "node:sqlite";
import { LocationRenderer } from "../records/location-bytes.ts";
import { RecordCursor } from "../records/record-codec.ts";
import { ByteSink } from "../records/sink.ts";
import type { JsonPiece, ReadRequest } from "./messages.ts";

/** A piece of JSON is handed over when it is this long, bytes: large enough that handing over costs nothing, small enough for a socket's buffer. */
const pieceBytes = 128 * 1024;

/** Offsets of the records asked for, in their order. */
interface Found {
  readonly cursor: RecordCursor;
  readonly offsets: readonly number[];
}

/** Reads chunks of the tail, merges their records and hands them on as they are or as JSON. */
export class ChunkReader {
  readonly #chunks: StatementSync;
  /** Kept between calls, so that a long history makes no garbage but the pieces: the chunks of a step one after the other, and its JSON. */
  readonly #packed = new ByteSink(512 * 1024);
  readonly #json = new ByteSink(pieceBytes + 16 * 1024);

  constructor(database: DatabaseSync) {
    // One statement for a step's rows, whatever their number: 1.5 µs a row, a statement for each row takes 4.
    this.#chunks = database.prepare("select data from tail where seq in (select value from json_each(?))", {
      returnArrays: true,
    });
  }

  history(request: ReadRequest, odometerStart: number): JsonPiece[] {
    const { cursor, offsets } = this.#find(request);
    const renderer = new LocationRenderer(odometerStart);
    const json = this.#json;
    json.length = 0;
    const pieces: JsonPiece[] = [];
    let count = 0;
    for (const at of offsets) {
      cursor.read(at);
      if (count > 0) json.byte(0x2c);
      renderer.render(cursor, json);
      count++;
      if (json.length < pieceBytes) continue;
      pieces.push({ json: json.cut(), count, last: { time: cursor.time, hash: cursor.hash } });
      json.length = 0;
      count = 0;
    }
    if (count > 0) pieces.push({ json: json.cut(), count, last: { time: cursor.time, hash: cursor.hash } });
    json.shrink(2 * pieceBytes);
    return pieces;
  }

  /** The packed records in order. */
  records(request: ReadRequest): Uint8Array<ArrayBuffer> {
    const { cursor, offsets } = this.#find(request);
    const sink = new ByteSink(offsets.length * 256);
    for (const at of offsets) copyRecord(cursor, at, sink);
    return sink.cut();
  }

  newestBefore(seqs: readonly number[], time: number): Uint8Array<ArrayBuffer> {
    const { cursor, offsets } = this.#find({
      seqs,
      from: Number.NEGATIVE_INFINITY,
      to: Number.POSITIVE_INFINITY,
      bound: time,
      after: undefined,
      limit: Number.POSITIVE_INFINITY,
    });
    const sink = new ByteSink(512);
    const newest = offsets.at(-1);
    if (newest !== undefined) copyRecord(cursor, newest, sink);
    return sink.cut();
  }

  #find({ seqs, from, to, bound, after, limit }: ReadRequest): Found {
    this.#read(seqs);
    const cursor = new RecordCursor(this.#packed.bytes);
    const offsets: number[] = [];
    const afterTime = after?.time ?? Number.NEGATIVE_INFINITY;
    let sorted = true;
    let lastTime = Number.NEGATIVE_INFINITY;
    let lastHash = 0;
    for (let at = 0; at < this.#packed.length; at = cursor.end) {
      cursor.readKey(at);
      const { time, hash } = cursor;
      if (time < from || time > to || time >= bound || time < afterTime) continue;
      if (after !== undefined && time === afterTime && hash <= after.hash) continue;
      if (time < lastTime || (time === lastTime && hash < lastHash)) sorted = false;
      lastTime = time;
      lastHash = hash;
      offsets.push(at);
    }
    if (!sorted) sortByKey(cursor, offsets);
    if (offsets.length > limit) offsets.length = limit;
    return { cursor, offsets };
  }

  /** Puts the chunks one after the other: records tell their own length, so which chunk one came from does not matter. */
  #read(seqs: readonly number[]): void {
    const packed = this.#packed;
    packed.shrink(4 * 1024 * 1024);
    packed.length = 0;
    for (const row of this.#chunks.all(JSON.stringify(seqs))) {
      const data: unknown = Array.isArray(row) ? row[0] : undefined;
      if (data instanceof Uint8Array) packed.append(data);
    }
  }
}

/** Chunks overlap seldom, so that this runs seldom. */
function sortByKey(cursor: RecordCursor, offsets: number[]): void {
  const keys = offsets.map((at) => {
    cursor.readKey(at);
    return { at, time: cursor.time, hash: cursor.hash };
  });
  keys.sort((a, b) => a.time - b.time || a.hash - b.hash);
  keys.forEach(({ at }, index) => {
    offsets[index] = at;
  });
}

function copyRecord(cursor: RecordCursor, at: number, sink: ByteSink): void {
  cursor.readKey(at);
  sink.copy(cursor.bytes, at, cursor.end);
}
