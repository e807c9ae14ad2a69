import type { Effect } from "../../model/effects.ts";
import { cellsText } from "../../wire/radio.ts";
import { bcdText, bit, Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, raise, readingsOf } from "../../wire/report.ts";
import { utc } from "../../wire/time.ts";
import { emergencies } from "./codes.ts";
import { readExternal, unescaped } from "./external.ts";
import { decoded, type Handler, malformed, unnamed } from "./session.ts";
import { putAlert, readIo } from "./universal.ts";

/** HDR of the zip reports of ST300 and its kin (ST300/340 Operation Manual, 6-1-2 to 6-7-2). */
export const legacyZip = { status: 0x10, emergency: 0x11, event: 0x12, alert: 0x13, external: 0x16 } as const;
/** First byte of the zip reports of the universal format (Universal Reporting Guide, 1.1, 2.1, 3.1). */
export const universalZip = { status: 0x81, alert: 0x82, keepAlive: 0x83 } as const;

/** STX and PKT_LEN in front, of legacy zip ETX behind. */
const headLength = 3;

/**
 * Year, month, day, hour, minute, second in six bytes; a moment that no calendar has is 0, and the report says what was
 * sent.
 */
function readMoment(report: Draft, reader: Reader): number {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = reader.take(6);
  const time = utc(year, month, day, hour, minute, second);
  if (time !== undefined) return time;
  report.attributes.reportedDate = `${year}-${month}-${day}`;
  report.attributes.reportedTime = `${hour}:${minute}:${second}`;
  return 0;
}

/** A whole number of `size` bytes and a fraction in packed BCD. Undefined: the fraction is none. */
function bcdFraction(reader: Reader, size: number, places: number): number | undefined {
  const whole = size === 1 ? reader.u8() : reader.u16();
  const digits = bcdText(reader.take(places / 2));
  return digits === undefined ? undefined : Number(`${whole}.${digits}`);
}

/** What a type of zip report holds behind I/O. */
type ReadBody = (report: Draft, reader: Reader) => void;

function legacy(readBody: ReadBody): Handler {
  return (frame, session) => {
    const end = Math.min(frame.length, headLength + ((frame[1] ?? 0) << 8) + (frame[2] ?? 0));
    const reader = new Reader(frame, headLength + 1, end);
    // Nine digits, filled with a zero.
    const id = bcdText(reader.take(5))?.slice(0, 9);
    if (id === undefined) return unnamed(session, malformed);
    const product = session.product === "" ? "ST300" : session.product;
    return decoded(session, { id, product }, [readLegacy(reader, readBody)]);
  };
}

function readLegacy(reader: Reader, readBody: ReadBody): Effect {
  const report = draft();
  report.attributes.model = String(reader.u8());
  report.readings.firmware = String(reader.u16() & 0x7fff).padStart(3, "0");
  const time = readMoment(report, reader);
  const lac = reader.u16();
  reader.skip(1);
  const cells = lac > 0 ? cellsText([{ lac }]) : undefined;
  if (cells !== undefined) report.attributes.cells = cells;
  const north = bcdFraction(reader, 1, 6);
  const east = bcdFraction(reader, 1, 6);
  const speed = bcdFraction(reader, 2, 2);
  const course = bcdFraction(reader, 2, 2);
  const flags = reader.u8();
  if (north === undefined || east === undefined) return malformed;
  put(report, "satellites", flags & 0x1f, "satt");
  put(report, "odometer", reader.u32() / 1000, "distance");
  put(report, "externalVoltage", bcdFraction(reader, 1, 2), "powerVoltage");
  readLegacyIo(report, reader.u8());
  readBody(report, reader);
  const latitude = bit(flags, 6) && north !== 0 ? -north : north;
  const longitude = bit(flags, 5) && east !== 0 ? -east : east;
  return fixOf({ time, valid: bit(flags, 7), latitude, longitude, speed, course }, report);
}

function readLegacyIo(report: Draft, io: number): void {
  report.readings.ignition = bit(io, 0);
  report.readings.input1 = bit(io, 1);
  report.readings.input2 = bit(io, 2);
  report.readings.input3 = bit(io, 3);
  report.readings.output1 = bit(io, 4);
  report.readings.output2 = bit(io, 5);
}

/** H_METER, BCK_VOLT, MSG_TYPE: only where HBM is on. */
function readTail(report: Draft, reader: Reader): void {
  if (reader.remaining < 7) return;
  put(report, "engineSeconds", reader.u32() * 60, "hourMeter");
  put(report, "batteryVoltage", bcdFraction(reader, 1, 2), "backupVoltage");
  if (reader.u8() === 0) report.attributes.archive = true;
}

/** Status report, 6-1-2: MODE, MSG_NUM. */
export const zipStatus: Handler = legacy((report, reader) => {
  report.attributes.mode = reader.u8();
  reader.skip(2);
  readTail(report, reader);
});

/** Emergency report, 6-2-2: EMG_ID. */
export const zipEmergency: Handler = legacy((report, reader) => {
  const code = reader.u8();
  raise(report, emergencies.get(code) ?? "general");
  report.attributes.event = code;
  readTail(report, reader);
});

