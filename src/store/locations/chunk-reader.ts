import { contentHashOf, holdsMark } from "../../model/content-hash.ts";
import { byPlace, type LocationRecord, placeBefore, placeBehind, type RecordPlace } from "../../model/location.ts";
import { type BlockBody, decompressBlock, openBody, unpackBody } from "../blocks/block.ts";
import { appendWindow, type Window, windowOf } from "../blocks/window.ts";
import { checkRecord, wholeRecords } from "../records/chunk-check.ts";
import { LocationRenderer, ReadingRenderer } from "../records/location-bytes.ts";
import { unpackRecords } from "../records/packed-rows.ts";
import { RecordCursor } from "../records/record-codec.ts";
import type { RecordView } from "../records/record-view.ts";
import { type ChunkShifts, noShifts } from "../records/shifts.ts";
import { ByteSink } from "../records/sink.ts";
import type { BlockCache } from "./block-cache.ts";
import {
  type ContextNumbers,
  type ContextRequest,
  contextOutcome,
  type JsonPiece,
  type MomentAnswer,
  type MomentRequest,
  type ReadRequest,
  type RenderRequest,
} from "./calls.ts";
import { asDamage, type ChunkHead, type ChunkRow, type ChunksFound, toldAsDamaged } from "./chunks.ts";
import { JsonPieces } from "./json-pieces.ts";

/** Records in their order: the offset of each, and the index of its chunk. */
interface Found {
  readonly cursor: RecordCursor;
  readonly offsets: readonly number[];
  readonly chunks: readonly number[];
}

/** Shows the records of a chunk one after the other. */
interface Walk extends RecordView {
  /** Goes to the next record. Returns false when there is none. */
  next(): boolean;
}

/** Reads chunks of the tail and blocks, merges their records and hands them on as they are or as JSON. */
export class ChunkReader {
  readonly #cache: BlockCache;
  /** The records of several chunks, one chunk after the other. The buffers are kept between calls, so that a long history makes no garbage but its pieces. */
  readonly #packed = new ByteSink(512 * 1024);
  readonly #window = new ByteSink(64 * 1024);
  readonly #pieces = new JsonPieces();
  /** The chunks in `#packed`, where each ends there, and what is added to its records. */
  #chunks: readonly ChunkRow[] = [];
  #ends: number[] = [];
  #shifts: ChunkShifts[] = [];

  constructor(cache: BlockCache) {
    this.#cache = cache;
  }

  /** Renders a part of a history. `found`: the request's chunks. */
  history(found: ChunksFound, request: RenderRequest): JsonPiece[] {
    const { odometerStart, readings, spares } = request;
    this.#pieces.begin(readings ? new ReadingRenderer() : new LocationRenderer(odometerStart), spares);
    if (follow(found.rows)) this.#renderInOrder(found, request);
    else this.#renderMerged(found, request);
    return this.#pieces.end();
  }

