import type { Effect, Fix, ReadingsReport } from "../../model/effects.ts";
import { crc16CcittFalse } from "../../wire/checksums.ts";
import type { DecodeContext, MessageRow } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of, Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, raise, readingsOf, readingsOrNothing } from "../../wire/report.ts";
import { utc } from "../../wire/time.ts";
import { events } from "./events.ts";
import { readTrack } from "./hex-track.ts";
import { eventNames, reportNames } from "./hex-types.ts";
import type { Session } from "./session.ts";
import { readState } from "./status.ts";

/** Checksum and line end behind the count number. */
const trailer = 4;
/** What stands behind the body: send time, count number, checksum, line end. */
const tail = 9 + trailer;
/** Type of the report that holds a compressed track. */
const compressedType = 100;

const hasBit = (mask: number, index: number): boolean => ((mask >>> index) & 1) === 1;

/** A message of the HEX form while it is read. */
interface HexMessage {
  readonly reader: Reader;
  readonly head: string;
  readonly type: number;
  readonly mask: number;
  readonly end: number;
}

interface Understood {
  readonly ids: readonly string[];
  readonly effects: readonly Effect[];
}

/** A row: compares the checksum, says who sent the message, and acknowledges it. (GV200 5.01, section 4) */
function row(
  name: string,
  heads: readonly string[],
  understand: (frame: Uint8Array, context: DecodeContext) => Understood,
  acknowledge: (count: string) => Effect = stored,
): MessageRow<Session> {
  return {
    name,
    keys: heads,
    handle(frame, session, context) {
      const { ids, effects } = understand(frame, context);
      const sumAt = frame.length - trailer;
      const sum = new Reader(frame, sumAt).u16();
      if (context.options.checksums !== "ignore" && sum !== crc16CcittFalse(frame, 4, sumAt))
        return { session, effects: [{ type: "failure", cause: "badChecksum", ...(ids.length > 0 && { ids }) }] };
      const [id] = ids;
      const own = id === undefined || id === session.id ? [] : [{ type: "identify", ids } as const];
      const count = frame
        .subarray(sumAt - 2, sumAt)
        .toHex()
        .toUpperCase();
      return { session: { id: id ?? session.id }, effects: [...own, ...effects, acknowledge(count)] };
    },
  };
}

function stored(count: string): Effect {
  return { type: "reply", bytes: bytesOfLatin1(`+SACK:${count}$`), when: "stored" };
}

/** Seven bytes: year, month, day, hour, minute, second. */
function timeOf(reader: Reader): number | undefined {
  return utc(reader.u16(), reader.u8(), reader.u8(), reader.u8(), reader.u8(), reader.u8());
}

/** Eight bytes: an IMEI, two digits a byte and the last one alone, or a device name. (GV200 5.01, 4.6) */
function idOf(reader: Reader): string {
  const bytes = reader.take(8);
  if (bytes.every((byte, index) => byte < (index === 7 ? 10 : 100)))
    return [...bytes].map((byte, index) => (index === 7 ? `${byte}` : `${byte}`.padStart(2, "0"))).join("");
  return latin1Of(bytes).replaceAll(/[^!-~]/g, "");
}

function open(frame: Uint8Array): HexMessage {
  const end = frame.length - trailer;
  const reader = new Reader(frame, 0, end);
  const head = reader.latin1(4);
  const type = reader.u8();
  return { reader, head, type, mask: reader.u32(), end };
}

/**
 * What reports and events begin with, as their mask says: length, device type, versions, identifier, battery, supply,
 * motion, satellites.
 */
function readHead({ reader, mask }: HexMessage, report: Draft): string {
  if (hasBit(mask, 7)) reader.skip(2);
  if (hasBit(mask, 8)) reader.skip(1);
  if (hasBit(mask, 9)) reader.skip(2);
  if (hasBit(mask, 10)) report.readings.firmware = `${reader.u8()}.${reader.u8()}`;
  const id = idOf(reader);
  if (hasBit(mask, 11)) put(report, "battery", reader.u8(), "batteryLevel");
  if (hasBit(mask, 12)) put(report, "externalVoltage", reader.u16() / 1000, "externalPowerMillivolts");
  return id;
}

function readMotion({ reader, mask }: HexMessage, report: Draft): void {
  if (hasBit(mask, 18)) readState(report, reader.hex(1));
  if (hasBit(mask, 19)) put(report, "satellites", reader.u8(), "satellitesInUse");
}

/** Bytes behind the last position, down to the checksum: mileages, hour meters, send time, count number. */
function bytesBehind(mask: number): number {
  const widths = [
    [20, 3],
    [21, 5],
    [22, 3],
    [23, 6],
    [4, 7],
    [5, 2],
  ] as const;
  return widths.reduce((sum, [index, width]) => sum + (hasBit(mask, index) ? width : 0), 0);
}

