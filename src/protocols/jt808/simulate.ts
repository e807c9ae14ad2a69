import type { Alarm } from "../../model/alarms.ts";
import type { ReadingName, Readings } from "../../model/readings.ts";
import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";
import { type Address, delimiter, open, seal } from "./envelope.ts";
import { phoneOf } from "./identity.ts";

const beijing = 8 * 3_600_000;

/** Bits of the alarms that a simulated device can tell. */
const alarmBits = {
  sos: 0,
  overspeed: 1,
  fatigueDriving: 2,
  gpsAntennaCut: 5,
  lowPower: 7,
  powerCut: 8,
  parking: 19,
  movement: 28,
  accident: 29,
  doorOpened: 31,
} as const satisfies { readonly [A in Alarm]?: number };

const items = {
  odometer: [0x01, 4, 10],
  fuelVolume: [0x02, 2, 10],
  vehicleSpeed: [0x03, 2, 10],
  temperature: [0x51, 2, 10],
  satellites: [0x31, 1, 1],
  battery: [0xd4, 1, 1],
  externalVoltage: [0xd3, 2, 10],
} as const satisfies { readonly [N in ReadingName]?: readonly [id: number, size: 1 | 2 | 4, times: number] };

function namesOf<T extends object>(table: T): readonly (keyof T & string)[] {
  const names: (keyof T & string)[] = [];
  for (const name in table) names.push(name);
  return names;
}

const itemNames = namesOf(items);
const alarms = namesOf(alarmBits);

/** A tracker with the header of 2019, whose number has room for an IMEI. */
function addressOf(device: string): Address {
  const phone = phoneOf(device, 10);
  if (phone === undefined) throw new RangeError("a JT/T 808 terminal's number has at most 20 digits");
  return { delimiter, version: 1, phone };
}

function bcd(time: number): Uint8Array {
  return Uint8Array.fromHex(new Date(time + beijing).toISOString().slice(2, 19).replaceAll(/\D/g, ""));
}

function statusOf({ latitude, longitude }: SimulatedReport, readings: Readings): number {
  let status = 2;
  if (readings.ignition) status += 1;
  if (latitude < 0) status += 4;
  if (longitude < 0) status += 8;
  if (readings.blocked) status += 0x400;
  if (readings.locked) status += 0x1000;
  if (readings.doorOpen) status += 0x2000;
  if (readings.charging) status += 0x400_0000;
  return status;
}

function body(report: SimulatedReport): Uint8Array {
  const { ignition, satellites, battery, alarm } = report;
  const readings: Readings = { ignition, satellites, battery, ...report.readings };
  const told = alarms.find((name) => name === alarm);
  const writer = new Writer(64)
    .u32(told === undefined ? 0 : 2 ** alarmBits[told])
    .u32(statusOf(report, readings))
    .u32(Math.round(Math.abs(report.latitude) * 1e6))
    .u32(Math.round(Math.abs(report.longitude) * 1e6))
    .u16(Math.round(report.altitude) & 0xffff)
    .u16(Math.round(report.speed * 10))
    .u16(Math.round(report.course) % 360)
    .raw(bcd(report.time));
  for (const name of itemNames) {
    const value = readings[name];
    if (value === undefined) continue;
    const [id, size, times] = items[name];
    const raw = Math.round(Number(value) * times);
    writer.u8(id).u8(size);
    if (size === 1) writer.u8(raw);
    else if (size === 4) writer.u32(raw);
    else writer.u16(raw < 0 ? 0x8000 | -raw : raw);
  }
  return writer.done();
}

/** A terminal that authenticates itself and sends each report as a 0x0200. */
export const simulate: SimulatedDevice = {
  carries: {
    readings: [...itemNames, "ignition", "blocked", "locked", "doorOpen", "charging"],
    alarms,
  },
  login: (device, serial) => seal(0x0102, addressOf(device), serial & 0xffff, bytesOfLatin1(device)),
  report: (device, reports, serial) => {
    const writer = new Writer(96 * reports.length);
    reports.forEach((report, index) => {
      writer.raw(seal(0x0200, addressOf(device), (serial + index) & 0xffff, body(report)));
    });
    return writer.done();
  },
  answer: (bytes) => {
    const end = bytes.indexOf(delimiter, 1);
    if (end < 0) return "more";
    const message = open(bytes.subarray(0, end + 1))?.message;
    if (message?.type !== 0x8001) return { length: end + 1, accepted: true, reports: 0 };
    message.reader.skip(2);
    const acknowledged = message.reader.u16();
    return { length: end + 1, accepted: message.reader.u8() === 0, reports: acknowledged === 0x0200 ? 1 : 0 };
  },
  /** 0x0001 "Terminal general response": that it did what the platform said. */
  obey: (message, _device, serial) => {
    const opened = open(message)?.message;
    if (opened === undefined || opened.type < 0x8103) return undefined;
    const result = new Writer(5).u16(opened.serial).u16(opened.type).u8(0).done();
    return seal(0x0001, opened, serial & 0xffff, result);
  },
};
