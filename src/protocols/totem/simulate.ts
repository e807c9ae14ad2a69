import type { FlagReading } from "../../model/readings.ts";
import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { degreesMinutesText } from "../../wire/text.ts";
import { dataAlarms } from "./alarms.ts";
import { seal } from "./sentence.ts";
import { statusFlags, statusOf } from "./status.ts";

/** Bytes of an acknowledgement. */
const answerLength = 14;
/** Type of a string by interval. */
const byInterval = "AA";

/** An AT07: standard data strings, each acknowledged with its serial number. */
export const simulate: SimulatedDevice = {
  carries: { readings: [...statusFlags, "odometer"], alarms: [...dataAlarms.values()] },
  report: (device, reports, serial) =>
    bytesOfLatin1(reports.map((report, index) => latin1Of(sentence(device, report, serial + index))).join("")),
  answer(bytes) {
    if (bytes.length < answerLength) return "more";
    return { length: answerLength, accepted: latin1Of(bytes.subarray(0, 8)) === "$$0014AA", reports: 1 };
  },
};

function sentence(device: string, report: SimulatedReport, serial: number): Uint8Array {
  const { readings = {} } = report;
  const kind = [...dataAlarms].find(([, alarm]) => alarm === report.alarm)?.[0] ?? byInterval;
  const clock = new Date(report.time).toISOString().slice(2, 19).replaceAll(/[-:T]/g, "");
  const flags: { [N in FlagReading]?: boolean } = { ignition: report.ignition };
  for (const name of statusFlags) if (readings[name] !== undefined) flags[name] = readings[name];
  const status = statusOf(flags).toString(16).toUpperCase().padStart(8, "0");
  const volts = Math.round(35 + (report.battery * 7) / 100);
  const motion =
    digits(report.satellites, 2) +
    digits(20, 2) +
    digits(((Math.round(report.course) % 360) + 360) % 360, 3) +
    digits(report.speed, 3) +
    "00.9" +
    digits((readings.odometer ?? 0) % 10_000_000, 7);
  const place = coordinate(report.latitude, 2, "N", "S") + coordinate(report.longitude, 3, "E", "W");
  // Battery, supply of 12 V, analog input of 0 V, a cell.
  return seal(`${kind}${device}|${status}${clock}${volts}12000012345678${motion}${place}${digits(serial % 10_000, 4)}`);
}

function digits(value: number, width: number): string {
  return String(Math.round(value)).padStart(width, "0");
}

/** `ddmm.mmmmN`. */
function coordinate(degrees: number, width: number, positive: string, negative: string): string {
  return `${degreesMinutesText(degrees, width)}${degrees < 0 ? negative : positive}`;
}
