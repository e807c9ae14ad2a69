import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { degreesMinutesText } from "../../wire/text.ts";
import { knotsOfKmh } from "../../wire/units.ts";
import { timeOfDay } from "./session.ts";
import { statusAlarms, statusWord } from "./status.ts";

/** Longest answer that a device reads: a confirmation has about 45 characters. */
const maximumAnswer = 128;

/** A tracker that sends one V1 sentence for each report and waits for `*HQ,identifier,V4,V1,...#`. */
export const simulate: SimulatedDevice = {
  carries: { readings: ["ignition", "doorOpen", "armed", "blocked", "powerConnected"], alarms: statusAlarms },
  report: (device, reports) => bytesOfLatin1(reports.map((report) => sentence(device, report)).join("")),
  answer(bytes) {
    const end = bytes.indexOf(0x23);
    if (end < 0) return bytes.length < maximumAnswer ? "more" : { length: bytes.length, accepted: false, reports: 0 };
    const [maker, , name, confirmed] = latin1Of(bytes.subarray(0, end)).split(",");
    // What is no confirmation is a command.
    if (maker === "*HQ" && name !== "V4") return { length: end + 1, accepted: true, reports: 0 };
    const accepted = maker === "*HQ" && name === "V4" && confirmed === "V1";
    return { length: end + 1, accepted, reports: accepted ? 1 : 0 };
  },
  obey(message, device) {
    const [maker, , name = "V4", time] = latin1Of(message).slice(0, -1).split(",");
    return maker === "*HQ" && name !== "V4" ? bytesOfLatin1(`*HQ,${device},V4,${name},DONE,${time}#`) : undefined;
  },
};

function sentence(device: string, report: SimulatedReport): string {
  const iso = new Date(report.time).toISOString();
  const date = `${iso.slice(8, 10)}${iso.slice(5, 7)}${iso.slice(2, 4)}`;
  const latitude = coordinate(report.latitude, 2, "N", "S");
  const longitude = coordinate(report.longitude, 3, "E", "W");
  const speed = knotsOfKmh(report.speed).toFixed(2).padStart(6, "0");
  const course = String(Math.round(report.course) % 360).padStart(3, "0");
  const status = statusWord({ ignition: report.ignition, ...report.readings }, report.alarm);
  return `*HQ,${device},V1,${timeOfDay(report.time)},A,${latitude},${longitude},${speed},${course},${date},${status}#`;
}

/** `ddmm.mmmm,N`. */
function coordinate(degrees: number, width: number, positive: string, negative: string): string {
  return `${degreesMinutesText(degrees, width)},${degrees < 0 ? negative : positive}`;
}
