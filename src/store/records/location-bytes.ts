import { longestNumber, pieceOf, writeNumber } from "../../model/json-bytes.ts";
import { lateAfterMs, noAlertMembers, readableExtras } from "../../model/location-json.ts";
import type { RecordView } from "./record-view.ts";
import type { ByteSink } from "./sink.ts";

const dayMs = 86_400_000;
const openBrace = 0x7b;
const openBracket = 0x5b;
const comma = 0x2c;
const closeBrace = 0x7d;
const quote = 0x22;
const colon = 0x3a;
const point = 0x2e;
const zero = 0x30;
const utc = 0x5a;
const minus = 0x2d;
const letterI = 0x49;
const letterN = 0x4e;

const begin = pieceOf('{"dateTime":"');
const latitudeKey = pieceOf('","latitude":');
const longitudeKey = pieceOf(',"longitude":');
const speedKey = pieceOf(',"speed":');
const courseKey = pieceOf(',"course":');
const mileageKey = pieceOf(',"milleage":');
const inactiveKey = pieceOf(',"inactiveSeconds":');
const sensorKeys = [1, 2, 3, 4].map((input) => pieceOf(`,"sensorTime${input}":`));
const noAlerts = pieceOf(noAlertMembers);
const noKey = pieceOf("");
const positionTimeKey = pieceOf('"positionTime":"');
const receivedAtKey = pieceOf('"receivedAt":"');

/** Longest of what `toISOString` gives: years of six digits with their sign. */
const longestTime = 27;
/** Room for all of a Location but its extras and alerts: keys, ten numbers, three times. */
const mostAround = 512 + 10 * longestNumber + 3 * longestTime;

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

  /** Appends the record that the cursor has read. */
  render(cursor: RecordView, sink: ByteSink): void {
    const { alerts, extras, end } = cursor;
    // The alert members end where the extras begin, so one copy takes both.
    const from = alerts < 0 ? extras : alerts;
    sink.reserve(mostAround + end - from);
    const { bytes } = sink;
    let at = this.#head(cursor, bytes, sink.length);
    if (alerts < 0) at = put(bytes, at, noAlerts);
    at = putExtras(cursor, from, bytes, at);
    sink.length = this.#tail(cursor, bytes, at);
  }

  #head(cursor: RecordView, bytes: Uint8Array, start: number): number {
    const { speed, course, inputsKnown } = cursor;
    let at = this.#events.write(bytes, put(bytes, start, begin), cursor.time);
    at = writeNumber(bytes, put(bytes, at, latitudeKey), cursor.latitude);
    at = writeNumber(bytes, put(bytes, at, longitudeKey), cursor.longitude);
    if (speed !== undefined && Number.isFinite(speed)) at = writeNumber(bytes, put(bytes, at, speedKey), speed);
    if (course !== undefined) at = writeNumber(bytes, put(bytes, at, courseKey), course);
    const mileage = Math.round(this.#odometerStart * 1000 + cursor.odometerMm / 1000) / 1000;
    at = writeNumber(bytes, put(bytes, at, mileageKey), mileage);
    const inactive = Math.max(0, Math.round((cursor.time - cursor.movedAt) / 1000));
    at = writeNumber(bytes, put(bytes, at, inactiveKey), inactive);
    if (inputsKnown & 1) at = putSensor(bytes, at, 0, cursor.sensor1);
    if (inputsKnown & 2) at = putSensor(bytes, at, 1, cursor.sensor2);
    if (inputsKnown & 4) at = putSensor(bytes, at, 2, cursor.sensor3);
    if (inputsKnown & 8) at = putSensor(bytes, at, 3, cursor.sensor4);
    return at;
  }

  /** Attributes that depend on where it is shown and on how it came, and the closing braces. */
  #tail(cursor: RecordView, bytes: Uint8Array, start: number): number {
    const { positionTime } = cursor;
    let at = start;
    if (positionTime !== undefined) {
      at = putComma(bytes, at);
      at = this.#events.write(bytes, put(bytes, at, positionTimeKey), positionTime);
      bytes[at++] = quote;
    }
    return putTail(this.#arrivals, cursor, bytes, at);
  }
}

