import type { Alarm } from "../../model/alarms.ts";
import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { Writer } from "../../wire/writer.ts";
import { packageHead } from "./framer.ts";
import { instructionOf, readCommand } from "./instruction.ts";
import { packageOf } from "./package.ts";
import { warningCodes } from "./status.ts";

const login = 0x01;
const location = 0x12;
const warning = 0x14;

/** A tracker that logs in and sends each report in a package of its own: a location, or a warning. */
export const simulate: SimulatedDevice = {
  carries: {
    readings: [
      "ignition",
      "motion",
      "armed",
      "blocked",
      "charging",
      "satellites",
      "input1",
      "input2",
      "input3",
      "input4",
    ],
    alarms: [...warningCodes.keys()],
  },
  login: (device, serial) => {
    const content = new Writer(16)
      .raw(Uint8Array.fromHex(device.padStart(16, "0")))
      .u8(1)
      .u8(0);
    return packageOf(login, serial & 0xffff, content.done());
  },
  report: (_device, reports, serial) => {
    const writer = new Writer(256);
    for (const [index, report] of reports.entries()) writer.raw(packageFor(report, (serial + index) & 0xffff));
    return writer.done();
  },
  answer(bytes) {
    if (bytes.length < packageHead) return "more";
    const length = packageHead + (bytes[3] ?? 0) * 256 + (bytes[4] ?? 0);
    if (bytes.length < length) return "more";
    return { length, accepted: true, reports: bytes[2] === location || bytes[2] === warning ? 1 : 0 };
  },
  obey(message) {
    const sent = readCommand(message);
    return sent && instructionOf(sent.number, `${sent.text} OK`);
  },
};

function packageFor(report: SimulatedReport, sequence: number): Uint8Array {
  const writer = new Writer(64).u32(Math.floor(report.time / 1000)).u8(1);
  writer.i32(Math.round(report.latitude * 1_800_000)).i32(Math.round(report.longitude * 1_800_000));
  writer
    .u16(Math.round(report.altitude) & 0xffff)
    .u16(Math.round(report.speed))
    .u16(Math.round(report.course));
  writer.u8(report.readings?.satellites ?? report.satellites);
  const code = codeOf(report.alarm);
  if (code !== undefined) return packageOf(warning, sequence, writer.u8(code).u16(statusOf(report)).done());
  writer.u16(statusOf(report)).u16(4100).u16(0).u16(0).u32(0).u16(0).u16(0);
  return packageOf(location, sequence, writer.done());
}

function codeOf(alarm: Alarm | undefined): number | undefined {
  return alarm === undefined ? undefined : warningCodes.get(alarm);
}

/** Fixed; a vehicle with ignition, accelerometer, relay and charger, and what each says. */
function statusOf({ ignition, speed, readings = {} }: SimulatedReport): number {
  const bits = [
    true,
    true,
    readings.ignition ?? ignition,
    true,
    readings.armed,
    true,
    readings.blocked,
    true,
    readings.charging,
    readings.motion ?? speed > 0,
    true,
    false,
    readings.input1,
    readings.input2,
    readings.input3,
    readings.input4,
  ];
  return bits.reduce((all: number, value, index) => (value === true ? all | (1 << index) : all), 0);
}
