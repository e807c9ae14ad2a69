import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { degreesMinutesText } from "../../wire/text.ts";
import { knotsOfKmh } from "../../wire/units.ts";
import { eventAlarms } from "./alarms.ts";
import { seal } from "./sentence.ts";

const lineFeed = 0x0a;
/** Event of a report by time or distance. */
const location = 1;

/** A unit with the vendor's own format, which waits for the confirmation of each message. */
export const simulate: SimulatedDevice = {
  carries: {
    readings: ["odometer", "externalVoltage", "batteryVoltage"],
    alarms: [...new Set(eventAlarms.values())],
  },
  report: (device, reports, serial) =>
    bytesOfLatin1(reports.map((report, index) => latin1Of(sentence(device, report, serial + index))).join("")),
  answer(bytes) {
    const end = bytes.indexOf(lineFeed);
    if (end < 0) return "more";
    const accepted = /^\$SRV[0-9A-Za-z]+,02,\d\d,\d+,01\*/.test(latin1Of(bytes.subarray(0, end)));
    return { length: end + 1, accepted, reports: 1 };
  },
};

function sentence(device: string, report: SimulatedReport, serial: number): Uint8Array {
  const { readings = {} } = report;
  const event = [...eventAlarms].find(([, alarm]) => alarm === report.alarm)?.[0] ?? location;
  const clock = new Date(report.time).toISOString().slice(2, 19).replaceAll(/[-:T]/g, "");
  const place = `${coordinate(report.latitude, 2)},${coordinate(report.longitude, 3)}`;
  const course = ((Math.round(report.course) % 360) + 360) % 360;
  const motion = `${knotsOfKmh(report.speed).toFixed(1).padStart(5, "0")},${String(course).padStart(3, "0")}`;
  const odometer = (readings.odometer ?? 0).toFixed(3).padStart(10, "0");
  const volts = `${(readings.externalVoltage ?? 12.6).toFixed(3)},${(readings.batteryVoltage ?? 4).toFixed(3)}`;
  const cell = "4660,22136";
  return seal(
    `SLU${device},06,${serial},${clock},${String(event).padStart(2, "0")},${clock},${place},${motion},${odometer},${cell},${volts}`,
  );
}

/** `+ddmm.mmmm`. */
function coordinate(degrees: number, width: number): string {
  return `${degrees < 0 ? "-" : "+"}${degreesMinutesText(degrees, width)}`;
}