/** Writes packed records as the API's Reading: what was reported, and when. */
export class ReadingRenderer {
  readonly #events = new DateTimes();
  readonly #arrivals = new DateTimes();

  /** Appends the record that the cursor has read. */
  render(cursor: RecordView, sink: ByteSink): void {
    const { extras, end, speed, course } = cursor;
    sink.reserve(mostAround + end - extras);
    const { bytes } = sink;
    let at = this.#events.write(bytes, put(bytes, sink.length, begin), cursor.time);
    if (cursor.hasOwnPosition) {
      at = writeNumber(bytes, put(bytes, at, latitudeKey), cursor.latitude);
      at = writeNumber(bytes, put(bytes, at, longitudeKey), cursor.longitude);
      if (speed !== undefined && Number.isFinite(speed)) at = writeNumber(bytes, put(bytes, at, speedKey), speed);
      if (course !== undefined) at = writeNumber(bytes, put(bytes, at, courseKey), course);
    } else bytes[at++] = quote;
    sink.length = putTail(this.#arrivals, cursor, bytes, putExtras(cursor, extras, bytes, at));
  }
}

/** Copies a record's bytes from there up to its end: its extras, with the alert members before them or without. */
function putExtras(cursor: RecordView, from: number, bytes: Buffer, start: number): number {
  const { extras, end } = cursor;
  cursor.bytes.copy(bytes, start, from, end);
  const at = start + end - from;
  if (!hasNotFinite(cursor.bytes, extras, end)) return at;
  // What is left out makes the text shorter, so there is room.
  const readable = readableExtras(cursor.bytes.toString("utf8", extras, end));
  const place = at - (end - extras);
  return place + bytes.write(readable, place, "utf8");
}

/** When it came, where it came late, and the closing braces. */
function putTail(arrivals: DateTimes, { receivedAt, time }: RecordView, bytes: Uint8Array, start: number): number {
  let at = start;
  if (receivedAt - time > lateAfterMs) {
    at = putComma(bytes, at);
    at = arrivals.write(bytes, put(bytes, at, receivedAtKey), receivedAt);
    bytes[at++] = quote;
  }
  bytes[at] = closeBrace;
  bytes[at + 1] = closeBrace;
  return at + 2;
}

/** Whether a number that is no JSON stands among the extras' own fields, which end where a list or the attributes begin. */
function hasNotFinite(bytes: Uint8Array, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    const byte = bytes[at];
    if (byte === openBrace || byte === openBracket) return false;
    if (byte !== colon) continue;
    const first = bytes[at + 1];
    if (first === letterI || first === letterN || (first === minus && bytes[at + 2] === letterI)) return true;
  }
  return false;
}

function put(bytes: Uint8Array, at: number, piece: Uint8Array): number {
  bytes.set(piece, at);
  return at + piece.length;
}

function putSensor(bytes: Uint8Array, at: number, input: number, ms: number): number {
  return writeNumber(bytes, put(bytes, at, sensorKeys[input] ?? noKey), Math.round(ms / 1000));
}

/** Between members of the attributes; the first one has none before it. */
function putComma(bytes: Uint8Array, at: number): number {
  if (bytes[at - 1] === openBrace) return at;
  bytes[at] = comma;
  return at + 1;
}

/** Writes times that mostly lie on the same day as the one before. */
class DateTimes {
  #day = Number.NaN;
  #date = pieceOf("");

  /** `new Date(time).toISOString()`; gives where it ends. */
  write(bytes: Uint8Array, start: number, time: number): number {
    const day = Math.floor(time / dayMs);
    const ms = time - day * dayMs;
    if (time < 0 || !Number.isInteger(ms)) return put(bytes, start, pieceOf(new Date(time).toISOString()));
    if (day !== this.#day) {
      this.#date = pieceOf(new Date(time).toISOString().slice(0, -13));
      this.#day = day;
    }
    const seconds = (ms / 1000) | 0;
    const minutes = (seconds / 60) | 0;
    const hours = (minutes / 60) | 0;
    const rest = ms - seconds * 1000;
    let at = putTwo(bytes, put(bytes, start, this.#date), hours);
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
