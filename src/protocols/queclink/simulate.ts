import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { commandName } from "./command.ts";

/** Longest answer that a device reads. */
const maximumAnswer = 64;
/** Protocol version of a GV300. */
const version = "060100";

/** A GV300 with server acknowledgement, which sends one +RESP:GTFRI, or +RESP:GTSOS, for each report. */
export const simulate: SimulatedDevice = {
  // Not the supply: the place of 0 mV, of a supply that is cut, has a report ID of 0 in other models.
  carries: { readings: ["input1", "input2", "odometer", "rpm"], alarms: ["sos"] },
  report: (device, reports, serial) =>
    bytesOfLatin1(reports.map((report, index) => sentence(device, report, serial + index)).join("")),
  answer(bytes) {
    const end = bytes.indexOf(0x24);
    if (end < 0) return bytes.length < maximumAnswer ? "more" : { length: bytes.length, accepted: false, reports: 0 };
    const accepted = /^\+SACK:[0-9A-F]{4}\$$/.test(latin1Of(bytes.subarray(0, end + 1)));
    return { length: end + 1, accepted, reports: accepted ? 1 : 0 };
  },
  obey(message, device, serial) {
    const [name, last] = commandName(latin1Of(message))?.split(",") ?? [];
    if (name === undefined) return undefined;
    return bytesOfLatin1(`+ACK:${name},${version},${device},,${last},20260203101530,${countOf(serial)}$`);
  },
};

function countOf(serial: number): string {
  return (serial & 0xffff).toString(16).toUpperCase().padStart(4, "0");
}

function sentence(device: string, report: SimulatedReport, serial: number): string {
  const { readings = {}, alarm, ignition, battery, speed } = report;
  const { odometer, rpm, input1 = false, input2 = false } = readings;
  const time = timeText(report.time);
  const state = `${ignition ? 2 : 1}${speed > 0 ? 2 : 1}`;
  const inputs = ((ignition ? 1 : 0) | (input1 ? 2 : 0) | (input2 ? 4 : 0)).toString(16).padStart(2, "0");
  const place = [
    1,
    speed.toFixed(1),
    Math.round(report.course) % 360,
    report.altitude.toFixed(1),
    report.longitude.toFixed(6),
    report.latitude.toFixed(6),
    time,
    "0262,0001,1234,5678",
    `01,${report.satellites}`,
  ];
  const tail = [
    odometer === undefined ? "" : odometer.toFixed(1),
    "",
    "",
    "",
    Math.round(readings.battery ?? battery),
    `${state}${inputs}00`,
    rpm ?? "",
    "",
    "",
  ];
  const name = alarm === "sos" ? "GTSOS" : "GTFRI";
  return `+RESP:${name},${version},${device},,,10,1,${place},${tail},${time},${countOf(serial)}$`;
}

/** `YYYYMMDDHHMMSS`. */
function timeText(time: number): string {
  return new Date(time).toISOString().replaceAll(/\D/g, "").slice(0, 14);
}
