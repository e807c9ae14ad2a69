import { crc16Xmodem, xor8 } from "../../wire/checksums.ts";
import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { degreesMinutesText } from "../../wire/text.ts";
import { knotsOfKmh } from "../../wire/units.ts";
import { wordOf } from "./report.ts";

/** A tracker that sends the long form, which nobody acknowledges. */
export const simulate: SimulatedDevice = {
  carries: {
    readings: ["charging", "batteryVoltage", "odometer"],
    alarms: ["sos", "lowBattery", "movement", "overspeed", "geofence", "shock", "powerCut"],
  },
  report: (device, reports) => bytesOfLatin1(reports.map((report) => line(device, report)).join("")),
};

function line(device: string, report: SimulatedReport): string {
  const { readings = {}, alarm, latitude, longitude } = report;
  const [year = "", month = "", day = "", ...clock] = new Date(report.time).toISOString().slice(2, 19).split(/[-T:]/);
  const north = `${degreesMinutesText(latitude, 2, 5)},${latitude < 0 ? "S" : "N"}`;
  const east = `${degreesMinutesText(longitude, 3, 5)},${longitude < 0 ? "W" : "E"}`;
  const motion = `${knotsOfKmh(report.speed).toFixed(2)},${report.course.toFixed(2)}`;
  const sentence = `GPRMC,${clock.join("")}.000,A,${north},${east},${motion},${day}${month}${year},,,A`;
  const sum = xor8(bytesOfLatin1(sentence)).toString(16).toUpperCase().padStart(2, "0");
  const word = alarm === undefined ? "" : (wordOf.get(alarm) ?? "");
  const { charging = false, batteryVoltage = 4.1, odometer = 0 } = readings;
  const head = `${year}${month}${day}${clock.join("")},,${sentence}*${sum},F,${word}, imei:${device}`;
  const satellites = String(report.satellites).padStart(2, "0");
  const state = `${satellites},${report.altitude.toFixed(1)},F:${batteryVoltage.toFixed(3)}V,${charging ? 1 : 0}`;
  const text = `${head},${state},`;
  const summed = `${text}${text.length},`;
  return `${summed}${crc16Xmodem(bytesOfLatin1(summed))},262,01,1234,5678,${odometer.toFixed(3)}km\r\n`;
}
