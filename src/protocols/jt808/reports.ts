import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, MessageRow } from "../../wire/protocol.ts";
import { bit, Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, raise, readingsOf } from "../../wire/report.ts";
import { utc } from "../../wire/time.ts";
import { roundDegrees } from "../../wire/units.ts";
import { type Message, seal, shortBlindReport, shortReport } from "./envelope.ts";
import { readLocation, readTime } from "./location.ts";
import { signedWord } from "./number.ts";
import { type Handler, nameOfSerial, row, type Session, stored } from "./row.ts";
import { readLockEvent } from "./vendor-readers.ts";

/** 0x0200 "Location report". */
const location: Handler = (message, context) => [
  readLocation(message.reader, context, message.version),
  stored(message),
];

/** 0x0201 and 0x0500: the serial number of the command that asked for it, and a location. */
const answered: Handler = ({ reader, version }, context) => {
  const serial = reader.u16();
  const fix = readLocation(reader, context, version);
  return [fix, { type: "commandResult", text: "location", ...nameOfSerial(serial), ok: true }];
};

/**
 * Locations one after the other, each after its length of one or two bytes. The last one may say more than there is:
 * the checksum holds, and the whole message is acknowledged, so its place is read. One without a whole place ends the
 * list.
 */
function readBatch(message: Message, context: DecodeContext, wide: boolean, archive: boolean): readonly Effect[] {
  const { reader, version } = message;
  const effects: Effect[] = [];
  while (reader.remaining > (wide ? 2 : 1)) {
    const length = Math.min(wide ? reader.u16() : reader.u8(), reader.remaining);
    if (length < 28) break;
    effects.push(readLocation(part(reader, length), context, version, archive));
  }
  if (effects.length === 0) effects.push({ type: "ignored", reason: "no locations" });
  effects.push(stored(message));
  return effects;
}

/** A reader of the next bytes only. */
function part(reader: Reader, length: number): Reader {
  const own = new Reader(reader.bytes, reader.offset, reader.offset + length);
  reader.skip(length);
  return own;
}

/** 0x0704 "Bulk location report": number, kind (1: from a place without a network), locations. */
const bulk: Handler = (message, context) => {
  message.reader.skip(2);
  return readBatch(message, context, true, message.reader.u8() > 0);
};

/** 0x0210 of seven bytes: battery and time. */
const battery: Handler = (message, context) => {
  const report = draft();
  put(report, "battery", message.reader.u8(), "batteryLevel");
  return [readingsOf(report, readTime(message.reader, context)), stored(message)];
};

/** Degrees and minutes in BCD: `ddmm.mmmm`, with as many digits of degrees as there are before. */
function degrees(digits: string): number {
  if (!/^\d+$/.test(digits)) return Number.NaN;
  const minutes = Number(digits.slice(-6)) / 10_000;
  return roundDegrees(Number(digits.slice(0, -6)) + minutes / 60);
}

/** Alarm bits of 0x5501 by the kind of product. */
function readShortAlarms(product: number, status: number, alarm: number, report: Draft): void {
  if ((product === 1 || product === 2) && bit(alarm, 0)) raise(report, "lowPower");
  if (product !== 3) return;
  report.readings.blocked = bit(status, 5);
  if (bit(alarm, 0)) raise(report, "overspeed");
  if (bit(alarm, 1)) raise(report, "lowPower");
  if (bit(alarm, 2)) raise(report, "vibration");
  if (bit(alarm, 3)) raise(report, "lowBattery");
  if (bit(alarm, 5)) raise(report, "geofenceEnter");
  if (bit(alarm, 6)) raise(report, "geofenceExit");
}

