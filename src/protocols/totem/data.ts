import type { Effect } from "../../model/effects.ts";
import { cellsText } from "../../wire/radio.ts";
import { type Draft, draft, put, raise, reportedTime } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import { dataAlarms } from "./alarms.ts";
import { type Read, seal } from "./sentence.ts";
import { putStatus } from "./status.ts";
import { celsius, malformed, placeOf, positioned, scaled } from "./values.ts";

/** Characters of the parts of a standard data string (AT09, 2.2.1). */
const statusLength = 8;
const timeLength = 12;
const serialLength = 4;
const temperatureLength = 4;
/** Satellites, GSM, course, speed, HDOP, odometer. */
const motionLength = 21;
const latitudeLength = 10;
const longitudeLength = 11;
const analogLength = 4;
const cellLength = 8;
/** MNC and MCC. */
const networkLength = 5;

/** What stands between time and satellites. */
interface Middle {
  /** Characters of battery and external power: 2 and 2, or 3 of the battery alone. */
  readonly power: 3 | 4;
  readonly network: boolean;
  readonly inputs: number;
  readonly probes: number;
}

/**
 * Which parts a text of this length has: analog input 1, with 2 to 4 or without, and no, one or two probes. Undefined:
 * there is no such text.
 */
function middleOf(length: number): Middle | undefined {
  for (const power of [4, 3] as const)
    for (const network of [false, true]) {
      const values = (length - power - cellLength - (network ? networkLength : 0)) / analogLength;
      if (values === 1 || values === 2 || values === 3) return { power, network, inputs: 1, probes: values - 1 };
      if (values === 5 || values === 6) return { power, network, inputs: 4, probes: values - 4 };
    }
  return undefined;
}

const analogs = ["analog1", "analog2", "analog3", "analog4"] as const;
const temperatures = ["temperature", "temperature2"] as const;

/**
 * Standard data string of AT05, AT07 and AT09 (2.2). Its acknowledgement is of type AA, whatever the string's type
 * (2.2.3).
 */
export const readData: Read = ({ kind, body }) => {
  const report = draft();
  const fix = readString(kind, body, report);
  if (fix === undefined) return malformed;
  return [fix, { type: "reply", bytes: seal(`AA${body.slice(-serialLength)}`), when: "stored" }];
};

function readString(kind: string, body: string, report: Draft): Effect | undefined {
  const placeEnd = placeEndOf(body);
  const motionAt = placeEnd - longitudeLength - latitudeLength - motionLength;
  const middleAt = statusLength + timeLength;
  const parts = middleOf(motionAt - middleAt);
  const status = hexOf(body.slice(0, statusLength));
  const time = reportedTime(report, body.slice(statusLength, middleAt));
  const lon = body.slice(placeEnd - longitudeLength, placeEnd);
  const lat = body.slice(placeEnd - longitudeLength - latitudeLength, placeEnd - longitudeLength);
  const place = placeOf(lat.slice(0, -1), lat.slice(-1), lon.slice(0, -1), lon.slice(-1));
  if (parts === undefined || status === undefined || time === undefined || place === undefined) return undefined;
  report.attributes.event = kind;
  report.attributes.status = body.slice(0, statusLength);
  const alarm = dataAlarms.get(kind);
  if (alarm !== undefined) raise(report, alarm);
  const valid = putStatus(report, status, parts.inputs, parts.probes);
  const motion = body.slice(motionAt);
  readMiddle(report, body.slice(middleAt, motionAt), parts, motion.slice(2, 4));
  put(report, "satellites", scaled(motion.slice(0, 2), 1), "satelliteCount");
  put(report, "hdop", numberOf(motion.slice(10, 14)), "horizontalDilution");
  put(report, "odometer", scaled(motion.slice(14, 21), 1), "mileage");
  if (placeEnd + serialLength < body.length)
    put(report, "temperature", celsius(body.slice(placeEnd, placeEnd + temperatureLength)), "lastProbe");
  const speed = scaled(motion.slice(7, 10), 1);
  const course = scaled(motion.slice(4, 7), 1);
  return positioned({ ...place, time, valid, speed, course }, report, undefined);
}

/** Offset behind the longitude: a serial number follows, in some strings after a temperature. */
function placeEndOf(body: string): number {
  const usual = body.length - serialLength;
  const before = body[usual - 1];
  return before === "E" || before === "W" ? usual : usual - temperatureLength;
}

/** Battery and external power in volts, analog inputs, probes, cell. */
function readMiddle(report: Draft, text: string, parts: Middle, signal: string): void {
  const { power, network, inputs, probes } = parts;
  if (power === 3) put(report, "batteryVoltage", scaled(text.slice(0, 3), 100), "batteryText");
  else {
    put(report, "batteryVoltage", scaled(text.slice(0, 2), 10), "batteryText");
    put(report, "externalVoltage", scaled(text.slice(2, 4), 1), "externalText");
  }
  const value = (index: number): string => text.slice(power + index * analogLength, power + (index + 1) * analogLength);
  for (const [index, name] of analogs.slice(0, inputs).entries())
    put(report, name, scaled(value(index), 100), `ad${index + 1}`);
  for (const [index, name] of temperatures.slice(0, probes).entries())
    put(report, name, celsius(value(inputs + index)), `probe${index + 1}`);
  const cellAt = power + (inputs + probes) * analogLength;
  const csq = scaled(signal, 1);
  // As GSM gives it (3GPP TS 27.007, +CSQ).
  if (csq !== undefined && csq <= 31) put(report, "rssi", 2 * csq - 113, "gsmSignal");
  const lac = hexOf(text.slice(cellAt, cellAt + 4));
  const cellId = hexOf(text.slice(cellAt + 4, cellAt + cellLength));
  const codes = network ? text.slice(cellAt + cellLength) : "";
  const cell = { mcc: scaled(codes.slice(2), 1), mnc: scaled(codes.slice(0, 2), 1), lac, cellId, signal: csq };
  const cells = lac || cellId ? cellsText([cell]) : undefined;
  if (cells !== undefined) report.attributes.cells = cells;
}
