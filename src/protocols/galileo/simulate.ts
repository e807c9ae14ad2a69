import type { Alarm } from "../../model/alarms.ts";
import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { Writer } from "../../wire/writer.ts";
import { concatBytes, packetOf, readCommand, textPacket } from "./command.ts";
import { data } from "./frames.ts";

/** Bits of the status that tell of alarms. */
const alarmBits = { lowBattery: 5, gpsAntennaCut: 6, shock: 10 } as const satisfies { readonly [A in Alarm]?: number };
const alarms: ReadonlyMap<string, number> = new Map(Object.entries(alarmBits));

/** A terminal that sends each record in a packet of its own with its IMEI; each confirmation is of one. */
export const simulate: SimulatedDevice = {
  carries: {
    readings: ["ignition", "motion", "armed", "externalVoltage", "batteryVoltage"],
    alarms: ["lowBattery", "gpsAntennaCut", "shock"],
  },
  report: (device, reports) => concatBytes(reports.map((report) => packetOf(tagsOf(device, report)))),
  answer(bytes) {
    if (bytes.length < 3) return "more";
    if (bytes[0] !== data) return { length: 3, accepted: bytes[0] === 0x02, reports: 1 };
    // A command: header, length, tags, checksum.
    const length = 5 + (bytes[1] ?? 0) + ((bytes[2] ?? 0) << 8);
    return bytes.length < length ? "more" : { length, accepted: true, reports: 0 };
  },
  obey(message, device) {
    const sent = readCommand(message);
    return sent && textPacket(device, sent.number, sent.text);
  },
};

function tagsOf(device: string, report: SimulatedReport): Uint8Array {
  const { latitude, longitude, speed, course, readings = {} } = report;
  const { externalVoltage = 12.5, batteryVoltage = 4.1 } = readings;
  const tags = new Writer(64).u8(0x03).latin1(device).u8(0x04).u16le(50);
  tags.u8(0x20).u32le(report.time / 1000);
  tags.u8(0x30).u8(Math.min(report.satellites, 15));
  tags.u32le(Math.round(latitude * 1e6)).u32le(Math.round(longitude * 1e6));
  tags
    .u8(0x33)
    .u16le(Math.round(speed * 10))
    .u16le(Math.round(course * 10));
  tags.u8(0x34).u16le(Math.round(report.altitude));
  tags.u8(0x40).u16le(statusOf(report));
  tags.u8(0x41).u16le(Math.round(externalVoltage * 1000));
  return tags
    .u8(0x42)
    .u16le(Math.round(batteryVoltage * 1000))
    .done();
}

function statusOf({ ignition, readings = {}, alarm }: SimulatedReport): number {
  const bit = (value: boolean | undefined, index: number) => (value === true ? 1 << index : 0);
  const raised = alarm === undefined ? undefined : alarms.get(alarm);
  return (
    bit(readings.motion, 0) |
    bit(readings.ignition ?? ignition, 9) |
    bit(readings.armed, 14) |
    (3 << 12) |
    (raised === undefined ? 0 : 1 << raised)
  );
}
