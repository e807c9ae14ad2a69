import type { DatabaseSync, StatementSync } from "node:sqlite";
import { LocationRenderer } from "../records/location-bytes.ts";
import { RecordCursor } from "../records/record-codec.ts";
import { ByteSink } from "../records/sink.ts";
import type { JsonPiece, ReadRequest } from "./messages.ts";

/** A piece of JSON is handed over when it is this long, bytes: large enough that handing over costs nothing, small enough for a socket's buffer. */
const pieceBytes = 128 * 1024;

/** Records of some chunks, found where they lie and put in order. */
interface Found {
  readonly cursors: readonly RecordCursor[];
  /** For each record of `order`: which cursor, and where in its bytes. */
  readonly sources: readonly number[];
  readonly offsets: readonly number[];
  readonly times: readonly number[];
  readonly hashes: readonly number[];
  readonly order: readonly number[];
}

/** Reads chunks of the tail, merges their records and hands them on as they are or as JSON. */
export class ChunkReader {
  readonly #chunks: StatementSync;
  /** Kept between calls, so that a long history makes no garbage but the pieces. */
  readonly #json = new ByteSink(pieceBytes + 16 * 1024);

  constructor(database: DatabaseSync) {
    // One statement for a step's rows, whatever their number: 1.5 µs a row, a statement for each row takes 4.
    this.#chunks = database.prepare("select data from tail where seq in (select value from json_each(?))", {
      returnArrays: true,
    });
  }

  history(request: ReadRequest, odometerStart: number): JsonPiece[] {
    const found = this.#find(request);
    const renderer = new LocationRenderer(odometerStart);
    const json = this.#json;
    json.length = 0;
    const pieces: JsonPiece[] = [];
    let count = 0;
    const end = Math.min(found.order.length, request.limit);
    for (let index = 0; index < end; index++) {
      const record = found.order[index] ?? 0;
      const cursor = found.cursors[found.sources[record] ?? 0];
      if (cursor === undefined) continue;
      cursor.read(found.offsets[record] ?? 0);
      if (count > 0) json.byte(0x2c);
      renderer.render(cursor, json);
      count++;
      if (json.length < pieceBytes && index < end - 1) continue;
      pieces.push({ json: json.cut(), count, last: { time: cursor.time, hash: cursor.hash } });
      json.length = 0;
      count = 0;
    }
    return pieces;
  }

  /** The packed records in order. */
  records(request: ReadRequest): Uint8Array<ArrayBuffer> {
    const found = this.#find(request);
    const sink = new ByteSink(4096);
    for (const record of found.order.slice(0, request.limit)) copyRecord(found, record, sink);
    return sink.cut();
  }

  newestBefore(seqs: readonly number[], time: number): Uint8Array<ArrayBuffer> {
    const found = this.#find({
      seqs,
      from: Number.NEGATIVE_INFINITY,
      to: Number.POSITIVE_INFINITY,
      bound: time,
      after: undefined,
      limit: Number.POSITIVE_INFINITY,
    });
    const sink = new ByteSink(512);
    const newest = found.order.at(-1);
    if (newest !== undefined) copyRecord(found, newest, sink);
    return sink.cut();
  }

  #find({ seqs, from, to, bound, after }: ReadRequest): Found {
    const cursors: RecordCursor[] = [];
    const sources: number[] = [];
    const offsets: number[] = [];
    const times: number[] = [];
    const hashes: number[] = [];
    let sorted = true;
    let lastTime = Number.NEGATIVE_INFINITY;
    let lastHash = 0;
    for (const bytes of this.#read(seqs)) {
      const cursor = new RecordCursor(bytes);
      const source = cursors.push(cursor) - 1;
      for (let at = 0; at < bytes.byteLength; at = cursor.end) {
        cursor.readKey(at);
        const { time, hash } = cursor;
        if (time < from || time > to || time >= bound) continue;
        if (after !== undefined && (time < after.time || (time === after.time && hash <= after.hash))) continue;
        if (time < lastTime || (time === lastTime && hash < lastHash)) sorted = false;
        lastTime = time;
        lastHash = hash;
        sources.push(source);
        offsets.push(at);
        times.push(time);
        hashes.push(hash);
      }
    }
    const order = times.map((_, index) => index);
    if (!sorted) order.sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || (hashes[a] ?? 0) - (hashes[b] ?? 0));
    return { cursors, sources, offsets, times, hashes, order };
  }

  *#read(seqs: readonly number[]): Generator<Uint8Array> {
    for (const row of this.#chunks.all(JSON.stringify(seqs))) {
      const data: unknown = Array.isArray(row) ? row[0] : undefined;
      if (data instanceof Uint8Array) yield data;
    }
  }
}

function copyRecord(found: Found, record: number, sink: ByteSink): void {
  const cursor = found.cursors[found.sources[record] ?? 0];
  const at = found.offsets[record] ?? 0;
  if (cursor === undefined) return;
  cursor.readKey(at);
  sink.copy(cursor.bytes, at, cursor.end);
}
