import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { latin1Of } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";
import { codedAlarms, codeOf } from "./alarm-codes.ts";
import { seal } from "./envelope.ts";

const perDegree = 1_800_000;

/** Terminal type and zone (UTC) with language (English) of the simulated login. */
const terminalType = 0x0001;
const utcAndEnglish = 0x0002;

/** Types of a plain location and of one with status and alarm. */
const locationType = 0x22;
const statusType = 0x26;

/** The terminal number: an IMEI's digits, zeros ahead to sixteen. */
function terminalNumber(device: string): Uint8Array {
  if (!/^\d{1,16}$/.test(device)) throw new RangeError("a GT06 tracker's number has at most 16 digits");
  return Uint8Array.fromHex(device.padStart(16, "0"));
}

function login(device: string, serial: number): Uint8Array {
  const content = new Writer(12).raw(terminalNumber(device)).u16(terminalType).u16(utcAndEnglish);
  return seal(0x01, serial & 0xffff, content.done());
}

/** Date, satellites, position, speed, course and status: what location and alarm begin with. */
function gps(report: SimulatedReport): Writer {
  const date = new Date(report.time);
  const course = ((Math.round(report.course) % 360) + 360) % 360;
  const status = 0x1000 | (report.latitude >= 0 ? 0x0400 : 0) | (report.longitude < 0 ? 0x0800 : 0) | course;
  return new Writer(32)
    .u8(date.getUTCFullYear() - 2000)
    .u8(date.getUTCMonth() + 1)
    .u8(date.getUTCDate())
    .u8(date.getUTCHours())
    .u8(date.getUTCMinutes())
    .u8(date.getUTCSeconds())
    .u8(0xc0 | Math.min(15, report.readings?.satellites ?? report.satellites))
    .u32(Math.round(Math.abs(report.latitude) * perDegree))
    .u32(Math.round(Math.abs(report.longitude) * perDegree))
    .u8(Math.min(255, Math.round(report.speed)))
    .u16(status);
}

/** One 0x22: location, no cell, ACC, upload by interval, live. */
function location(report: SimulatedReport, serial: number): Uint8Array {
  const content = gps(report)
    .u32(0)
    .u32(0)
    .u8(report.ignition ? 1 : 0)
    .u8(0)
    .u8(0);
  return seal(locationType, serial & 0xffff, content.done());
}

/**
 * One 0x26: location, no cell, terminal information, charge, signal, alarm (0: none), language. A charge under 7 %
 * would be read as one of the levels 0 to 6, so it is sent as the lowest of them.
 */
function status(report: SimulatedReport, serial: number): Uint8Array {
  const { ignition = report.ignition, charging, blocked, armed, battery = report.battery } = report.readings ?? {};
  const charge = Math.round(battery);
  const content = gps(report)
    .u8(0)
    .u8((blocked ? 0x80 : 0) | (charging ? 0x04 : 0) | (ignition ? 0x02 : 0) | (armed ? 0x01 : 0))
    .u8(charge > 6 ? Math.min(100, charge) : 0)
    .u8(4)
    .u8(codeOf(report.alarm))
    .u8(2);
  return seal(statusType, serial & 0xffff, content.done());
}

/** 0x21 (JM-VL03 v1.1.2): the command's flag, ASCII, `<command> OK`. */
function obey(message: Uint8Array, _device: string, serial: number): Uint8Array | undefined {
  const [, , , type, length = 0] = message;
  if (message[0] !== 0x78 || type !== 0x80 || length < 4 || message.length < length + 11) return undefined;
  const text = `${latin1Of(message.subarray(9, 5 + length))} OK`;
  const content = new Writer(text.length + 5).raw(message.subarray(5, 9)).u8(1).latin1(text);
  return seal(0x21, serial & 0xffff, content.done(), true);
}

/**
 * A tracker that logs in with 0x01 and sends each report as a 0x22, or 0x26 where it has more to tell, numbered from
 * `serial` on.
 */
export const simulate: SimulatedDevice = {
  carries: { readings: ["satellites", "ignition", "charging", "blocked", "armed", "battery"], alarms: codedAlarms },
  login,
  obey,
  report: (_device, reports, serial) => {
    const writer = new Writer(48 * reports.length);
    reports.forEach((report, index) => {
      const more = report.readings !== undefined || report.alarm !== undefined;
      writer.raw((more ? status : location)(report, serial + index));
    });
    return writer.done();
  },
  answer: (bytes) => {
    const extended = bytes[0] === 0x79;
    const head = extended ? 4 : 3;
    if (bytes.length <= head) return "more";
    const length = head + (extended ? ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0) : (bytes[2] ?? 0)) + 2;
    if (bytes.length < length) return "more";
    // Whatever else comes is a command, which acknowledges nothing.
    return { length, accepted: true, reports: bytes[head] === locationType || bytes[head] === statusType ? 1 : 0 };
  },
};
