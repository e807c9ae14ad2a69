import type { Alarm } from "../../model/alarms.ts";
import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { alertAlarms, alertOf } from "./codes.ts";
import { fieldsOf, headerOf, headOf } from "./sentence.ts";

/** A tracker ST300 (MODEL 01) that sends status reports and alerts. Nothing is acknowledged. */
export const simulate: SimulatedDevice = {
  carries: {
    readings: ["ignition", "input1", "input2", "input3", "output1", "output2", "externalVoltage"],
    alarms: alertAlarms,
  },
  report: (device, reports, serial) =>
    bytesOfLatin1(reports.map((report, index) => sentence(device, report, serial + index)).join("")),
  obey(message, device) {
    const header = headerOf(headOf(message));
    const fields = fieldsOf(message);
    if (header === undefined || fields[1] !== device) return undefined;
    if (header.product === "")
      return header.type === "CMD" ? bytesOfLatin1(`RES;${device};${fields.slice(2).join(";")}\r`) : undefined;
    return bytesOfLatin1(`${header.product}${header.type};Res;${device};010;${fields.slice(3).join(";")}\r`);
  },
};

function sentence(device: string, report: SimulatedReport, serial: number): string {
  const iso = new Date(report.time).toISOString();
  const date = iso.slice(0, 10).replaceAll("-", "");
  const readings = { ignition: report.ignition, ...report.readings };
  const io = [readings.ignition, readings.input1, readings.input2, readings.input3, readings.output1, readings.output2]
    .map((on) => (on === true ? "1" : "0"))
    .join("");
  const body = behind(report.alarm, serial);
  const place = `${signed(report.latitude, 2)};${signed(report.longitude, 3)}`;
  const motion = `${padded(report.speed, 3)};${(((report.course % 360) + 360) % 360).toFixed(2).padStart(6, "0")}`;
  const voltage = (readings.externalVoltage ?? 12.5).toFixed(2);
  const satellites = readings.satellites ?? report.satellites;
  return `ST300${body.type};${device};01;010;${date};${iso.slice(11, 19)};2F100;${place};${motion};${satellites};1;0;${voltage};${io};${body.text}\r`;
}

function behind(alarm: Alarm | undefined, serial: number): { readonly type: string; readonly text: string } {
  const code = alarm === undefined ? undefined : alertOf(alarm);
  if (code !== undefined) return { type: "ALT", text: String(code) };
  return { type: "STT", text: `2;${String(serial % 10_000).padStart(4, "0")}` };
}

function signed(degrees: number, width: number): string {
  return `${degrees < 0 ? "-" : "+"}${Math.abs(degrees)
    .toFixed(6)
    .padStart(width + 7, "0")}`;
}

function padded(value: number, width: number): string {
  return value.toFixed(3).padStart(width + 4, "0");
}
