import { cellsText } from "../../wire/radio.ts";
import { type Draft, put } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import { isDriver } from "./codes.ts";
import { keep } from "./sentence.ts";

/**
 * `H_METER;BCK_VOLT;MSG_TYPE` (only where HBM is on), then what the model adds (ST300/340 Operation Manual, 6-1-1 to
 * 6-7-1).
 */
export function readTail(report: Draft, fields: readonly string[], at: number): void {
  if (at >= fields.length) return;
  const minutes = numberOf(fields[at]);
  put(report, "engineSeconds", minutes === undefined ? undefined : minutes * 60, "hourMeter");
  put(report, "batteryVoltage", numberOf(fields[at + 1]), "backupVoltage");
  if (fields[at + 2] === "0") report.attributes.archive = true;
  if (at + 3 < fields.length) readModelFields(report, fields.slice(at + 3));
}

/** DID of an i-Button: seven bytes in hex. */
const driverPattern = /^[0-9A-F]{14}$/i;
/** A probe's number and what it measured: `28F2B7600600005D:+5.2`, or `:` where there is none. */
const probePattern = /^(?:[0-9A-F]{16})?:([+-]?[\d.]*)$/i;

const probes = ["temperature", "temperature2", "temperature3"] as const;
const volts = ["analog1", "analog2", "analog3"] as const;

/**
 * ADC values have a point, RPM has none; DID and DID_REG, the probes and the cell show themselves by their form. All
 * else is kept as it came.
 */
function readModelFields(report: Draft, fields: readonly string[]): void {
  const driver = fields.findIndex((text) => driverPattern.test(text));
  const cell = fields.findIndex((_, index) => isCell(fields, index));
  const left: string[] = [];
  let volt = 0;
  let probe = 0;
  for (let at = 0; at < fields.length; at++) {
    const text = fields[at] ?? "";
    const measured = probePattern.exec(text)?.[1];
    if (at === driver) readDriver(report, text, fields[++at]);
    else if (at === cell) at = readCell(report, fields, at);
    else if (measured !== undefined) put(report, probes[probe++] ?? "temperature3", numberOf(measured), "probe");
    else if (at === volt && volt < 3 && /^\d+\.\d+$/.test(text))
      put(report, volts[volt++] ?? "analog3", numberOf(text), "adc");
    else if (at === 0 && driver === 1 && /^\d{1,5}$/.test(text)) put(report, "rpm", numberOf(text), "engineSpeed");
    else left.push(text);
  }
  keep(report, "extra", left.join(";").replace(/;+$/, ""));
}

function readDriver(report: Draft, id: string, registered: string | undefined): void {
  if (!isDriver(id)) return;
  report.readings.driverId = id;
  if (registered === "0" || registered === "1") report.attributes.driverRegistered = registered === "1";
}

/** CELL_ID, MCC, MNC, RX level, LAC, TA. */
function isCell(fields: readonly string[], at: number): boolean {
  const mcc = fields[at + 1] ?? "";
  const level = fields[at + 3] ?? "";
  return /^[2-7]\d\d$/.test(mcc) && /^\d{1,3}$/.test(fields[at + 2] ?? "") && /^(?:0|-\d+)$/.test(level);
}

/** Puts the cell whose number stands at `at`; answers the index of its last field. */
export function readCell(report: Draft, fields: readonly string[], at: number): number {
  const id = fields[at] ?? "";
  // Number and area in hex with the BSIC in decimal, or the number alone in decimal.
  const cellId = id.length === 10 ? hexOf(id.slice(0, 4)) : numberOf(id);
  const [mcc, mnc, signal, lac] = fields.slice(at + 1, at + 5).map((text) => numberOf(text));
  const text = cellsText([{ mcc, mnc, lac, cellId, signal }]);
  if (text !== undefined && cellId !== undefined && cellId > 0) report.attributes.cells = text;
  return at + 5;
}
