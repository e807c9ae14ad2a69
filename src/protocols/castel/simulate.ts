import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { Writer } from "../../wire/writer.ts";
import { alarmBits } from "./alarms.ts";
import { answerType } from "./command.ts";
import { idBytesOf, open, seal } from "./frames.ts";
import { ignition } from "./status.ts";

const version = 4;

/**
 * An OBD tracker that sends GPS data with one position each, which say who they are from and which the service does not
 * answer.
 */
export const simulate: SimulatedDevice = {
  carries: { readings: ["ignition", "rpm"], alarms: [...alarmBits.keys()] },
  report: (device, reports) =>
    reports.reduce((all, each) => all.raw(frameOf(device, 0x4001, gpsData(each))), new Writer(128)).done(),
  obey(bytes) {
    const message = open(bytes);
    if (message === undefined || (message.type & 0x8000) !== 0) return undefined;
    const type = answerType(message.type);
    return seal(version, message.idBytes, type, answerContent(type));
  },
};

/** The place that is asked for, settings of which none failed, or that it was done. */
function answerContent(type: number): Uint8Array {
  if (type === 0xb001) return statusRest(new Writer(64).u16(0).u32le(0).u32le(0), 0).u8(0).done();
  return type === 0xa001 || type === 0xa002 ? Uint8Array.of(0, 0, 1, 0, 0, 0) : Uint8Array.of(1);
}

function frameOf(device: string, type: number, content: Uint8Array): Uint8Array {
  return seal(version, idBytesOf(device) ?? new Uint8Array(20), type, content);
}

/** STAT_DATA behind its times. */
function statusRest(writer: Writer, state: number): Writer {
  return writer.u32le(0).u32le(0).u32le(0).u16le(0).u32le(state).u32le(0).u32le(0);
}

function gpsData(report: SimulatedReport): Uint8Array {
  const { latitude, longitude, speed, course, satellites, readings = {}, alarm } = report;
  const on = readings.ignition ?? report.ignition;
  const raised = alarm === undefined ? undefined : alarmBits.get(alarm);
  const state = (on ? 1 << ignition : 0) | (raised === undefined ? 0 : 1 << raised);
  const writer = new Writer(64)
    .u8(0)
    .u32le(0)
    .u32le(report.time / 1000);
  const time = new Date(report.time);
  statusRest(writer, state)
    .u8(1)
    .u8(time.getUTCDate())
    .u8(time.getUTCMonth() + 1)
    .u8(time.getUTCFullYear() % 100)
    .u8(time.getUTCHours())
    .u8(time.getUTCMinutes())
    .u8(time.getUTCSeconds())
    .u32le(Math.round(Math.abs(latitude) * 3_600_000))
    .u32le(Math.round(Math.abs(longitude) * 3_600_000))
    .u16le(Math.round(speed / 0.036))
    .u16le(Math.round(course * 10));
  const flags = (longitude >= 0 ? 1 : 0) | (latitude >= 0 ? 2 : 0) | 0x0c | (Math.min(satellites, 15) << 4);
  writer.u8(flags);
  return readings.rpm === undefined ? writer.u8(0).done() : writer.u8(1).u16le(readings.rpm).done();
}