  /** Renders chunks of which each ends before the next begins. */
  #renderInOrder(found: ChunksFound, request: RenderRequest): void {
    const { from, to, bound, limit, after, readings } = request;
    const pieces = this.#pieces;
    for (const row of found.rows) {
      const touched = found.patches.touch(row);
      const shifts = touched ? noShifts : found.shifts.of(row);
      const done = toldAsDamaged(row, () => {
        const walk = touched ? this.#patched(row, found) : this.#open(row);
        while (pieces.count < limit && walk.next()) {
          const { time } = walk;
          if (time > to || time >= bound) return true;
          if (time < from || (after !== undefined && time < after.time)) continue;
          if (after !== undefined && time === after.time && walk.arrival <= after.arrival) continue;
          if (!readings && !walk.isShown) continue;
          if (!shifts.none) shifts.addTo(walk);
          pieces.add(walk);
        }
        return pieces.count >= limit;
      });
      if (done) return;
    }
  }

  /** A walk over a chunk's records with their true totals. */
  #patched(row: ChunkRow, { shifts, patches }: ChunksFound): Walk {
    this.#packed.length = 0;
    patches.copyAll(this.#recordsOf(row), row, shifts, this.#packed);
    return new RecordCursor(this.#packed.written);
  }

  /** A walk over a chunk's records as they are stored. */
  #open(row: ChunkRow): Walk {
    if (!row.sealed) return new RecordCursor(wholeRecords(row));
    return openBody(this.#passing(row));
  }

  /** Renders chunks that overlap each other: their records are put in order first. */
  #renderMerged(found: ChunksFound, request: RenderRequest): void {
    this.#put(found);
    this.#told(() => this.#renderFound(request));
  }

  #renderFound(request: RenderRequest): void {
    const { cursor, offsets, chunks } = this.#find(request, !request.readings);
    for (let index = 0; index < offsets.length; index++) {
      cursor.read(offsets[index] ?? 0);
      const shifts = this.#shifts[chunks[index] ?? 0];
      if (shifts !== undefined && !shifts.none) shifts.addTo(cursor);
      this.#pieces.add(cursor);
    }
  }

  /** Appends what surrounds a place. `found`: the request's chunks. Returns the request's numbers in the table of `ContextsAnswer`. */
  context(found: ChunksFound, request: ContextRequest, sink: ByteSink): ContextNumbers {
    const { place, bound, limit } = request;
    this.#put(found, { from: place.time, bound, most: limit });
    return this.#told(() => {
      this.#before(place, sink);
      const middle = sink.length;
      const { count, cut } = this.#from(request, sink);
      return [middle, sink.length, count, cut ? contextOutcome.cut : contextOutcome.all];
    });
  }

  /** What is stored of a moment. `found`: the request's chunks. */
  moment(found: ChunksFound, { time }: MomentRequest): MomentAnswer {
    this.#put(found, ofMoment(time));
    return this.#told(() => this.#hashesOf(time));
  }

  #hashesOf(time: number): MomentAnswer {
    const all = { after: undefined, bound: Number.POSITIVE_INFINITY, limit: Number.POSITIVE_INFINITY };
    const { cursor, offsets } = this.#find({ from: time, to: time, ...all });
    const hashes: number[] = [];
    for (const at of offsets) {
      cursor.readKey(at);
      hashes.push(cursor.hash);
      // Earlier versions made content keys in other ways. Their records have no arrival number, or have the mark of the tracker's memory.
      if (cursor.arrival === cursor.hash || holdsMark(cursor.bytes, at, cursor.end))
        hashes.push(contentHashOf(recordAt(cursor, at)));
    }
    const newest = new ByteSink(512);
    if (offsets.length > 0) this.#before(placeBehind(time), newest);
    return { hashes: Float64Array.from(hashes), newest: newest.cut() };
  }

  /** Runs `read` over `#packed`. Where records are damaged, the error names the device and the times of all the chunks. */
  #told<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw asDamage(error, spanOf(this.#chunks));
    }
  }

  /** Appends the last record at or before a place. */
  #before(place: RecordPlace, sink: ByteSink): void {
    const cursor = new RecordCursor(this.#packed.bytes);
    let newest = -1;
    let newestChunk = 0;
    let newestPlace = placeBefore(Number.NEGATIVE_INFINITY);
    let chunk = 0;
    for (let at = 0; at < this.#packed.length; at = cursor.end) {
      while (at >= (this.#ends[chunk] ?? Number.POSITIVE_INFINITY)) chunk++;
      cursor.readKey(at);
      if (byPlace(cursor, place) > 0 || byPlace(cursor, newestPlace) < 0) continue;
      newest = at;
      newestChunk = chunk;
      newestPlace = { time: cursor.time, arrival: cursor.arrival };
    }
    if (newest >= 0) this.#copy(cursor, newest, newestChunk, sink);
  }

  /** Appends a record with its true totals. A checksum of a chunk was checked for all of its records; records of older versions have only their own. */
  #copy(cursor: RecordCursor, at: number, chunk: number, sink: ByteSink): void {
    const row = this.#chunks[chunk];
    if (!row?.sealed && !row?.whole) checkRecord(cursor, this.#packed.view, at);
    this.#shifts[chunk]?.copy(cursor, at, sink);
  }

  /** Appends the records after a place and returns how many there are. `cut`: more were left out, because they had too many bytes. */
  #from(
    { place, bound, limit, bytes }: ContextRequest,
    sink: ByteSink,
  ): { readonly count: number; readonly cut: boolean } {
    const start = sink.length;
    const { cursor, offsets, chunks } = this.#find({
      from: place.time,
      to: Number.POSITIVE_INFINITY,
      bound,
      after: place,
      limit,
    });
    for (const [index, at] of offsets.entries()) {
      if (sink.length - start > bytes) return { count: index, cut: true };
      this.#copy(cursor, at, chunks[index] ?? 0, sink);
    }
    return { count: offsets.length, cut: false };
  }

  /** `located`: only records with a position. */
  #find({ from, to, bound, after, limit }: Omit<ReadRequest, "device" | "seqs">, located = false): Found {
    const cursor = new RecordCursor(this.#packed.bytes);
    const offsets: number[] = [];
    const chunks: number[] = [];
    const afterTime = after?.time ?? Number.NEGATIVE_INFINITY;
    let sorted = true;
    let lastTime = Number.NEGATIVE_INFINITY;
    let lastArrival = 0;
    let chunk = 0;
    for (let at = 0; at < this.#packed.length; at = cursor.end) {
      while (at >= (this.#ends[chunk] ?? Number.POSITIVE_INFINITY)) chunk++;
      cursor.readKey(at);
      const { time, arrival } = cursor;
      if (time < from || time > to || time >= bound || time < afterTime) continue;
      if (after !== undefined && time === afterTime && arrival <= after.arrival) continue;
      if (located && !cursor.isLocation(at)) continue;
      if (time < lastTime || (time === lastTime && arrival < lastArrival)) sorted = false;
      lastTime = time;
      lastArrival = arrival;
      offsets.push(at);
      chunks.push(chunk);
    }
    const found = { cursor, offsets, chunks };
    if (!sorted) sortByPlace(found);
    if (offsets.length > limit) offsets.length = limit;
    return found;
  }

  /** Puts the records of chunks into `#packed`. `window`: which records of blocks are wanted. Without a window, all are. */
  #put(found: ChunksFound, window?: Window): void {
    const { rows, shifts, patches } = found;
    const packed = this.#packed;
    packed.shrink(4 * 1024 * 1024);
    packed.length = 0;
    this.#chunks = rows;
    this.#ends = [];
    this.#shifts = [];
    for (const row of rows) {
      const touched = patches.touch(row);
      toldAsDamaged(row, () => {
        const records = window === undefined ? this.#recordsOf(row) : this.#windowOf(row, window);
        if (touched) patches.copyAll(records, row, shifts, packed);
        else packed.append(records);
      });
      this.#shifts.push(touched ? noShifts : shifts.of(row));
      this.#ends.push(packed.length);
    }
  }

  /** The records of a chunk that a window needs, at least. Those of the tail are all there, and where their row has no checksum, each is checked where it is handed on: most are not. */
  #windowOf(row: ChunkRow, window: Window): Uint8Array {
    if (!row.sealed) return unpackRecords(row.data);
    const block = openBody(this.#cache.body(row));
    if (block instanceof RecordCursor) return windowOf(block.bytes, window);
    this.#window.length = 0;
    appendWindow(block, window, this.#window);
    return this.#window.written;
  }

  #recordsOf(row: ChunkRow): Uint8Array {
    return row.sealed ? unpackBody(this.#passing(row), row.bytes) : wholeRecords(row);
  }

  /** Returns a block's body for a history. The cache does not keep it: a long history would take the room of blocks that late reports need. */
  #passing(row: ChunkRow): BlockBody {
    return this.#cache.find(row) ?? decompressBlock(row);
  }
}