/** Event report, 6-3-2: EVT_ID. */
export const zipEvent: Handler = legacy((report, reader) => {
  report.attributes.event = reader.u8();
  readTail(report, reader);
});

/** Alert report, 6-4-2: ALERT_ID. */
export const zipAlert: Handler = legacy((report, reader) => {
  putAlert(report, reader.u8());
  readTail(report, reader);
});

/** Data of an external device, 6-7-2: LEN, DATA, CHK_SUM. */
export const zipExternal: Handler = legacy((report, reader) => {
  const data = unescaped(reader.take(Math.min(reader.u16(), reader.remaining)));
  const sum = data.reduce((total, byte) => (total + byte) & 0xff, 0);
  if (reader.u8() === sum) readExternal(report, data);
  else report.attributes.externalDamaged = true;
  readTail(report, reader);
});

/** DEV_ID of a universal zip report: ten digits. */
function universalId(frame: Uint8Array): string | undefined {
  return frame.length < headLength + 5 ? undefined : bcdText(frame.subarray(headLength, headLength + 5));
}

/** Sign and size of millionths of a degree. */
function degreesOf(value: number): number {
  const size = (value & 0x7fffffff) / 1_000_000;
  return value > 0x7fffffff && size !== 0 ? -size : size;
}

function universal(isAlert: boolean): Handler {
  return (frame, session) => {
    const id = universalId(frame);
    if (id === undefined) return unnamed(session, malformed);
    return decoded(session, { id, product: "" }, [readUniversal(new Reader(frame, headLength + 5), isAlert)]);
  };
}

function readUniversal(reader: Reader, isAlert: boolean): Effect {
  const report = draft();
  const map = reader.u24();
  if (bit(map, 1)) report.attributes.model = String(reader.u8());
  if (bit(map, 2)) report.readings.firmware = `${reader.u8()}.${reader.u8()}.${reader.u8()}`;
  if (bit(map, 3) && reader.u8() === 0) report.attributes.archive = true;
  const time = bit(map, 4) && bit(map, 5) ? readMoment(report, reader) : undefined;
  readCell(report, reader, map);
  const latitude = bit(map, 11) ? degreesOf(reader.u32()) : undefined;
  const longitude = bit(map, 12) ? degreesOf(reader.u32()) : undefined;
  const speed = bit(map, 13) ? reader.u16() / 100 : undefined;
  const course = bit(map, 14) ? reader.u16() / 100 : undefined;
  if (bit(map, 15)) put(report, "satellites", reader.u8(), "satt");
  const valid = bit(map, 16) && reader.u8() > 0;
  const input = bit(map, 17) ? reader.u8() : undefined;
  readIo(report, input, bit(map, 18) ? reader.u8() : undefined);
  if (isAlert) readAlert(report, reader, map);
  else readStatus(report, reader, map);
  if (reader.remaining > 0) report.attributes.assigned = reader.hex(reader.remaining);
  if (latitude === undefined || longitude === undefined) return readingsOf(report, time);
  return fixOf({ time, valid, latitude, longitude, speed, course }, report);
}

function readCell(report: Draft, reader: Reader, map: number): void {
  const cellId = bit(map, 6) ? reader.u32() : 0;
  const mcc = bit(map, 7) ? reader.u16() : undefined;
  const mnc = bit(map, 8) ? reader.u16() : undefined;
  const lac = bit(map, 9) ? reader.u16() : undefined;
  const signal = bit(map, 10) ? reader.u8() : undefined;
  const text = cellId > 0 ? cellsText([{ mcc, mnc, lac, cellId, signal }]) : undefined;
  if (text !== undefined) report.attributes.cells = text;
}

/** MODE, STT_RPT_TYPE, MSG_NUM. */
function readStatus(report: Draft, reader: Reader, map: number): void {
  if (bit(map, 19)) report.attributes.mode = reader.u8();
  if (bit(map, 20)) report.attributes.event = reader.u8();
  if (bit(map, 21)) reader.skip(Math.min(2, reader.remaining));
}

/** ALERT_ID, ALERT_MOD, ALERT_DATA: of an inserted i-Button its number. */
function readAlert(report: Draft, reader: Reader, map: number): void {
  const code = bit(map, 19) ? reader.u8() : undefined;
  putAlert(report, code);
  if (bit(map, 20)) report.attributes.alertModifier = String(reader.u16());
  if (bit(map, 21) && code === 59 && reader.remaining >= 8) report.readings.driverId = reader.hex(8);
}

/** Status report, 1.1. */
export const universalZipStatus: Handler = universal(false);
/** Alert report, 2.1. */
export const universalZipAlert: Handler = universal(true);

/** A keep-alive holds the identifier alone. */
export const universalZipKeepAlive: Handler = (frame, session) => {
  const id = universalId(frame);
  if (id === undefined) return unnamed(session, malformed);
  return decoded(session, { id, product: "" }, [{ type: "ignored", reason: "keep-alive" }]);
};
