import type { FlagReading } from "../../model/readings.ts";
import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { Writer } from "../../wire/writer.ts";
import { vehicleAlarms } from "./alarms.ts";
import { answerTo } from "./command.ts";
import { family, headLength, packetBytes } from "./packet.ts";

const flags = [
  [15, "powerConnected"],
  [14, "ignition"],
  [13, "airConditioning"],
  [12, "input3"],
  [11, "input4"],
  [10, "output1"],
  [9, "output2"],
  [8, "output3"],
] as const satisfies readonly (readonly [number, FlagReading])[];

/** A code for each alarm. */
const codes = new Map([...vehicleAlarms].map(([code, alarm]) => [alarm, code]));

/** A TLW1 (0x25) that logs in, sends locations and alarms, and does what it is told. Each message is acknowledged. */
export const simulate: SimulatedDevice = {
  carries: {
    readings: [...flags.map(([, name]) => name), "externalVoltage", "odometer", "battery"],
    alarms: [...codes.keys()],
  },
  login: (device, serial) => packetBytes(head(0x01, device, serial), Uint8Array.of(0x11, 0x11, 0x11, 0x25, 0x03, 0x50)),
  report(device, reports, serial) {
    const writer = new Writer(reports.length * 80);
    for (const [index, report] of reports.entries()) {
      const type = report.alarm === undefined ? 0x02 : 0x04;
      writer.raw(packetBytes(head(type, device, serial + index), bodyOf(report)));
    }
    return writer.done();
  },
  answer(bytes) {
    const [, , type, high = 0, low = 0] = bytes;
    const length = high * 256 + low;
    if (bytes.length < 5 || bytes.length < length) return "more";
    const accepted = length >= headLength;
    return { length, accepted, reports: type === 0x02 || type === 0x04 ? 1 : 0 };
  },
  obey: answerTo,
};

function head(type: number, imei: string, serial: number) {
  return { family: family.vehicle, type, serial: serial & 0xffff, imei };
}

/** Packed BCD of two bytes. */
function bcd4(value: number): number {
  return Number.parseInt(String(Math.round(value) % 10_000), 16);
}

function bodyOf(report: SimulatedReport): Uint8Array {
  const { readings = {} } = report;
  const states = { ignition: report.ignition, ...readings };
  const io = flags.reduce((all, [index, name]) => all | (states[name] === true ? 1 << index : 0), 0);
  const writer = new Writer(64).u16(30).u16(300).u8(30).u16(500).u16(80);
  writer
    .u8(0x40 | Math.min(report.satellites, 31))
    .u8(0)
    .u8(0)
    .u8(5)
    .u8(0)
    .u16(0)
    .u16(io)
    .u16(0)
    .u16(0);
  writer.u8((report.alarm === undefined ? undefined : codes.get(report.alarm)) ?? 0).u8(0);
  writer.u32(Math.round((readings.odometer ?? 0) * 1000) % 2 ** 32);
  const battery = Math.max(1, Math.round(readings.battery ?? report.battery));
  writer.u8(battery >= 100 ? 0 : Number.parseInt(String(battery), 16));
  const clock = new Date(report.time).toISOString().slice(2, 19).replaceAll(/[-:T]/g, "");
  writer.raw(Uint8Array.fromHex(clock)).raw(floats([report.altitude, report.longitude, report.latitude]));
  writer.u16(bcd4(report.speed * 10)).u16(((Math.round(report.course) % 360) + 360) % 360);
  return writer.u16(bcd4((readings.externalVoltage ?? 12.5) * 100)).done();
}

function floats(values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 4));
  for (const [index, value] of values.entries()) view.setFloat32(index * 4, value, true);
  return new Uint8Array(view.buffer);
}
