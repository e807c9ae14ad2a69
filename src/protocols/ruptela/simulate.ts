import type { Alarm } from "../../model/alarms.ts";
import type { ReadingName, Readings } from "../../model/readings.ts";
import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";
import { devicePacket } from "./packet.ts";

/** Where a reading lies in a record: size, id, and what the value is times there. */
const elements = {
  ignition: [1, 409, 1],
  motion: [1, 173, 1],
  charging: [1, 170, 1],
  input1: [1, 2, 1],
  input2: [1, 3, 1],
  input3: [1, 4, 1],
  input4: [1, 5, 1],
  vehicleSpeed: [1, 95, 1],
  externalVoltage: [2, 29, 1000],
  batteryVoltage: [2, 30, 1000],
  analog1: [2, 22, 1000],
  analog2: [2, 23, 1000],
  temperature: [2, 79, 10],
  temperature2: [2, 80, 10],
  temperature3: [2, 74, 10],
  rpm: [2, 94, 4],
  odometer: [4, 65, 1000],
} as const satisfies { readonly [N in ReadingName]?: readonly [1 | 2 | 4, number, number] };

/** Element of an alarm, which is 1 then. */
const alarmElements = {
  jamming: 88,
  hardBraking: 134,
  hardAcceleration: 136,
  tow: 410,
  accident: 411,
  tampering: 758,
} as const satisfies { readonly [A in Alarm]?: number };

function namesOf<T extends object>(table: T): readonly (keyof T & string)[] {
  const names: (keyof T & string)[] = [];
  for (const name in table) names.push(name);
  return names;
}

const carried = namesOf(elements);
const alarms = namesOf(alarmElements);

function record(report: SimulatedReport): Uint8Array {
  const { ignition, speed } = report;
  const readings: Readings = {
    ignition,
    motion: speed > 0,
    externalVoltage: ignition ? 14.1 : 12.6,
    ...report.readings,
  };
  const sizes: Readonly<Record<1 | 2 | 4, [number, number][]>> = { 1: [], 2: [], 4: [] };
  for (const name of carried) {
    const value = readings[name];
    if (value === undefined) continue;
    const [size, id, times] = elements[name];
    sizes[size].push([id, Math.round(Number(value) * times)]);
  }
  const alarm = alarms.find((name) => name === report.alarm);
  if (alarm !== undefined) sizes[1].push([alarmElements[alarm], 1]);
  const writer = new Writer(96)
    .u8(0)
    .u8(1)
    .u32(Math.floor(report.time / 1000))
    .u8(0)
    .u8(0)
    .u8(0)
    .i32(Math.round(report.longitude * 1e7))
    .i32(Math.round(report.latitude * 1e7))
    .u16(Math.round(report.altitude * 10))
    .u16(Math.round(report.course * 100) % 36_000)
    .u8(readings.satellites ?? report.satellites)
    .u16(Math.round(speed))
    .u8(9)
    .u16(alarm === undefined ? 7 : alarmElements[alarm]);
  writer.u8(sizes[1].length);
  for (const [id, value] of sizes[1]) writer.u16(id).u8(value);
  writer.u8(sizes[2].length);
  for (const [id, value] of sizes[2]) writer.u16(id).u16(value & 0xffff);
  writer.u8(sizes[4].length);
  for (const [id, value] of sizes[4]) writer.u16(id).u32(value);
  return writer.u8(0).done();
}

/** A device that sends each report as one packet of extended records. */
export const simulate: SimulatedDevice = {
  carries: { readings: [...carried, "satellites"], alarms },
  report: (device, reports) => {
    const writer = new Writer(96 * reports.length);
    for (const report of reports) writer.raw(devicePacket(device, 68, record(report)));
    return writer.done();
  },
  answer: (bytes) => {
    if (bytes.length < 2) return "more";
    const length = (((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)) + 4;
    if (bytes.length < length) return "more";
    const isRecords = bytes[2] === 100;
    return { length, accepted: !isRecords || bytes[3] === 1, reports: isRecords ? 1 : 0 };
  },
  /** Command 7, "SMS via GPRS, response". */
  obey: (message, device) => {
    if (message[2] !== 108) return undefined;
    return devicePacket(device, 7, bytesOfLatin1(`${latin1Of(message.subarray(3, -2))} ok`));
  },
};
