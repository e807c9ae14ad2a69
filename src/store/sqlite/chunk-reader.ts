import type { DatabaseSync, StatementSync } from "node:sqlite";
import { contentHashOf, holdsMark } from "../../model/content-hash.ts";
import type { DeviceKey } from "../../model/device.ts";
import { byPlace, type LocationRecord, placeBefore, placeBehind, type RecordPlace } from "../../model/location.ts";
import { LocationRenderer, ReadingRenderer } from "../records/location-bytes.ts";
import { RecordCursor } from "../records/record-codec.ts";
import { Shifts } from "../records/shifts.ts";
import { ByteSink } from "../records/sink.ts";
import {
  type ContextRequest,
  type ContextsAnswer,
  contextOutcome,
  type JsonPiece,
  type MomentAnswer,
  type MomentRequest,
  type ReadRequest,
  type RenderRequest,
} from "./messages.ts";

/** A piece of JSON is handed over when it is this long, bytes: large enough that handing over costs nothing, small enough for a socket's buffer. */
const pieceBytes = 128 * 1024;
/** Size of a piece's buffer: the last record of most pieces fits too. */
const pieceBuffer = pieceBytes + 16 * 1024;

/** Records in their order: offset of each, and the row number of its chunk. */
interface Found {
  readonly cursor: RecordCursor;
  readonly offsets: readonly number[];
  readonly seqs: readonly number[];
}

/** Reads chunks of the tail, merges their records and hands them on as they are or as JSON. */
export class ChunkReader {
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #chunks: StatementSync;
  readonly #shiftsOf: StatementSync;
  /** Kept between calls, so that a long history makes no garbage but the pieces: the chunks of a step one after the other, and its JSON. */
  readonly #packed = new ByteSink(512 * 1024);
  readonly #json = new ByteSink(pieceBuffer);
  /** Of what is in `#packed`: row numbers of the chunks and where each ends, and the shifts of their device. */
  #seqs: number[] = [];
  #ends: number[] = [];
  #shifts = new Shifts(undefined);