/** Items of 0x5501; answers the altitude. */
function readShortItems(reader: Reader, report: Draft): number | undefined {
  let altitude: number | undefined;
  while (reader.remaining >= 2) {
    const id = reader.u8();
    const length = reader.u8();
    if (length > reader.remaining) break;
    const next = reader.offset + length;
    if (id === 0x02 && length >= 2) altitude = reader.i16();
    else if (id === 0x10 && length >= 1) report.attributes.wakeSource = reader.u8();
    else if (id === 0x0a && length === 3) report.attributes.network = `${reader.u16()},${reader.u8()}`;
    else if (id === 0x0b && length >= 1) readLockEvent(reader, report, undefined, length);
    else if (id === 0x0c && length >= 6) report.attributes.tilt = `[${reader.i16()},${reader.i16()},${reader.i16()}]`;
    else if (id === 0xfc && length >= 1) report.attributes.geofenceId = reader.u8();
    reader.seek(next);
  }
  return altitude;
}

/**
 * 0x5501 and 0x5502 "Location" of padlocks: UTC and coordinates in BCD, speed in knots. 0x5502 is sent without a fix.
 */
const short: Handler = (message) => {
  const { reader, type } = message;
  const report = draft();
  const date = reader.hex(6).match(/../g)?.map(Number) ?? [];
  const [day = 0, month = 0, year = 0, hour = 0, minute = 0, second = 0] = date;
  const place = reader.hex(9);
  const flags = Number.parseInt(place.slice(-1), 16);
  const speed = Number(reader.hex(1)) * 1.852;
  const course = reader.u8() * 2;
  report.attributes.signalStrength = reader.u8();
  put(report, "satellites", reader.u8(), "gnssSatellites");
  put(report, "odometer", reader.u32(), "mileage");
  const level = reader.u8();
  if (level <= 100) report.readings.battery = level;
  else if (level === 0xaa || level === 0xab) report.readings.charging = true;
  const cellId = reader.u32();
  const lac = reader.u16();
  if (cellId > 0 && lac > 0) report.attributes.cells = `,,${lac},${cellId}`;
  const product = reader.u8();
  const status = reader.u16();
  report.attributes.status = status;
  readShortAlarms(product, status, reader.u16(), report);
  const altitude = readShortItems(reader, report);
  const latitude = degrees(place.slice(0, 8)) * (flags & 2 ? 1 : -1) + 0;
  const longitude = degrees(place.slice(8, 17)) * (flags & 4 ? 1 : -1) + 0;
  if (Number.isNaN(latitude) || Number.isNaN(longitude)) return [{ type: "failure", cause: "malformed" }];
  const fix = fixOf(
    {
      time: utc(year, month, day, hour, minute, second),
      valid: type !== shortBlindReport,
      latitude,
      longitude,
      altitude,
      speed: Number.isNaN(speed) ? undefined : Math.round(speed * 1000) / 1000,
      course,
    },
    report,
  );
  if ((message.attributes & 0x8000) === 0) return [fix];
  const body = Uint8Array.of(type >> 8, type & 0xff, 0);
  return [fix, { type: "reply", bytes: seal(0x4401, message, 1, body), when: "stored" }];
};

/** 0x2070 "Acceleration": time and three words of 10 mg, again and again; the last one counts as the reading. */
const acceleration: Handler = (message, context) => {
  const { reader } = message;
  const report = draft();
  const samples: string[] = [];
  let time: number | undefined;
  while (reader.remaining >= 12) {
    time = readTime(reader, context);
    const [x, y, z] = [signedWord(reader.u16()), signedWord(reader.u16()), signedWord(reader.u16())];
    samples.push(`[${x},${y},${z}]`);
  }
  if (samples.length === 0) return [{ type: "ignored", reason: "no samples" }];
  report.attributes.gSensor = `[${samples.join(",")}]`;
  return [readingsOf(report, time)];
};

/** Messages with positions or readings of their own. */
export const reportRows: readonly MessageRow<Session>[] = [
  row("location report", [0x0200], location),
  row("location query response", [0x0201], answered),
  row("vehicle control response", [0x0500], answered),
  row("bulk location report", [0x0704], bulk),
  row("battery report", [0x0210], battery, ({ remaining }) => remaining === 7),
  row("short bulk location report", [0x0210], (message, context) => readBatch(message, context, false, false)),
  row("padlock location", [shortReport, shortBlindReport], short),
  row("acceleration", [0x2070], acceleration),
];
