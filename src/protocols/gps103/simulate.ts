import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { degreesMinutesText } from "../../wire/text.ts";
import { knotsOfKmh } from "../../wire/units.ts";
import { keywordOf } from "./keywords.ts";

/** A tracker by Greenwich's time that says who it is, and sends positions that nobody acknowledges. */
export const simulate: SimulatedDevice = {
  carries: { readings: ["ignition", "doorOpen", "fuel", "fuel2", "temperature"], alarms: [...keywordOf.keys()] },
  login: (device) => bytesOfLatin1(`##,imei:${device},A;`),
  report: (device, reports) => bytesOfLatin1(reports.map((report) => sentence(device, report)).join("")),
  obey(message, device) {
    const name = /^\*\*,imei:\d+,([0-9A-Z]+)/.exec(latin1Of(message))?.[1];
    if (name === undefined) return undefined;
    const keyword = name.length === 1 ? `${name.toLowerCase()}t` : name;
    return bytesOfLatin1(`imei:${device},${keyword},0000000000,,L,;`);
  },
};

function sentence(device: string, { readings = {}, ...report }: SimulatedReport): string {
  const clock = new Date(report.time).toISOString().slice(2, 19).replaceAll(/[-:T]/g, "");
  const keyword = (report.alarm !== undefined && keywordOf.get(report.alarm)) || "tracker";
  const place = `${coordinate(report.latitude, 2, "N", "S")},${coordinate(report.longitude, 3, "E", "W")}`;
  const motion = `${knotsOfKmh(report.speed).toFixed(2)},${report.course.toFixed(2)},${Math.round(report.altitude)}`;
  const ignition = readings.ignition ?? report.ignition;
  const door = readings.doorOpen === undefined ? "" : Number(readings.doorOpen);
  const oil = `${percent(readings.fuel)},${percent(readings.fuel2)}`;
  const sensors = `${Number(ignition)},${door},${oil},${readings.temperature ?? ""}`;
  return `imei:${device},${keyword},${clock},,F,${clock.slice(6)}.000,A,${place},${motion},${sensors};`;
}

function percent(value: number | undefined): string {
  return value === undefined ? "" : `${value.toFixed(2)}%`;
}

/** `ddmm.mmmm,N`. */
function coordinate(degrees: number, width: number, positive: string, negative: string): string {
  return `${degreesMinutesText(degrees, width)},${degrees < 0 ? negative : positive}`;
}