function positionBytes(mask: number): number {
  return (
    16 + (hasBit(mask, 0) ? 3 : 0) + (hasBit(mask, 1) ? 2 : 0) + (hasBit(mask, 2) ? 2 : 0) + (hasBit(mask, 3) ? 9 : 0)
  );
}

/** Accuracy, speed, azimuth, altitude, longitude, latitude, time, cell. */
function readPosition({ reader, mask }: HexMessage, report: Draft): Fix | ReadingsReport {
  const accuracy = reader.u8();
  if (accuracy === 0) report.attributes.gnssAccuracy = 0;
  else put(report, "hdop", accuracy, "gnssAccuracy");
  // Two bytes before the decimal point, and one behind it.
  const speed = hasBit(mask, 0) ? Math.round((reader.u16() + reader.u8() / 10) * 10) / 10 : undefined;
  const course = hasBit(mask, 1) ? reader.u16() : undefined;
  const altitude = hasBit(mask, 2) ? reader.i16() : undefined;
  const longitude = reader.i32() / 1e6;
  const latitude = reader.i32() / 1e6;
  const time = timeOf(reader);
  if (hasBit(mask, 3)) {
    const [mcc, mnc, lac, cellId] = [reader.u16(), reader.u16(), reader.u16(), reader.u16()];
    if (mcc !== 0) report.attributes.cells = `${mcc},${mnc},${lac},${cellId}`;
    reader.skip(1);
  }
  return fixOf(
    { time, valid: accuracy !== 0, latitude: latitude + 0, longitude: longitude + 0, altitude, speed, course },
    report,
  );
}

/** Mileage in km, four bytes and a decimal; hour meter, hours in four bytes, minutes, seconds; send time. */
function readBehind({ reader, mask }: HexMessage, report: Draft): number | undefined {
  if (hasBit(mask, 20))
    put(report, "tripOdometer", Math.round((reader.u16() + reader.u8() / 10) * 10) / 10, "currentMileage");
  if (hasBit(mask, 21)) put(report, "odometer", Math.round((reader.u32() + reader.u8() / 10) * 10) / 10, "mileage");
  if (hasBit(mask, 22)) reader.skip(3);
  if (hasBit(mask, 23)) put(report, "engineSeconds", reader.u32() * 3600 + reader.u8() * 60 + reader.u8(), "hourMeter");
  return hasBit(mask, 4) ? timeOf(reader) : undefined;
}

function begin({ head, type }: HexMessage, names: ReadonlyMap<number, string>): Draft {
  const report = draft();
  report.attributes.event = names.get(type) ?? `${type}`;
  if (head[1] === "B") report.attributes.archive = true;
  return report;
}

/**
 * What the type adds stands before the number of positions. Manuals differ in it, so its length is what is left: all
 * else has a known length, and the number must fit.
 */
function reportEffects(message: HexMessage, names: ReadonlyMap<number, string>): Understood {
  const { reader, mask, end } = message;
  const first = begin(message, names);
  const id = readHead(message, first);
  const body = end - bytesBehind(mask) - reader.offset - (hasBit(mask, 18) ? 1 : 0) - (hasBit(mask, 19) ? 1 : 0);
  const width = positionBytes(mask);
  const extra = (body - 1) % width;
  const count = (body - 1 - extra) / width;
  const gap = names === reportNames && message.type === 8 ? 2 : 0;
  reader.skip(Math.min(gap, extra));
  readMotion(message, first);
  const added = reader.take(Math.max(extra - gap, 0));
  if (added.length > 0 && names === eventNames) first.attributes.eventData = added.toHex();
  const number = reader.u8();
  raiseFor(first);
  if (added.length === 1 && names === reportNames) readReportType(first, added.toHex());
  if (body < 1 || count < 1 || number !== count) {
    // No position, or a layout of its own: what is known stands.
    return { ids: [id], effects: [readingsOf(first)] };
  }
  const effects: Effect[] = [];
  for (let index = 0; index < count; index++) {
    const last = index === count - 1;
    const report = last ? first : begin(message, names);
    if (last) {
      const at = reader.offset;
      reader.seek(at + width);
      readBehind(message, report);
      reader.seek(at);
    }
    effects.push(readPosition(message, report));
  }
  return { ids: [id], effects };
}

