import { longestNumber, writeNumber } from "../../model/json-bytes.ts";
import type { Totals } from "../../model/location.ts";
import { lateAfterMs, noAlertMembers, readableExtras } from "../../model/location-json.ts";
import { Piece } from "./piece.ts";
import type { WholeRecord } from "./record-view.ts";
import type { ByteSink } from "./sink.ts";

const dayMs = 86_400_000;
const openBrace = 0x7b;
const comma = 0x2c;
const closeBrace = 0x7d;
const quote = 0x22;
const colon = 0x3a;
const point = 0x2e;
const zero = 0x30;
const utc = 0x5a;

const begin = new Piece('{"dateTime":"');
const latitudeKey = new Piece('","latitude":');
const longitudeKey = new Piece(',"longitude":');
const speedKey = new Piece(',"speed":');
const courseKey = new Piece(',"course":');
const mileageKey = new Piece(',"milleage":');
const inactiveKey = new Piece(',"inactiveSeconds":');
const sensor1Key = new Piece(',"sensorTime1":');
const sensor2Key = new Piece(',"sensorTime2":');
const sensor3Key = new Piece(',"sensorTime3":');
const sensor4Key = new Piece(',"sensorTime4":');
const positionTimeKey = new Piece('"positionTime":"');
const receivedAtKey = new Piece('"receivedAt":"');
const noAlerts = new Piece(noAlertMembers);

/** Length of the longest text of `toISOString`: years of six digits with their sign. */
const longestTime = 27;
/**
 * Bytes to reserve for what a Location has before its alerts and extras, or behind them: keys, ten numbers, three
 * times.
 */
const mostAround = 512 + 10 * longestNumber + 3 * longestTime;

/** Where a record is shown, and when that position was taken if it is an earlier record's. */
export interface Shown {
  readonly latitude: number;
  readonly longitude: number;
  readonly positionTime: number | undefined;
}

/** Bytes of the sink that hold a record's alert members. */
export interface AlertsWritten {
  readonly start: number;
  readonly end: number;
}

/**
 * Writes packed records as the API's Location, byte for byte what `locationJson` of the model gives (a test proves it),
 * without making a record or a string of each: numbers and times are written digit by digit, extras stay bytes.
 */
export class LocationRenderer {
  readonly #odometerStart: number;
  // Events and arrivals often lie on different days, so each remembers its own.
  readonly #events = new DateTimes();
  readonly #arrivals = new DateTimes();

  constructor(odometerStart: number) {
    this.#odometerStart = odometerStart;
  }

  /** Appends a record. `alerts`: its alert members, if it has any. Returns where these are. */
  render(record: WholeRecord, shown: Shown, totals: Totals, alerts: string | undefined, sink: ByteSink): AlertsWritten {
    sink.reserve(mostAround);
    const start = this.#head(record, shown, totals, sink, sink.length);
    sink.length = start;
    if (alerts !== undefined) sink.text(alerts);
    else sink.length = noAlerts.write(sink, start);
    const end = sink.length;
    putExtras(record, sink);
    sink.reserve(mostAround);
    sink.length = this.#tail(record, shown, sink, sink.length);
    return { start, end };
  }

