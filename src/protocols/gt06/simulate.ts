import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { latin1Of } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";
import { seal } from "./envelope.ts";

const perDegree = 1_800_000;

/** Terminal type and zone (UTC) with language (English) of the simulated login. */
const terminalType = 0x0001;
const utcAndEnglish = 0x0002;

/** The terminal number: an IMEI's digits, zeros ahead to sixteen. */
function terminalNumber(device: string): Uint8Array {
  if (!/^\d{1,16}$/.test(device)) throw new RangeError("a GT06 tracker's number has at most 16 digits");
  return Uint8Array.fromHex(device.padStart(16, "0"));
}

function login(device: string, serial: number): Uint8Array {
  const content = new Writer(12).raw(terminalNumber(device)).u16(terminalType).u16(utcAndEnglish);
  return seal(0x01, serial & 0xffff, content.done());
}

/** One 0x22: location, no cell, ACC, upload by interval, live. */
function location(report: SimulatedReport, serial: number): Uint8Array {
  const date = new Date(report.time);
  const course = ((Math.round(report.course) % 360) + 360) % 360;
  const status = 0x1000 | (report.latitude >= 0 ? 0x0400 : 0) | (report.longitude < 0 ? 0x0800 : 0) | course;
  const content = new Writer(32)
    .u8(date.getUTCFullYear() - 2000)
    .u8(date.getUTCMonth() + 1)
    .u8(date.getUTCDate())
    .u8(date.getUTCHours())
    .u8(date.getUTCMinutes())
    .u8(date.getUTCSeconds())
    .u8(0xc0 | Math.min(15, report.satellites))
    .u32(Math.round(Math.abs(report.latitude) * perDegree))
    .u32(Math.round(Math.abs(report.longitude) * perDegree))
    .u8(Math.min(255, Math.round(report.speed)))
    .u16(status)
    .u32(0)
    .u32(0)
    .u8(report.ignition ? 1 : 0)
    .u8(0)
    .u8(0);
  return seal(0x22, serial & 0xffff, content.done());
}

/** 0x21 (JM-VL03 v1.1.2): the command's flag, ASCII, `<command> OK`. */
function obey(message: Uint8Array, _device: string, serial: number): Uint8Array | undefined {
  const [, , , type, length = 0] = message;
  if (message[0] !== 0x78 || type !== 0x80 || length < 4 || message.length < length + 11) return undefined;
  const text = `${latin1Of(message.subarray(9, 5 + length))} OK`;
  const content = new Writer(text.length + 5).raw(message.subarray(5, 9)).u8(1).latin1(text);
  return seal(0x21, serial & 0xffff, content.done(), true);
}

/** A tracker that logs in with 0x01 and sends each report as a 0x22, numbered from `serial` on. */
export const simulate: SimulatedDevice = {
  login,
  obey,
  report: (_device, reports, serial) => {
    const writer = new Writer(48 * reports.length);
    reports.forEach((report, index) => {
      writer.raw(location(report, serial + index));
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
    return { length, accepted: true, reports: bytes[head] === 0x22 ? 1 : 0 };
  },
};
