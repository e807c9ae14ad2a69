import type { Fix } from "../../model/effects.ts";
import type { DecodeContext, Decoded } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import { utc } from "../../wire/time.ts";
import { kmhOfKnots, roundDegrees } from "../../wire/units.ts";
import { digits, type IdBytes, minimumBinary } from "./binary-layout.ts";
import { cellsOf } from "./cells.ts";
import type { Reports } from "./position.ts";
import { decoded, type H02Session } from "./session.ts";
import { batteryCharge, vehicleStatus } from "./status.ts";

type Tail = Pick<Fix, "readings" | "attributes">;

const noTail: Tail = { readings: {}, attributes: {} };

/**
 * Binary message: marker, identifier, time, date, latitude, battery code, longitude and flags, speed and course,
 * vehicle status, and what each length adds. Digits are BCD. No manual of it is public in English; this is what
 * trackers send.
 */
export function handleBinary(
  frame: Uint8Array,
  session: H02Session,
  context: DecodeContext,
  idLength: IdBytes,
): Decoded<H02Session> {
  if (frame.length < minimumBinary) return { session, effects: [{ type: "failure", cause: "malformed" }] };
  const reader = new Reader(frame, 1);
  // An IMEI has 15 digits; the sixteenth fills the last byte.
  const id = idLength === 5 ? reader.hex(5) : reader.hex(8).slice(0, 15);
  const effects = readReports(reader, context.receivedAt, frame.length);
  if (effects === undefined) return { session, effects: [{ type: "failure", cause: "malformed" }] };
  return decoded(session, context, { maker: session.maker, id }, { effects });
}

function readReports(reader: Reader, receivedAt: number, length: number): Reports | undefined {
  const [hour, minute, second] = [two(reader), two(reader), two(reader)];
  const [day, month, year] = [two(reader), two(reader), two(reader)];
  // A tracker that never had GPS has no date; then its report counts from its arrival.
  const clock = [day, month, year, hour, minute, second];
  const time = day === 0 ? receivedAt : utc(year, month, day, hour, minute, second);
  const latitude = latitudeOf([two(reader), two(reader), two(reader), two(reader)]);
  const battery = batteryCharge(reader.u8());
  const east = [two(reader), two(reader), two(reader), two(reader)] as const;
  const last = reader.u8();
  const longitude = longitudeOf(east, last >> 4);
  const flags = last & 0x0f;
  const speedTens = two(reader);
  const middle = reader.u8();
  const speed = speedTens * 10 + (middle >> 4);
  const course = (middle & 0x0f) * 100 + two(reader);
  if ([...clock, latitude, longitude].some(Number.isNaN) || !(speed <= 999) || !(course <= 360)) return undefined;
  const status = vehicleStatus(reader.u32());
  const tail = length >= 45 && length <= 47 ? readTail(reader) : noTail;
  const fix: Fix = {
    type: "fix",
    time: time ?? 0,
    valid: (flags & 0x02) !== 0,
    latitude: signed(latitude, (flags & 0x04) !== 0),
    longitude: signed(longitude, (flags & 0x08) !== 0),
    speed: kmhOfKnots(speed),
    course,
    alarms: status.alarms,
    readings: { ...(battery !== undefined && { battery }), ...status.readings, ...tail.readings },
    attributes: { ...status.attributes, ...tail.attributes },
  };
  return time === undefined ? impossibleTime(fix, clock) : [fix];
}

/**
 * The reports of a message whose date does not exist, as those of a sentence (`position.ts`). `clock`: day, month,
 * year, hour, minute, second.
 */
function impossibleTime(fix: Fix, clock: readonly number[]): Reports {
  const { alarms, readings, attributes } = fix;
  const text = clock.map((part) => `${part}`.padStart(2, "0")).join("");
  const reported = { reportedDate: text.slice(0, 6), reportedTime: text.slice(6) };
  return [
    { ...fix, alarms: [], readings: {}, attributes: reported },
    { type: "readings", alarms, readings, attributes },
  ];
}

function two(reader: Reader): number {
  return digits(reader.u8());
}

/** Eight digits ddmmmmmm. */
function latitudeOf([degrees, minutes, hundredths, last]: readonly [number, number, number, number]): number {
  return minutes < 60 ? roundDegrees(degrees + (minutes + hundredths / 100 + last / 10_000) / 60) : Number.NaN;
}

/** Nine digits dddmmmmmm, the last of them in the upper half of the byte that carries the flags. */
function longitudeOf([a, b, c, d]: readonly [number, number, number, number], final: number): number {
  if (final > 9) return Number.NaN;
  const all = (((a * 100 + b) * 100 + c) * 100 + d) * 10 + final;
  const minutes = (all % 1_000_000) / 10_000;
  return minutes < 60 ? roundDegrees(Math.floor(all / 1_000_000) + minutes / 60) : Number.NaN;
}

function signed(degrees: number, positive: boolean): number {
  return positive || degrees === 0 ? degrees : -degrees;
}

/**
 * What messages of 45 and 47 bytes add: user alarm, no-operation flag, GSM signal, satellites, mileage, mobile country
 * and network code, area, cell; with 47 bytes the supply's voltage (its unit differs between makers); record number.
 */
function readTail(reader: Reader): Tail {
  reader.skip(2);
  const signal = reader.u8();
  const satellites = reader.u8();
  const mileage = reader.u32();
  const country = reader.u16();
  const network = reader.u8();
  const area = reader.u16();
  const cell = reader.u16();
  const power = reader.remaining === 3 ? reader.u16() : undefined;
  return {
    readings: {
      // Signal is the GSM modem's 0 to 31; more than 40 satellites no receiver counts: then the bytes are another
      // maker's.
      ...(signal <= 31 && { signal: Math.round((signal * 100) / 31) }),
      ...(satellites <= 40 && { satellites }),
    },
    attributes: {
      ...(mileage !== 0 && { mileage }),
      ...(country !== 0 && cellsOf([{ mcc: country, mnc: network, lac: area, cellId: cell }])),
      ...(power !== undefined && { supplyVoltage: power }),
      recordNumber: reader.u8(),
    },
  };
}
