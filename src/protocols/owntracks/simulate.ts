import { httpAnswer } from "../../wire/http-answer.ts";
import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";

/** A phone that posts each report by itself; each 200 is the acknowledgement of one. */
export const simulate: SimulatedDevice = {
  carries: { readings: ["battery", "charging", "accuracy", "ignition", "motion"], alarms: [] },
  report: (device, reports) => bytesOfLatin1(reports.map((report) => request(device, report)).join("")),
  answer: httpAnswer,
};

function request(device: string, report: SimulatedReport): string {
  const { time, latitude, longitude, readings = {} } = report;
  const { charging, accuracy, motion, ignition = report.ignition, battery = report.battery } = readings;
  const body = JSON.stringify({
    _type: "location",
    tid: device.slice(-2),
    tst: time / 1000,
    lat: Number(latitude.toFixed(7)),
    lon: Number(longitude.toFixed(7)),
    alt: Math.round(report.altitude),
    vel: Math.round(report.speed),
    cog: Math.round(report.course),
    batt: battery,
    ...(charging !== undefined && { bs: charging ? 2 : 1 }),
    acc: accuracy,
    ign: ignition,
    motion,
  });
  return `POST / HTTP/1.1\r\nHost: waybeam\r\nX-Limit-D: ${device}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}