  /** Writes what comes before the alerts. */
  #head(record: WholeRecord, shown: Shown, totals: Totals, sink: ByteSink, start: number): number {
    const { inputsKnown, sensorMs } = totals;
    const { time } = record;
    let at = putMotion(record, shown, sink, this.#events.write(sink, begin.write(sink, start), time));
    const mileage = Math.round(this.#odometerStart * 1000 + totals.odometerMm / 1000) / 1000;
    at = putNumber(sink, at, mileageKey, mileage);
    at = putNumber(sink, at, inactiveKey, Math.max(0, Math.round((time - totals.movedAt) / 1000)));
    if (inputsKnown & 1) at = putNumber(sink, at, sensor1Key, Math.round(sensorMs[0] / 1000));
    if (inputsKnown & 2) at = putNumber(sink, at, sensor2Key, Math.round(sensorMs[1] / 1000));
    if (inputsKnown & 4) at = putNumber(sink, at, sensor3Key, Math.round(sensorMs[2] / 1000));
    if (inputsKnown & 8) at = putNumber(sink, at, sensor4Key, Math.round(sensorMs[3] / 1000));
    return at;
  }

  /** Writes `positionTime` and `receivedAt`, where the Location has them, and the closing braces. */
  #tail(record: WholeRecord, { positionTime }: Shown, sink: ByteSink, start: number): number {
    const at = positionTime === undefined ? start : putTime(sink, start, positionTimeKey, this.#events, positionTime);
    return putTail(this.#arrivals, record, sink, at);
  }
}

/**
 * Writes packed records as the API's Reading, byte for byte what `readingJson` of the model gives: what was reported,
 * and when.
 */
export class ReadingRenderer {
  readonly #events = new DateTimes();
  readonly #arrivals = new DateTimes();

  /** Appends a record. */
  render(record: WholeRecord, sink: ByteSink): void {
    sink.reserve(mostAround);
    const at = this.#events.write(sink, begin.write(sink, sink.length), record.time);
    if (!record.unlocated) sink.length = putMotion(record, record, sink, at);
    else {
      sink.length = at;
      sink.byte(quote);
    }
    putExtras(record, sink);
    sink.reserve(mostAround);
    sink.length = putTail(this.#arrivals, record, sink, sink.length);
  }
}

/** Writes position, speed and course, with the quote that ends the time before them. */
function putMotion(
  { speed, course }: WholeRecord,
  { latitude, longitude }: Pick<Shown, "latitude" | "longitude">,
  sink: ByteSink,
  start: number,
): number {
  let at = putNumber(sink, start, latitudeKey, latitude);
  at = putNumber(sink, at, longitudeKey, longitude);
  if (speed !== undefined && Number.isFinite(speed)) at = putNumber(sink, at, speedKey, speed);
  return course === undefined ? at : putNumber(sink, at, courseKey, course);
}

function putNumber(sink: ByteSink, at: number, key: Piece, value: number): number {
  return writeNumber(sink.bytes, key.write(sink, at), value);
}

/** Appends a record's extras as JSON that can be read. */
function putExtras(record: WholeRecord, sink: ByteSink): void {
  const start = sink.length;
  record.appendExtras(sink);
  if (!record.facts.hasNotFinite) return;
  const readable = readableExtras(sink.bytes.toString("utf8", start, sink.length));
  sink.length = start;
  sink.text(readable);
}

/** Writes `receivedAt` of a late record, and the closing braces. */
function putTail(arrivals: DateTimes, { receivedAt, time }: WholeRecord, sink: ByteSink, start: number): number {
  const at = receivedAt - time > lateAfterMs ? putTime(sink, start, receivedAtKey, arrivals, receivedAt) : start;
  sink.bytes[at] = closeBrace;
  sink.bytes[at + 1] = closeBrace;
  return at + 2;
}

/** Writes a time as one of the attributes. */
function putTime(sink: ByteSink, start: number, key: Piece, times: DateTimes, time: number): number {
  const at = times.write(sink, key.write(sink, putComma(sink.bytes, start)), time);
  sink.bytes[at] = quote;
  return at + 1;
}

/** Writes the comma before a member of the attributes, unless the member is the first one. */
function putComma(bytes: Uint8Array, at: number): number {
  if (bytes[at - 1] === openBrace) return at;
  bytes[at] = comma;
  return at + 1;
}

/** Writes times that mostly lie on the same day as the one before. */
class DateTimes {
  #day = Number.NaN;
  #date = new Piece("");

  /** Writes `new Date(time).toISOString()` and returns where it ends. */
  write(sink: ByteSink, start: number, time: number): number {
    const { bytes } = sink;
    const day = Math.floor(time / dayMs);
    const ms = time - day * dayMs;
    if (time < 0 || !Number.isInteger(ms)) return start + bytes.write(new Date(time).toISOString(), start, "latin1");
    if (day !== this.#day) {
      this.#date = new Piece(new Date(time).toISOString().slice(0, -13));
      this.#day = day;
    }
    const seconds = (ms / 1000) | 0;
    const minutes = (seconds / 60) | 0;
    const hours = (minutes / 60) | 0;
    const rest = ms - seconds * 1000;
    let at = putTwo(bytes, this.#date.write(sink, start), hours);
    bytes[at++] = colon;
    at = putTwo(bytes, at, minutes - hours * 60);
    bytes[at++] = colon;
    at = putTwo(bytes, at, seconds - minutes * 60);
    bytes[at++] = point;
    const hundreds = (rest / 100) | 0;
    bytes[at++] = zero + hundreds;
    at = putTwo(bytes, at, rest - hundreds * 100);
    bytes[at++] = utc;
    return at;
  }
}

function putTwo(bytes: Uint8Array, at: number, value: number): number {
  const tens = (value / 10) | 0;
  bytes[at] = zero + tens;
  bytes[at + 1] = zero + value - tens * 10;
  return at + 2;
}
