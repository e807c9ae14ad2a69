import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { messageOf, wrapped } from "./envelope.ts";
import { statusAlarms, statusText } from "./status.ts";

/**
 * A watch that sends its positions as UD, and as AL where there is an alarm. Only alarms are acknowledged, so no answer
 * is awaited.
 */
export const simulate: SimulatedDevice = {
  carries: { readings: ["signal", "steps", "rolls", "accuracy"], alarms: statusAlarms },
  report: (device, reports) =>
    bytesOfLatin1(
      reports.map((report) => wrapped({ maker: "3G", id: device, index: undefined }, content(report))).join(""),
    ),
  obey(message, device) {
    const command = messageOf(message);
    return command === undefined ? undefined : bytesOfLatin1(wrapped({ ...command, id: device }, command.name));
  },
};

function content(report: SimulatedReport): string {
  const iso = new Date(report.time).toISOString();
  const { signal = 80, steps = 0, rolls = 0, accuracy = 0, ...own } = report.readings ?? {};
  return [
    report.alarm !== undefined && statusAlarms.includes(report.alarm) ? "AL" : "UD",
    `${iso.slice(8, 10)}${iso.slice(5, 7)}${iso.slice(2, 4)}`,
    `${iso.slice(11, 13)}${iso.slice(14, 16)}${iso.slice(17, 19)}`,
    "A",
    Math.abs(report.latitude).toFixed(6),
    report.latitude < 0 ? "S" : "N",
    Math.abs(report.longitude).toFixed(6),
    report.longitude < 0 ? "W" : "E",
    report.speed.toFixed(2),
    report.course.toFixed(1),
    report.altitude.toFixed(1),
    own.satellites ?? report.satellites,
    Math.round(signal),
    Math.round(own.battery ?? report.battery),
    steps,
    rolls,
    statusText(report.alarm),
    0,
    0,
    accuracy,
  ].join(",");
}
