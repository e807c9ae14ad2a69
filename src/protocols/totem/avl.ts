import type { Effect } from "../../model/effects.ts";
import { cellsText } from "../../wire/radio.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { type Draft, draft, put, raise } from "../../wire/report.ts";
import { ddmmyy, hexOf, hhmmss, mismatch, numberOf } from "../../wire/text.ts";
import { digitTime } from "../../wire/time.ts";
import { avlAlarms } from "./alarms.ts";
import type { Read } from "./sentence.ts";
import { celsius, kmhOf, malformed, placeOf, positioned, scaled } from "./values.ts";

/** What the trackers of the hex form wait for before they forget a report. */
export const acknowledgement: Effect = Object.freeze({
  type: "reply",
  bytes: bytesOfLatin1("ACK OK\r\n"),
  when: "stored",
});

/** Index of the field behind PDOP, HDOP and VDOP. */
const statusAt = 4;
const clockAt = 5;
const voltageAt = 6;
const valuesAt = 7;
/** What stands in place of GPRMC without a fix: zeros. */
const noPosition = /^0+$/;

/** A report of AVL02, AVL05, AVL08 and AVL201: GPRMC, then fields between bars (AVL02, 3). */
export const readAvl: Read = ({ kind, body }) => {
  const report = draft();
  const fields = body.split("|");
  const rmc = fields[0] ?? "";
  const position = noPosition.test(rmc) ? undefined : readRmc(rmc, report);
  if (position === "malformed") return malformed;
  report.attributes.event = kind;
  const alarm = avlAlarms.get(kind);
  if (alarm !== undefined) raise(report, alarm);
  put(report, "pdop", numberOf(fields[1]), "positionDilution");
  put(report, "hdop", numberOf(fields[2]), "horizontalDilution");
  put(report, "vdop", numberOf(fields[3]), "verticalDilution");
  putStatus(report, fields[statusAt] ?? "");
  readVoltages(report, fields[voltageAt] ?? "");
  readValues(report, fields.slice(valuesAt));
  return [positioned(position, report, digitTime(fields[clockAt] ?? "", 0, 14)), acknowledgement];
};

/** `$GPRMC,hhmmss.sss,A,lat,N,lon,E,knots,course,ddmmyy,...`. A clock that was never set gives the date 000000. */
function readRmc(text: string, report: Draft) {
  const fields = text.split(",");
  const place = placeOf(fields[3], fields[4], fields[5], fields[6]);
  const clock = hhmmss.read(fields, 1);
  const validity = fields[2];
  if (fields[0] !== "$GPRMC" || place === undefined || clock === mismatch) return "malformed";
  if (validity !== "A" && validity !== "V") return "malformed";
  const day = ddmmyy.read(fields, 9);
  if (day === mismatch && !/^\d{6}$/.test(fields[9] ?? "")) return "malformed";
  let time = day === mismatch ? undefined : day + clock;
  if (time === undefined && validity === "A" && fields[9] !== "000000") {
    report.attributes.reportedDate = fields[9] ?? "";
    report.attributes.reportedTime = fields[1] ?? "";
    time = 0;
  }
  return { ...place, time, valid: validity === "A", speed: kmhOf(fields[7]), course: numberOf(fields[8]) };
}

const inputs = ["input1", "input2", "input3", "input4"] as const;
const outputs = ["output1", "output2", "output3", "output4"] as const;

/** Twelve flags: SOS, buttons A to C, inputs 1 to 4, outputs 1 to 4. */
function putStatus(report: Draft, text: string): void {
  if (text === "") return;
  report.attributes.status = text;
  if (!/^[01]{12}$/.test(text)) return;
  if (text[0] === "1") raise(report, "sos");
  for (const [index, button] of ["buttonA", "buttonB", "buttonC"].entries())
    if (text[1 + index] === "1") report.attributes[button] = true;
  for (const [index, name] of inputs.entries()) report.readings[name] = text[4 + index] === "1";
  for (const [index, name] of outputs.entries()) report.readings[name] = text[8 + index] === "1";
}

/** `ABBBIIII`: charging, battery and supply in hundredths of a volt. */
function readVoltages(report: Draft, text: string): void {
  if (!/^[01]\d{7}$/.test(text)) {
    if (text !== "") report.attributes.voltage = text;
    return;
  }
  report.readings.charging = text[0] === "1";
  put(report, "batteryVoltage", scaled(text.slice(1, 4), 100), "batteryText");
  put(report, "externalVoltage", scaled(text.slice(4), 100), "externalText");
}

/**
 * What follows the voltages: analog inputs (not of AVL201), cell, temperature, odometer in km (not of AVL02), serial
 * number, and of AVL08 a card. The odometer is known by its point.
 */
function readValues(report: Draft, fields: readonly string[]): void {
  const point = fields.findIndex((text) => text.includes("."));
  const odometerAt = point < 0 ? 3 : point;
  const [analog, cell = "", probes = ""] = odometerAt < 3 ? ["", ...fields] : fields;
  putAnalog(report, analog ?? "");
  putCell(report, cell);
  putProbes(report, probes);
  if (point >= 0) put(report, "odometer", numberOf(fields[point]), "mileage");
  putCard(report, fields[point < 0 ? -1 : point + 2]);
}

/** `CCCCDDDD`: two analog inputs in hundredths of a volt. */
export function putAnalog(report: Draft, text: string): void {
  if (!/^\d{8}$/.test(text)) return;
  put(report, "analog1", scaled(text.slice(0, 4), 100), "adc0");
  put(report, "analog2", scaled(text.slice(4), 100), "adc1");
}

/** `LLLLCCCC`: area and cell in hex; a cell of 3G has more digits. */
export function putCell(report: Draft, text: string): void {
  if (text.length < 8 || /^0+$/.test(text)) return;
  const cells = cellsText([{ lac: hexOf(text.slice(0, 4)), cellId: hexOf(text.slice(4)) }]);
  if (cells !== undefined) report.attributes.cells = cells;
}

/** One probe of four characters, or two. */
export function putProbes(report: Draft, text: string): void {
  put(report, "temperature", celsius(text.slice(0, 4)), "probe1");
  put(report, "temperature2", celsius(text.slice(4, 8)), "probe2");
}

/** A card's number; zeros or nothing: there is none. */
function putCard(report: Draft, text: string | undefined): void {
  if (text !== undefined && /^\d{5,16}$/.test(text) && !/^0+$/.test(text)) report.readings.driverId = text;
}
