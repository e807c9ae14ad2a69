import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { degreesMinutesText } from "../../wire/text.ts";
import { alarmCodes } from "./events.ts";
import { statusOf } from "./status.ts";

/** A tracker that shakes hands and sends positions that nobody acknowledges. */
export const simulate: SimulatedDevice = {
  carries: {
    readings: ["ignition", "powerConnected", "input2", "output2", "blocked", "doorOpen", "odometer"],
    alarms: alarmCodes,
  },
  login: (device) => bytesOfLatin1(`(${device}BP00${device.slice(-15).padStart(15, "0")}HSO)`),
  report: (device, reports) => bytesOfLatin1(reports.map((report) => sentence(device, report)).join("")),
  obey(message, device) {
    const [, code, body = ""] = /^\(\d+([A-Z][A-Z]\d\d)([^)]*)\)$/.exec(latin1Of(message)) ?? [];
    if (code?.startsWith("A")) return bytesOfLatin1(`(${device}B${code.slice(1)}${body})`);
    return bytesOfLatin1(`(${device},ZC03,010126,000000,$OK$)`);
  },
};

function sentence(device: string, { readings = {}, ...report }: SimulatedReport): string {
  const clock = new Date(report.time).toISOString().slice(2, 19).replaceAll(/[-:T]/g, "");
  const kind = report.alarm === undefined ? -1 : alarmCodes.indexOf(report.alarm);
  const place = `${coordinate(report.latitude, 2, "N", "S")}${coordinate(report.longitude, 3, "E", "W")}`;
  const speed = report.speed.toFixed(1).padStart(5, "0");
  const course = report.course.toFixed(2).padStart(6, "0");
  const status = statusOf({ ignition: report.ignition, ...readings });
  const metres = Math.round((readings.odometer ?? 0) * 1000) % 2 ** 32;
  const mileage = metres.toString(16).toUpperCase().padStart(8, "0");
  const code = kind < 0 ? "BR00" : `BO01${kind}`;
  return `(${device}${code}${clock.slice(0, 6)}A${place}${speed}${clock.slice(6)}${course}${status}L${mileage})`;
}

/** `ddmm.mmmmN`. */
function coordinate(degrees: number, width: number, positive: string, negative: string): string {
  return `${degreesMinutesText(degrees, width)}${degrees < 0 ? negative : positive}`;
}
