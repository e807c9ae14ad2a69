import { lateAfterMs, noAlertMembers } from "../../model/location-json.ts";
import type { RecordCursor } from "./record-codec.ts";
import type { ByteSink } from "./sink.ts";

const dayMs = 86_400_000;
const openBrace = 0x7b;
const twoDigits = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, "0"));
const threeDigits = Array.from({ length: 1000 }, (_, value) => String(value).padStart(3, "0"));

/**
 * Writes packed records as the API's Location, byte for byte what `locationJson` of the model gives (a test proves it),
 * without making a record of each: extras stay bytes, and a day's date is formatted once.
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
  render(cursor: RecordCursor, sink: ByteSink): void {
    const { alerts, extras, end, bytes } = cursor;
    const head = alerts < 0 ? this.#head(cursor) + noAlertMembers : this.#head(cursor);
    // The alert members end where the extras begin, so one copy takes both.
    const from = alerts < 0 ? extras : alerts;
    sink.reserve(head.length + (end - from));
    sink.length += sink.bytes.write(head, sink.length, "latin1");
    bytes.copy(sink.bytes, sink.length, from, end);
    sink.length += end - from;
    const tail = this.#tail(cursor, bytes[end - 1] === openBrace);
    sink.reserve(tail.length);
    sink.length += sink.bytes.write(tail, sink.length, "latin1");
  }

  #head(cursor: RecordCursor): string {
    const { speed, course, inputsKnown } = cursor;
    let json = `{"dateTime":"${this.#events.format(cursor.time)}","latitude":${cursor.latitude},"longitude":${cursor.longitude}`;
    if (speed !== undefined) json += `,"speed":${speed}`;
    if (course !== undefined) json += `,"course":${course}`;
    json += `,"milleage":${Math.round(this.#odometerStart * 1000 + cursor.odometerMm / 1000) / 1000}`;
    json += `,"inactiveSeconds":${Math.max(0, Math.round((cursor.time - cursor.movedAt) / 1000))}`;
    if (inputsKnown !== 0) {
      if (inputsKnown & 1) json += `,"sensorTime1":${Math.round(cursor.sensor1 / 1000)}`;
      if (inputsKnown & 2) json += `,"sensorTime2":${Math.round(cursor.sensor2 / 1000)}`;
      if (inputsKnown & 4) json += `,"sensorTime3":${Math.round(cursor.sensor3 / 1000)}`;
      if (inputsKnown & 8) json += `,"sensorTime4":${Math.round(cursor.sensor4 / 1000)}`;
    }
    return json;
  }

  #tail(cursor: RecordCursor, empty: boolean): string {
    const { positionTime, receivedAt, time } = cursor;
    const late = receivedAt - time > lateAfterMs;
    if (positionTime === undefined && !late) return "}}";
    let members = "";
    if (positionTime !== undefined) members += `,"positionTime":"${this.#events.format(positionTime)}"`;
    if (late) members += `,"receivedAt":"${this.#arrivals.format(receivedAt)}"`;
    return `${empty ? members.slice(1) : members}}}`;
  }
}

/** Formats times that mostly lie on the same day as the one before. */
class DateTimes {
  #day = Number.NaN;
  #date = "";

  /** `new Date(time).toISOString()`. */
  format(time: number): string {
    const day = Math.floor(time / dayMs);
    if (day !== this.#day) {
      if (!Number.isInteger(time) || time < 0) return new Date(time).toISOString();
      this.#day = day;
      this.#date = new Date(time).toISOString().slice(0, -13);
    }
    const ms = time - day * dayMs;
    if (!Number.isInteger(ms)) return new Date(time).toISOString();
    const seconds = (ms / 1000) | 0;
    const minutes = (seconds / 60) | 0;
    const hours = (minutes / 60) | 0;
    const clock = `${twoDigits[hours]}:${twoDigits[minutes - hours * 60]}:${twoDigits[seconds - minutes * 60]}`;
    return `${this.#date}${clock}.${threeDigits[ms - seconds * 1000]}Z`;
  }
}