  constructor(database: DatabaseSync) {
    this.#begin = database.prepare("begin");
    this.#end = database.prepare("commit");
    // One statement for a step's rows, whatever their number: 1.5 µs a row, a statement for each row takes 4.
    this.#chunks = database.prepare("select seq, data from tail where seq in (select value from json_each(?))", {
      returnArrays: true,
    });
    this.#shiftsOf = database.prepare("select data from shifts where device = ?");
  }

  /** Undefined: one of the chunks is not there any more. */
  history(request: RenderRequest): JsonPiece[] | undefined {
    if (!this.#asOfNow(() => this.#read(request.device, request.seqs))) return undefined;
    const { cursor, offsets, seqs } = this.#find(request, !request.readings);
    const spares = request.spares.filter(({ byteLength }) => byteLength >= pieceBuffer);
    const shifts = this.#shifts;
    const renderer = request.readings ? new ReadingRenderer() : new LocationRenderer(request.odometerStart);
    const json = this.#json;
    const pieces: JsonPiece[] = [];
    let count = 0;
    const cut = (bytes: Uint8Array<ArrayBuffer>) => {
      pieces.push({ json: bytes, count, last: { time: cursor.time, arrival: cursor.arrival } });
      count = 0;
    };
    json.length = 0;
    for (let index = 0; index < offsets.length; index++) {
      cursor.read(offsets[index] ?? 0);
      if (!shifts.none) shifts.addTo(cursor, seqs[index] ?? 0);
      if (count > 0) json.byte(0x2c);
      renderer.render(cursor, json);
      count++;
      if (json.length >= pieceBytes) cut(json.exchange(spares.pop() ?? new ArrayBuffer(pieceBuffer)));
    }
    // Most histories are a few records, and what is left of them is a copy of its own size.
    const spare = spares.pop();
    if (count > 0) cut(spare === undefined ? json.cut() : json.exchange(spare));
    json.shrink(2 * pieceBytes);
    return pieces;
  }

  contexts(requests: readonly ContextRequest[]): ContextsAnswer {
    const sink = new ByteSink(requests.length * 2048);
    const table = new Float64Array(requests.length * 3);
    let at = 0;
    this.#asOfNow(() => {
      for (const request of requests) {
        const complete = this.#read(request.device, request.seqs);
        if (complete) this.#before(request.place, sink);
        table[at++] = sink.length;
        const cut = complete && this.#from(request, sink);
        table[at++] = sink.length;
        table[at++] = complete ? (cut ? contextOutcome.cut : contextOutcome.all) : contextOutcome.missing;
      }
    });
    return { table, bytes: sink.cut() };
  }

  /** Undefined: one of the chunks is not there any more. */
  moment({ device, seqs, time }: MomentRequest): MomentAnswer | undefined {
    return this.#asOfNow(() => {
      if (!this.#read(device, seqs)) return undefined;
      const { cursor, offsets } = this.#find({
        from: time,
        to: time,
        bound: Number.POSITIVE_INFINITY,
        after: undefined,
        limit: Number.POSITIVE_INFINITY,
      });
      const hashes: number[] = [];
      for (const at of offsets) {
        cursor.readKey(at);
        hashes.push(cursor.hash);
        // Earlier versions made hashes in other ways; what they stored has no number, or counts the mark of the tracker's memory.
        if (cursor.arrival === cursor.hash || holdsMark(cursor.bytes, at, cursor.end))
          hashes.push(contentHashOf(this.#record(cursor, at)));
      }
      const newest = new ByteSink(512);
      if (offsets.length > 0) this.#before(placeBehind(time), newest);
      return { hashes: Float64Array.from(hashes), newest: newest.cut() };
    });
  }

  #record(cursor: RecordCursor, at: number): LocationRecord {
    cursor.read(at);
    return cursor.record();
  }

  /** Chunks and shifts must be of the same moment: a commit or a compaction may change both. */
  #asOfNow<T>(read: () => T): T {
    this.#begin.run();
    try {
      return read();
    } finally {
      this.#end.run();
    }
  }

  /** Appends the last record at or before a place. */
  #before(place: RecordPlace, sink: ByteSink): void {
    const cursor = new RecordCursor(this.#packed.bytes);
    let newest = -1;
    let newestSeq = 0;
    let newestPlace = placeBefore(Number.NEGATIVE_INFINITY);
    let chunk = 0;
    for (let at = 0; at < this.#packed.length; at = cursor.end) {
      while (at >= (this.#ends[chunk] ?? Number.POSITIVE_INFINITY)) chunk++;
      cursor.readKey(at);
      if (byPlace(cursor, place) > 0 || byPlace(cursor, newestPlace) < 0) continue;
      newest = at;
      newestSeq = this.#seqs[chunk] ?? 0;
      newestPlace = { time: cursor.time, arrival: cursor.arrival };
    }
    if (newest >= 0) this.#shifts.copy(cursor, newest, newestSeq, sink);
  }

  /** Whether it left some out for their bytes. */
  #from({ place, bound, limit, bytes }: ContextRequest, sink: ByteSink): boolean {
    const start = sink.length;
    const { cursor, offsets, seqs } = this.#find({
      from: place.time,
      to: Number.POSITIVE_INFINITY,
      bound,
      after: place,
      limit,
    });
    for (const [index, at] of offsets.entries()) {
      if (sink.length - start > bytes) return true;
      this.#shifts.copy(cursor, at, seqs[index] ?? 0, sink);
    }
    return false;
  }

  /** `located`: only records with a position. */
  #find({ from, to, bound, after, limit }: Omit<ReadRequest, "device" | "seqs">, located = false): Found {
    const cursor = new RecordCursor(this.#packed.bytes);
    const offsets: number[] = [];
    const seqs: number[] = [];
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
      seqs.push(this.#seqs[chunk] ?? 0);
    }
    const found = { cursor, offsets, seqs };
    if (!sorted) sortByPlace(found);
    if (offsets.length > limit) offsets.length = limit;
    return found;
  }

  /** Puts the chunks one after the other, and finds their shifts. False: one of the chunks is not there any more. */
  #read(device: DeviceKey, seqs: readonly number[]): boolean {
    const packed = this.#packed;
    packed.shrink(4 * 1024 * 1024);
    packed.length = 0;
    this.#seqs = [];
    this.#ends = [];
    const shifts = this.#shiftsOf.get(device)?.data;
    this.#shifts = new Shifts(shifts instanceof Uint8Array ? shifts : undefined);
    for (const row of this.#chunks.all(JSON.stringify(seqs))) {
      const data: unknown = Array.isArray(row) ? row[1] : undefined;
      if (!Array.isArray(row) || !(data instanceof Uint8Array)) continue;
      packed.append(data);
      this.#seqs.push(Number(row[0]));
      this.#ends.push(packed.length);
    }
    return this.#seqs.length === seqs.length;
  }
}

/** Chunks overlap seldom, so that this runs seldom. */
function sortByPlace({ cursor, offsets, seqs }: { cursor: RecordCursor; offsets: number[]; seqs: number[] }): void {
  const keys = offsets.map((at, index) => {
    cursor.readKey(at);
    return { at, seq: seqs[index] ?? 0, time: cursor.time, arrival: cursor.arrival };
  });
  keys.sort(byPlace);
  keys.forEach(({ at, seq }, index) => {
    offsets[index] = at;
    seqs[index] = seq;
  });
}
