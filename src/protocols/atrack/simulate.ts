import type { Alarm } from "../../model/alarms.ts";
import { crc16Arc } from "../../wire/checksums.ts";
import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { keepAliveLength, keepAlivePrefix } from "./framer.ts";

/** The fields of AT$FORM that the simulated tracker adds. */
const form = "%CI%SA%MV%BV%AT%MT%RP%FL%TR%EL%ET%HA%HB%HC%JD";

const alarmFields = ["hardAcceleration", "hardBraking", "hardCornering", "jamming"] as const satisfies readonly Alarm[];

/**
 * A tracker that sends each position in a text message of its own, waits for its acknowledgement, and does what it is
 * told.
 */
export const simulate: SimulatedDevice = {
  carries: {
    readings: [
      "ignition",
      "motion",
      "input1",
      "input2",
      "input3",
      "output1",
      "output2",
      "analog1",
      "odometer",
      "externalVoltage",
      "batteryVoltage",
      "temperature",
      "temperature2",
      "driverId",
      "rpm",
      "fuel",
      "throttle",
      "engineLoad",
      "coolantTemperature",
    ],
    alarms: alarmFields,
  },
  report: (device, reports, serial) =>
    bytesOfLatin1(reports.map((report, index) => message(device, report, serial + index)).join("")),
  answer(bytes) {
    if (bytes.length < keepAliveLength) return "more";
    const accepted = bytes[0] === keepAlivePrefix[0] && bytes[1] === keepAlivePrefix[1];
    return { length: keepAliveLength, accepted, reports: 1 };
  },
  obey: (message) => (latin1Of(message.subarray(0, 3)) === "AT$" ? bytesOfLatin1("$OK\r\n") : undefined),
};

function message(device: string, report: SimulatedReport, serial: number): string {
  const content = `,${serial & 0xffff},${device},${position(report)}\r\n`;
  const covered = `,${content.length}${content}`;
  return `@P,${crc16Arc(bytesOfLatin1(covered)).toString(16).toUpperCase().padStart(4, "0")}${covered}`;
}

function position(report: SimulatedReport): string {
  const { readings = {} } = report;
  const seconds = Math.round(report.time / 1000);
  const [longitude, latitude] = [Math.round(report.longitude * 1e6), Math.round(report.latitude * 1e6)];
  const place = `${longitude},${latitude},${Math.round(report.course)}`;
  const inputs = bits([readings.ignition ?? report.ignition, readings.input1, readings.input2, readings.input3]);
  const outputs = bits([readings.output1, readings.output2]);
  const odometer = Math.round((readings.odometer ?? 0) * 10);
  const analog = Math.round((readings.analog1 ?? 0) * 1000);
  const sensors = `${celsius(readings.temperature)},${celsius(readings.temperature2)}`;
  const ports = `${inputs},${Math.round(report.speed)},${outputs},${analog},${readings.driverId ?? ""}`;
  return `${seconds},${seconds},${seconds},${place},2,${odometer},8,${ports},${sensors},\x1a,${custom(report)}`;
}

/** 200.0 °C stands for no sensor. */
function celsius(value = 200): number {
  return Math.round(value * 10);
}

function bits(values: readonly (boolean | undefined)[]): number {
  return values.reduce((all, value, index) => (value === true ? all | (1 << index) : all), 0);
}

function custom({ satellites, altitude, speed, readings = {}, alarm }: SimulatedReport): string {
  const tenths = (value: number | undefined, usual: number): number => Math.round((value ?? usual) * 10);
  const { rpm, fuel, throttle, engineLoad, coolantTemperature, motion } = readings;
  const volts = `${tenths(readings.externalVoltage, 12.6)},${tenths(readings.batteryVoltage, 4.1)}`;
  const moving = Number(motion ?? speed > 0);
  const engine = [rpm, fuel, throttle, engineLoad, coolantTemperature].map((value) => value ?? "").join(",");
  const alarms = alarmFields.map((each) => Number(each === alarm)).join(",");
  return `${form},${satellites},${volts},${Math.round(altitude)},${moving},${engine},${alarms}`;
}
