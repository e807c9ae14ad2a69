import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { alarms, alertIdOf, overTheAir, packetTypeOf } from "./alerts.ts";

const inputs = ["input4", "input3", "input2", "input1"] as const;
const outputs = ["output2", "output1"] as const;
/** Serving cell, and no neighbours. */
const cells = "20,262,2,04D2,162E,x,x,x,x,x,x,x,x,x,x,x,x";

/** Empty fields from the date to the operator. */
const nowhere = ",".repeat(12);

/** A VT140: it logs in and sends locations that nobody acknowledges. */
export const simulate: SimulatedDevice = {
  carries: {
    readings: [
      "powerConnected",
      "externalVoltage",
      "batteryVoltage",
      ...inputs,
      ...outputs,
      "analog1",
      "analog2",
      "odometer",
    ],
    alarms,
  },
  login: (device) => bytesOfLatin1(`$,LGN,WAYBEAM,NA,${imeiOf(device)},V1.0,AIS140,0.000000,N,0.000000,E*\r\n`),
  report: (device, reports, serial) =>
    bytesOfLatin1(reports.map((report, index) => sentence(device, report, serial + index)).join("")),
  obey(message, device, serial) {
    const answer = `${frameNumber(serial)},0.0,0.0,0,(${latin1Of(message)})`;
    const fields = `${nowhere},0,1,12.0,4.0,0,C,${cells},0000,00,${answer}`;
    return bytesOfLatin1(`$,NRM,WAYBEAM,V1.0,NR,${overTheAir},L,${imeiOf(device)},NA,0,${fields}*\r\n`);
  },
};

function imeiOf(device: string): string {
  return device.slice(-15).padStart(15, "0");
}

function frameNumber(serial: number): string {
  return String(serial % 1_000_000).padStart(6, "0");
}

function sentence(device: string, report: SimulatedReport, serial: number): string {
  const { readings = {} } = report;
  const flag = (value: boolean | undefined) => (value === true ? "1" : "0");
  const type = packetTypeOf(report.alarm);
  const alert = String(alertIdOf(report.alarm)).padStart(2, "0");
  const [year, month, day, ...clock] = new Date(report.time).toISOString().slice(0, 19).split(/[-T:]/);
  const place = `${degrees(report.latitude, "N", "S")},${degrees(report.longitude, "E", "W")}`;
  const course = ((report.course % 360) + 360) % 360;
  const motion = `${report.speed.toFixed(1)},${course.toFixed(2)},${report.satellites},${Math.round(report.altitude)}`;
  const ignition = flag(readings.ignition ?? report.ignition);
  const volts = `${readings.externalVoltage ?? 12.6},${readings.batteryVoltage ?? 4}`;
  const power = `${ignition},${flag(readings.powerConnected ?? true)},${volts}`;
  const bits = (names: typeof inputs | typeof outputs) => names.map((name) => flag(readings[name])).join("");
  const ports = `${bits(inputs)},${bits(outputs)}`;
  const metres = Math.round((readings.odometer ?? 0) * 1000);
  const tail = `${readings.analog1 ?? 0},${readings.analog2 ?? 0},${metres},${frameNumber(serial)}`;
  const head = `$,NRM,WAYBEAM,V1.0,${type},${alert},L,${imeiOf(device)},NA`;
  const moment = `${day}${month}${year},${clock.join("")}`;
  const state = `1.1,0.9,NETWORK,${power},0,C,${cells},${ports}`;
  return `${head},1,${moment},${place},${motion},${state},${tail},0*\r\n`;
}

/** Degrees with seven decimals, and the hemisphere. */
function degrees(value: number, positive: string, negative: string): string {
  return `${Math.abs(value).toFixed(7)},${value < 0 ? negative : positive}`;
}
