import { alarmNames } from "../../model/alarms.ts";
import { httpAnswer } from "../../wire/http-answer.ts";
import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { knotsOfKmh } from "../../wire/units.ts";

/** A phone that sends one GET for each report; each 200 is the acknowledgement of one. */
export const simulate: SimulatedDevice = {
  carries: {
    readings: ["battery", "ignition", "satellites", "charging", "motion", "accuracy", "hdop", "odometer", "driverId"],
    alarms: alarmNames,
  },
  report: (device, reports) => bytesOfLatin1(reports.map((report) => request(device, report)).join("")),
  answer: httpAnswer,
};

function request(device: string, report: SimulatedReport): string {
  const {
    battery = report.battery,
    ignition = report.ignition,
    satellites = report.satellites,
  } = report.readings ?? {};
  const query = [
    `id=${encodeURIComponent(device)}`,
    `timestamp=${report.time}`,
    `lat=${report.latitude.toFixed(7)}`,
    `lon=${report.longitude.toFixed(7)}`,
    `speed=${knotsOfKmh(report.speed).toFixed(3)}`,
    `bearing=${report.course.toFixed(1)}`,
    `altitude=${report.altitude.toFixed(1)}`,
    `batt=${battery}`,
    `sat=${satellites}`,
    `ignition=${ignition}`,
    ...further(report),
  ].join("&");
  return `GET /?${query} HTTP/1.1\r\nHost: waybeam\r\n\r\n`;
}

/** Parameters of what only some reports have. The odometer is in metres. */
function further({ readings = {}, alarm }: SimulatedReport): readonly string[] {
  const { charging, motion, accuracy, hdop, odometer, driverId } = readings;
  const parameters = { charge: charging, motion, accuracy, hdop, odometer: odometer && Math.round(odometer * 1000) };
  return Object.entries({ ...parameters, driverUniqueId: driverId, alarm })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
}
