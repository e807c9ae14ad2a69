import type { Effect } from "../../model/effects.ts";
import { cellsText, putCsq } from "../../wire/radio.ts";
import { Reader } from "../../wire/reader.ts";
import { draft, fixOf, put } from "../../wire/report.ts";
import { type Read, seal } from "./envelope.ts";
import { putEvent } from "./events.ts";
import { putInputs, putOutputs, putVoltages } from "./ports.ts";

/** Times count seconds from 2000-01-01. */
export const epoch2000 = Date.UTC(2000, 0, 1);

/** Bytes of a packet that have the same meaning in every version with fixed packets. */
const packetLength = 52;
/** Version, packet length, number of packets in the tracker's cache. */
const headLength = 8;

/** CCC, fixed binary packets; the answer lets the tracker delete them (T622 GPRS Protocol, 3.45). */
export const readCcc: Read = (frame, envelope, context) => {
  const reader = new Reader(frame, envelope.from, envelope.to);
  if (reader.remaining < headLength) return [{ type: "failure", cause: "malformed" }];
  reader.skip(2);
  const length = reader.u16le();
  reader.skip(4);
  if (length < packetLength) return [{ type: "failure", cause: "unsupported" }];
  const effects: Effect[] = [];
  while (reader.remaining >= packetLength) {
    const at = reader.offset;
    effects.push(readPacket(reader, context.options.model));
    reader.seek(Math.min(at + length, envelope.to));
  }
  const bytes = seal("@@", envelope.mark, envelope.imei, `CCC,${effects.length}`);
  return [...effects, { type: "reply", bytes, when: "stored" }];
};

function readPacket(reader: Reader, model: string | undefined): Effect {
  const report = draft();
  putEvent(report, reader.u8());
  const latitude = reader.i32le() / 1e6;
  const longitude = reader.i32le() / 1e6;
  const time = epoch2000 + reader.u32le() * 1000;
  const valid = reader.u8() === 1;
  put(report, "satellites", reader.u8(), "satelliteCount");
  const signal = reader.u8();
  putCsq(report, "rssi", signal, "gsmSignal");
  const speed = reader.u16le();
  const course = reader.u16le();
  put(report, "hdop", reader.u16le() / 10, "positioningAccuracy");
  const altitude = reader.i16le();
  put(report, "odometer", reader.u32le() / 1000, "mileage");
  report.attributes.runTime = reader.u32le();
  const [mcc, mnc, lac, cellId] = [reader.u16le(), reader.u16le(), reader.u16le(), reader.u16le()];
  const cells = cellId > 0 ? cellsText([{ mcc, mnc, lac, cellId, signal }]) : undefined;
  if (cells !== undefined) report.attributes.cells = cells;
  const ports = reader.u16le();
  putInputs(report, ports >> 8);
  putOutputs(report, ports & 0xff);
  report.attributes.ad1 = reader.u16le();
  putVoltages(report, reader.u16le(), reader.u16le(), model);
  const data = reader.u32le();
  if (data > 0) report.attributes.eventData = data.toString(16).padStart(8, "0");
  return fixOf({ time, valid, latitude, longitude, altitude, speed, course }, report);
}