/** The alarm that the text form's message of the same name raises. */
function raiseFor(report: Draft): void {
  const name = String(report.attributes.event);
  const alarm = name === "GTPNA" ? "powerOn" : name === "GTPFA" ? "powerOff" : events.get(name)?.alarm;
  if (alarm !== undefined) raise(report, alarm);
  if (name === "GTIGN" || name === "GTVGN") report.readings.ignition = true;
  if (name === "GTIGF" || name === "GTVGF") report.readings.ignition = false;
}

/** Position reports whose alarm or state is in their report type. */
const typedReports: ReadonlySet<string> = new Set(["GTDIS", "GTGEO", "GTSPD", "GTHBM", "GTIGL"]);

/** Report ID and report type in one byte, as the two digits of the text form. */
function readReportType(report: Draft, digits: string): void {
  const name = String(report.attributes.event);
  if (typedReports.has(name)) events.get(name)?.read?.(report, [digits, ""], "");
}

const reports = row("+RSP, +BSP position report of the HEX form", ["+RSP", "+BSP"], (frame) => {
  const message = open(frame);
  if (message.type !== compressedType) return reportEffects(message, reportNames);
  const first = begin(message, reportNames);
  const id = readHead(message, first);
  readMotion(message, first);
  return { ids: [id], effects: readTrack(message.reader, first) };
});

const eventRow = row("+EVT, +BVT event of the HEX form", ["+EVT", "+BVT"], (frame) =>
  reportEffects(open(frame), eventNames),
);

/** Information: identifier, versions and what the type is about; most of it is counted from the end. */
const information = row("+INF, +BNF information of the HEX form", ["+INF", "+BNF"], (frame) => {
  const reader = new Reader(frame, 4, frame.length - trailer);
  const type = reader.u8();
  const mask = reader.u16();
  if (hasBit(mask, 0)) reader.skip(2);
  const id = idOf(reader);
  const report = draft();
  report.attributes.event = "GTINF";
  if (frame[1] === 0x42) report.attributes.archive = true;
  if (hasBit(mask, 2)) reader.skip(1);
  if (hasBit(mask, 3)) reader.skip(2);
  if (hasBit(mask, 4)) report.readings.firmware = `${reader.u8()}.${reader.u8()}`;
  const zoneAt = frame.length - tail - 3;
  if (type === 7) readBattery(new Reader(frame, zoneAt - 16, frame.length), report);
  reader.seek(frame.length - tail);
  return { ids: [id], effects: [readingsOrNothing(report, "information", timeOf(reader))] };
});

/** Charging, supply, battery in mV, battery in %; the SIM card's number follows. */
function readBattery(reader: Reader, report: Draft): void {
  report.readings.charging = reader.u8() !== 0;
  put(report, "externalVoltage", reader.u16() / 1000, "externalPowerMillivolts");
  put(report, "batteryVoltage", reader.u16() / 1000, "backupBatteryVoltage");
  put(report, "battery", reader.u8(), "batteryLevel");
  report.readings.iccid = reader.hex(10);
}

/** Mask of a byte: length, device type, protocol and firmware versions, identifier. (GV200 5.01, 4.6) */
const heartbeat = row(
  "+HBD heartbeat of the HEX form",
  ["+HBD"],
  (frame) => {
    const reader = new Reader(frame, 4, frame.length - trailer);
    const mask = reader.u8();
    reader.skip(
      (hasBit(mask, 0) ? 1 : 0) + (hasBit(mask, 1) ? 1 : 0) + (hasBit(mask, 2) ? 2 : 0) + (hasBit(mask, 3) ? 2 : 0),
    );
    const ids = hasBit(mask, 7) ? [idOf(reader)] : [];
    return { ids, effects: [{ type: "ignored", reason: "heartbeat" }] };
  },
  (count) => ({ type: "reply", bytes: bytesOfLatin1(`+SACK:GTHBD,,${count}$`), when: "identified" }),
);

/** A command was taken: its number, and its serial number before the send time. */
const acknowledged = row("+ACK command was taken, HEX form", ["ACK"], (frame) => {
  const end = frame.length - tail;
  const serial = new Reader(frame, end - 2).hex(2).toUpperCase();
  return {
    ids: [],
    effects: [{ type: "commandResult", text: `+ACK ${frame[4] ?? 0}`, to: `,${serial}`, ok: true }],
  };
});

/** Crash data and other messages whose bodies no manual at hand lays out. */
const others = row("+CRD, +BRD, +LGN data of the HEX form", ["+CRD", "+BRD", "+LGN"], () => ({
  ids: [],
  effects: [{ type: "ignored", reason: "no manual at hand lays it out" }],
}));

/** The messages of the HEX form. */
export const hexRows: readonly MessageRow<Session>[] = [
  reports,
  eventRow,
  information,
  heartbeat,
  acknowledged,
  others,
];
