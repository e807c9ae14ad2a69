import { isVagueIn } from "../../fold/step.ts";
import { advance } from "../../fold/totals.ts";
import type { Totals } from "../../model/location.ts";
import { alertMembers } from "../../model/location-json.ts";
import { alarmsIn } from "../../model/observation.ts";
import type { JsonPiece, PositionPlace, RenderAsk, RenderedPage, Unreadable } from "../../ports/positions.ts";
import { LocationRenderer, ReadingRenderer, type Shown } from "./location-bytes.ts";
import type { WholeRecord } from "./record-view.ts";
import type { ByteSink } from "./sink.ts";

/**
 * A piece is handed on when it is so long, bytes: large enough that this costs nothing, small enough for a socket's
 * buffer.
 */
const pieceBytes = 96 * 1024;
const fewBytes = 64 * 1024;

/** What one page takes at most: records that are folded, written or not, and bytes of JSON. */
export interface PageSize {
  readonly records: number;
  readonly bytes: number;
}

/**
 * The record that was written last, at which rules found something: that shows if no other record of its moment
 * follows.
 */
interface Pending {
  readonly time: number;
  readonly members: string;
  /** The bytes that these members take the place of. */
  readonly start: number;
  readonly end: number;
}

/** Folds a page's records, and writes those that are asked for. */
export class RenderedRecords {
  readonly #ask: RenderAsk;
  readonly #size: PageSize;
  readonly #sink: ByteSink;
  readonly #locations: LocationRenderer | undefined;
  readonly #readings = new ReadingRenderer();
  readonly #pieces: (Omit<JsonPiece, "json"> & { readonly start: number; readonly end: number })[] = [];
  #time: number | undefined;
  #totals: Totals;
  #added = 0;
  #written = 0;
  #pending: Pending | undefined;
  /** Of the piece that is being written. */
  #start = 0;
  #inPiece = 0;
  #last: PositionPlace;
  /** The last record, written or not. */
  #lastAdded: PositionPlace;

  /** `sink`: where the JSON is put together. It is the page's own until `page` was called. */
  constructor(ask: RenderAsk, size: PageSize, sink: ByteSink) {
    this.#ask = ask;
    this.#size = size;
    this.#sink = sink;
    sink.length = 0;
    this.#time = ask.fold.time;
    this.#totals = ask.fold.totals;
    this.#last = this.#lastAdded = ask.after ?? ask.behind;
    if (ask.odometerStart !== undefined) this.#locations = new LocationRenderer(ask.odometerStart);
  }

  /** Whether it must be known if another record of the last one's moment follows. */
  get isPending(): boolean {
    return this.#pending !== undefined;
  }

  /** Adds the next record. False: the page is full without it. */
  add(record: WholeRecord, nth: number): boolean {
    const { time } = record;
    this.follows(time);
    if (this.#isFull) return false;
    if (this.#locations !== undefined) this.#fold(record);
    this.#added++;
    this.#lastAdded = { time, nth };
    const { behind } = this.#ask;
    if (time < behind.time || (time === behind.time && nth <= behind.nth)) return true;
    if (this.#locations === undefined) {
      this.#begin();
      this.#readings.render(record, this.#sink);
      this.#end();
    } else if (!record.unlocated) this.#location(this.#locations, record, record, undefined);
    else if (this.#totals.anchor !== undefined) {
      const { anchor } = this.#totals;
      this.#location(this.#locations, record, anchor, anchor.time);
    }
    return true;
  }

  get #isFull(): boolean {
    const { records, bytes } = this.#size;
    return this.#written >= this.#ask.limit || this.#added >= records || this.#sink.length >= bytes;
  }

  #fold(record: WholeRecord): void {
    const { time, valid, latitude, longitude, speed, facts } = record;
    const { ignitionOff, inputsReported, inputsActive } = facts;
    const vague = facts.hasAccuracy && isVagueIn(record.extras);
    const step = {
      time,
      positioned: valid,
      vague,
      latitude,
      longitude,
      speed,
      ignitionOff,
      inputsReported,
      inputsActive,
    };
    this.#totals = advance(this.#totals, this.#time, step);
    this.#time = time;
  }

  #location(
    renderer: LocationRenderer,
    record: WholeRecord,
    at: Omit<Shown, "positionTime">,
    positionTime: number | undefined,
  ) {
    const { latitude, longitude } = at;
    const alarms = record.facts.hasAlarms ? alarmsIn(record.extras) : [];
    this.#begin();
    const alerts = alertMembers(alarms, undefined);
    const place = renderer.render(record, { latitude, longitude, positionTime }, this.#totals, alerts, this.#sink);
    const found = this.#ask.found.get(record.time);
    const members = found && alertMembers(alarms, found);
    if (members !== undefined) this.#pending = { time: record.time, members, ...place };
    this.#end();
  }

  #begin(): void {
    if (this.#sink.length - this.#start >= pieceBytes) this.#cut();
    if (this.#inPiece > 0) this.#sink.byte(0x2c);
  }

  #end(): void {
    this.#inPiece++;
    this.#written++;
    this.#last = this.#lastAdded;
  }

  #cut(): void {
    const end = this.#sink.length;
    if (this.#inPiece > 0) this.#pieces.push({ start: this.#start, end, count: this.#inPiece, last: this.#last });
    this.#start = end;
    this.#inPiece = 0;
  }

  /** What comes behind the last record: one of this event time, or none. */
  follows(time: number | undefined): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.#pending = undefined;
    if (pending.time === time) return;
    const sink = this.#sink;
    const rest = Buffer.from(sink.written.subarray(pending.end));
    sink.length = pending.start;
    sink.text(pending.members);
    sink.append(rest);
  }

  /** Most histories are a few records: their memory is as long as they are. */
  #take(): Uint8Array<ArrayBuffer> {
    const sink = this.#sink;
    if (sink.length < fewBytes) return sink.cut();
    const { spare } = this.#ask;
    return sink.exchange(spare !== undefined && spare.byteLength >= fewBytes ? spare : new ArrayBuffer(fewBytes));
  }

  /** The page. `more`: it is full; otherwise its records were the last, or those before a damaged part. */
  page({
    more = false,
    damage,
  }: {
    readonly more?: boolean;
    readonly damage?: Unreadable | undefined;
  } = {}): RenderedPage {
    this.follows(undefined);
    this.#cut();
    const json = this.#take();
    const pieces = this.#pieces.map(({ start, end, ...piece }) => ({ ...piece, json: json.subarray(start, end) }));
    const fold = { time: this.#time, totals: this.#totals };
    return { pieces, fold, memory: json.buffer, ...(more && { next: this.#lastAdded }), ...(damage && { damage }) };
  }
}
