import type { NumberReading } from "../../model/readings.ts";
import { type Draft, put } from "../../wire/report.ts";
import { numberOf } from "../../wire/text.ts";
import { troubleCode } from "../../wire/trouble-code.ts";
import { putVolts } from "./events.ts";
import { keep, keepNumber } from "./sentence.ts";

type Item = (report: Draft, text: string) => void;

function reading(name: NumberReading, manualName: string): Item {
  return (report, text) => put(report, name, numberOf(text), manualName);
}

/** Items of the OBD report mask, one field for each bit. (GV500, +RESP:GTOBD, "Report Mask") */
const items: readonly Item[] = [
  (report, text) => {
    report.readings.vin = text;
  },
  (report, text) => keepNumber(report, "obdConnected", text),
  putVolts,
  (report, text) => keep(report, "supportedPids", text),
  reading("rpm", "obdRpm"),
  reading("vehicleSpeed", "obdSpeed"),
  reading("coolantTemperature", "obdCoolantTemperature"),
  reading("fuelConsumption", "obdConsumption"),
  (report, text) => keepNumber(report, "dtcsClearedDistance", text),
  (report, text) => keepNumber(report, "milDistance", text),
  (report, text) => {
    if (text === "0" || text === "1") report.readings.engineLamp = text === "1";
  },
  reading("dtcCount", "obdDtcCount"),
  readTroubleCodes,
  reading("throttle", "obdThrottle"),
  reading("engineLoad", "obdEngineLoad"),
  reading("fuel", "obdFuelLevel"),
  (report, text) => keep(report, "obdProtocol", text),
  (report, text) => keep(report, "obdReserved17", text),
  (report, text) => keep(report, "obdReserved18", text),
  reading("odometer", "obdMileage"),
];

/** Four digits of each code: two bits are its letter. */
function readTroubleCodes(report: Draft, text: string): void {
  if (!/^(?:[0-9A-Fa-f]{4})+$/.test(text)) {
    keep(report, "obdDtcs", text);
    return;
  }
  const codes: string[] = [];
  for (let at = 0; at < text.length; at += 4) codes.push(troubleCode(Number.parseInt(text.slice(at, at + 4), 16)));
  report.readings.dtcs = codes.join(" ");
}

/** Reads the items of a report mask from `at` to `stop`, where the position begins. */
export function readObd(fields: readonly string[], at: number, stop: number, mask: number, report: Draft): void {
  let next = at;
  for (const [bit, read] of items.entries()) {
    if (((mask >>> bit) & 1) === 0 || next >= stop) continue;
    const text = fields[next++] ?? "";
    if (text !== "") read(report, text);
  }
}