function ofMoment(time: number): Window {
  return { from: time, bound: Number.POSITIVE_INFINITY, most: 0 };
}

/** Returns one head that has the times of all these chunks. */
function spanOf(rows: readonly ChunkRow[]): ChunkHead {
  const [{ device, seq, first, asOf } = { device: 0, seq: 0, first: 0, asOf: 0 }] = rows;
  const last = rows.reduce((latest, row) => Math.max(latest, row.last), first);
  return { device, seq, first, last, count: 0, bytes: 0, sealed: false, asOf };
}

/** Whether each of the chunks ends before the next begins, as they mostly do. */
function follow(rows: readonly ChunkRow[]): boolean {
  return rows.every(({ first }, index) => (rows[index - 1]?.last ?? Number.NEGATIVE_INFINITY) < first);
}

function recordAt(cursor: RecordCursor, at: number): LocationRecord {
  cursor.read(at);
  return cursor.record();
}

/** Need not be fast: chunks seldom overlap. */
function sortByPlace({ cursor, offsets, chunks }: { cursor: RecordCursor; offsets: number[]; chunks: number[] }): void {
  const keys = offsets.map((at, index) => {
    cursor.readKey(at);
    return { at, chunk: chunks[index] ?? 0, time: cursor.time, arrival: cursor.arrival };
  });
  keys.sort(byPlace);
  keys.forEach(({ at, chunk }, index) => {
    offsets[index] = at;
    chunks[index] = chunk;
  });
}
