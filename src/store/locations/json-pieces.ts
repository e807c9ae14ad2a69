import type { LocationRenderer, ReadingRenderer } from "../records/location-bytes.ts";
import type { RecordView } from "../records/record-view.ts";
import { ByteSink } from "../records/sink.ts";
import type { JsonPiece } from "./calls.ts";

/** A piece of JSON is handed over when it is this long, bytes: large enough that handing over costs nothing, small enough for a socket's buffer. */
const pieceBytes = 128 * 1024;
/** Size of a piece's buffer: the last record of most pieces fits too. */
const pieceBuffer = pieceBytes + 16 * 1024;

/** Renders records and cuts them into pieces of about the same size. One object serves all calls, so that a long history makes no garbage but its pieces. */
export class JsonPieces {
  readonly #json = new ByteSink(pieceBuffer);
  #renderer: LocationRenderer | ReadingRenderer | undefined;
  #spares: ArrayBuffer[] = [];
  #pieces: JsonPiece[] = [];
  /** The place of the last record. */
  #time = 0;
  #arrival = 0;
  #inPiece = 0;
  /** Records since the beginning. */
  count = 0;

  /** `spares`: buffers of pieces that have been read, to be used again. */
  begin(renderer: LocationRenderer | ReadingRenderer, spares: readonly ArrayBuffer[]): void {
    this.#renderer = renderer;
    this.#spares = spares.filter(({ byteLength }) => byteLength >= pieceBuffer);
    this.#pieces = [];
    this.#json.length = 0;
    this.#inPiece = 0;
    this.count = 0;
  }

  /** Adds the record that the cursor has read. */
  add(record: RecordView): void {
    const json = this.#json;
    if (this.#inPiece > 0) json.byte(0x2c);
    this.#renderer?.render(record, json);
    this.#inPiece++;
    this.count++;
    this.#time = record.time;
    this.#arrival = record.arrival;
    if (json.length >= pieceBytes) this.#cut(json.exchange(this.#spares.pop() ?? new ArrayBuffer(pieceBuffer)));
  }

  end(): JsonPiece[] {
    const json = this.#json;
    // Most histories are a few records and have no spare buffer. Their piece is copied into a buffer of its size.
    const spare = this.#spares.pop();
    if (this.#inPiece > 0) this.#cut(spare === undefined ? json.cut() : json.exchange(spare));
    json.shrink(2 * pieceBytes);
    return this.#pieces;
  }

  #cut(json: Uint8Array<ArrayBuffer>): void {
    this.#pieces.push({ json, count: this.#inPiece, last: { time: this.#time, arrival: this.#arrival } });
    this.#inPiece = 0;
  }
}
