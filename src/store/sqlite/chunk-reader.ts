import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DeviceKey } from "../../model/device.ts";
import { LocationRenderer, ReadingRenderer } from "../records/location-bytes.ts";
import { RecordCursor } from "../records/record-codec.ts";
import { Shifts } from "../records/shifts.ts";
import { ByteSink } from "../records/sink.ts";
import type { ContextRequest, ContextsAnswer, JsonPiece, ReadRequest, RenderRequest } from "./messages.ts";

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
      pieces.push({ json: bytes, count, last: { time: cursor.time, hash: cursor.hash } });
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
        if (complete) this.#before(request.time, sink);
        table[at++] = sink.length;
        if (complete) this.#from(request, sink);
        table[at++] = sink.length;
        table[at++] = complete ? 1 : 0;
      }
    });
    return { table, bytes: sink.cut() };
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

  /** Appends the newest record before a moment. */
  #before(time: number, sink: ByteSink): void {
    const cursor = new RecordCursor(this.#packed.bytes);
    let newest = -1;
    let newestSeq = 0;
    let newestTime = Number.NEGATIVE_INFINITY;
    let newestHash = 0;
    let chunk = 0;
    for (let at = 0; at < this.#packed.length; at = cursor.end) {
      while (at >= (this.#ends[chunk] ?? Number.POSITIVE_INFINITY)) chunk++;
      cursor.readKey(at);
      if (cursor.time >= time || cursor.time < newestTime) continue;
      if (cursor.time === newestTime && cursor.hash < newestHash) continue;
      newest = at;
      newestSeq = this.#seqs[chunk] ?? 0;
      newestTime = cursor.time;
      newestHash = cursor.hash;
    }
    if (newest >= 0) this.#shifts.copy(cursor, newest, newestSeq, sink);
  }

  #from({ time, bound, limit }: ContextRequest, sink: ByteSink): void {
    const { cursor, offsets, seqs } = this.#find({
      from: time,
      to: Number.POSITIVE_INFINITY,
      bound,
      after: undefined,
      limit,
    });
    offsets.forEach((at, index) => {
      this.#shifts.copy(cursor, at, seqs[index] ?? 0, sink);
    });
  }

  /** `located`: only records with a position. */
  #find({ from, to, bound, after, limit }: Omit<ReadRequest, "device" | "seqs">, located = false): Found {
    const cursor = new RecordCursor(this.#packed.bytes);
    const offsets: number[] = [];
    const seqs: number[] = [];
    const afterTime = after?.time ?? Number.NEGATIVE_INFINITY;
    let sorted = true;
    let lastTime = Number.NEGATIVE_INFINITY;
    let lastHash = 0;
    let chunk = 0;
    for (let at = 0; at < this.#packed.length; at = cursor.end) {
      while (at >= (this.#ends[chunk] ?? Number.POSITIVE_INFINITY)) chunk++;
      cursor.readKey(at);
      const { time, hash } = cursor;
      if (time < from || time > to || time >= bound || time < afterTime) continue;
      if (after !== undefined && time === afterTime && hash <= after.hash) continue;
      if (located && !cursor.isLocation(at)) continue;
      if (time < lastTime || (time === lastTime && hash < lastHash)) sorted = false;
      lastTime = time;
      lastHash = hash;
      offsets.push(at);
      seqs.push(this.#seqs[chunk] ?? 0);
    }
    const found = { cursor, offsets, seqs };
    if (!sorted) sortByKey(found);
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
function sortByKey({ cursor, offsets, seqs }: { cursor: RecordCursor; offsets: number[]; seqs: number[] }): void {
  const keys = offsets.map((at, index) => {
    cursor.readKey(at);
    return { at, seq: seqs[index] ?? 0, time: cursor.time, hash: cursor.hash };
  });
  keys.sort((a, b) => a.time - b.time || a.hash - b.hash);
  keys.forEach(({ at, seq }, index) => {
    offsets[index] = at;
    seqs[index] = seq;
  });
}
