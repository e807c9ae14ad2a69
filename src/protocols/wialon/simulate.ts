import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { degreesMinutesText } from "../../wire/text.ts";

/** Longest answer that a device reads. */
const maximumAnswer = 128;

/** A tracker of version 1.1 that sends one D packet for each report and waits for `#AD#1`. */
export const simulate: SimulatedDevice = {
  carries: { readings: ["input1", "input2", "analog1", "driverId", "battery"], alarms: ["sos"] },
  login: (device) => bytesOfLatin1(`#L#${device};NA\r\n`),
  report: (_device, reports) => bytesOfLatin1(reports.map(packet).join("")),
  answer(bytes) {
    const end = bytes.indexOf(0x0a);
    if (end < 0) return bytes.length < maximumAnswer ? "more" : { length: bytes.length, accepted: false, reports: 0 };
    const text = latin1Of(bytes.subarray(0, end + 1));
    const length = end + 1;
    if (text === "#AL#1\r\n") return { length, accepted: true, reports: 0 };
    if (text.startsWith("#M#")) return { length, accepted: true, reports: 0 };
    return { length, accepted: text === "#AD#1\r\n", reports: text === "#AD#1\r\n" ? 1 : 0 };
  },
  obey: (message) => (latin1Of(message).startsWith("#M#") ? bytesOfLatin1("#AM#1\r\n") : undefined),
};

function packet(report: SimulatedReport): string {
  const { satellites, ignition, battery, readings = {}, alarm } = report;
  const iso = new Date(report.time).toISOString();
  const date = `${iso.slice(8, 10)}${iso.slice(5, 7)}${iso.slice(2, 4)}`;
  const clock = `${iso.slice(11, 13)}${iso.slice(14, 16)}${iso.slice(17, 23)}`;
  const place = `${side(report.latitude, 2, "N", "S")};${side(report.longitude, 3, "E", "W")}`;
  const way = `${report.speed};${report.course};${report.altitude};${satellites}`;
  const { input1 = ignition, input2 = false, analog1, driverId } = readings;
  const bits = (input1 ? 1 : 0) + (input2 ? 2 : 0);
  const parameters = [`bat:2:${readings.battery ?? battery}`, ...(alarm === "sos" ? ["SOS:1:1"] : [])];
  return `#D#${date};${clock};${place};${way};NA;${bits};NA;${analog1 ?? ""};${driverId ?? "NA"};${parameters}\r\n`;
}

/** `ddmm.mmmmmm;N`. */
function side(degrees: number, width: number, positive: string, negative: string): string {
  return `${degreesMinutesText(degrees, width, 6)};${degrees < 0 ? negative : positive}`;
}
