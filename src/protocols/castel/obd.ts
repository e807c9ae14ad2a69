import type { NumberReading } from "../../model/readings.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, put } from "../../wire/report.ts";
import { troubleCode } from "../../wire/trouble-code.ts";
import { lengths } from "./pid-lengths.ts";

/** Bytes that are kept of what can't be read any further. */
const mostUnread = 256;

/**
 * What a parameter is: the manual's name, our reading where there is one, the number of its units in one of ours. The
 * vehicle's own odometer stands beside the tracker's.
 */
type Parameter = readonly [manualName: string, reading?: NumberReading | undefined, perUnit?: number];

/**
 * Parameters whose meaning and unit are known. Trackers send values in their unit, not as SAE J1979 codes them: °C, %,
 * km/h. 0x21 stands before the parameters of SAE J1979; the others are numbers of SAE J1939.
 */
const parameters: ReadonlyMap<number, Parameter> = new Map<number, Parameter>([
  [0x2103, ["fuelSystemStatus"]],
  [0x2104, ["calculatedLoad", "engineLoad"]],
  [0x2106, ["shortFuelTrim1"]],
  [0x2107, ["longFuelTrim1"]],
  [0x2108, ["shortFuelTrim2"]],
  [0x2109, ["longFuelTrim2"]],
  [0x210a, ["obdFuelPressure", "fuelPressure"]],
  [0x210b, ["manifoldPressure", "intakePressure"]],
  [0x210c, ["engineSpeed", "rpm"]],
  [0x210d, ["obdSpeed", "vehicleSpeed"]],
  [0x210e, ["timingAdvance"]],
  [0x2110, ["massAirFlow", "airFlow", 100]],
  [0x2111, ["throttlePosition", "throttle"]],
  [0x211c, ["obdStandard"]],
  [0x211f, ["runTime"]],
  [0x2121, ["milDistance"]],
  [0x212c, ["commandedEgr"]],
  [0x212e, ["commandedPurge"]],
  [0x212f, ["fuelLevel", "fuel"]],
  [0x2130, ["clearedWarmUps"]],
  [0x2131, ["clearedDistance"]],
  [0x2133, ["barometricPressure", "airPressure"]],
  [0x213c, ["catalystTemperature1"]],
  [0x213d, ["catalystTemperature2"]],
  [0x213e, ["catalystTemperature3"]],
  [0x213f, ["catalystTemperature4"]],
  [0x2142, ["moduleVoltage", "externalVoltage", 1000]],
  [0x2143, ["absoluteLoad"]],
  [0x2145, ["relativeThrottle"]],
  [0x2147, ["throttleB"]],
  [0x2148, ["throttleC"]],
  [0x2149, ["pedalD"]],
  [0x214a, ["pedalE"]],
  [0x214b, ["pedalF"]],
  [0x214c, ["commandedThrottle"]],
  [0x214d, ["milTime"]],
  [0x214e, ["clearedTime"]],
  [0x2151, ["fuelType"]],
  [0x2152, ["ethanol"]],
  [0x215a, ["relativePedal"]],
  [0x215b, ["hybridBattery", "tractionBattery"]],
  [0x21a6, ["obdOdometer", undefined, 10]],
  [0x0054, ["wheelSpeed", "vehicleSpeed"]],
  [0x005c, ["percentLoad", "engineLoad"]],
  [0x00be, ["engineSpeed", "rpm"]],
  [0x06e1, ["defLevel", "adBlue"]],
]);

/** Temperatures of one byte, -40 to 215 °C: of negative ones the lowest 8 bits. */
const temperatures: ReadonlyMap<number, Parameter> = new Map<number, Parameter>([
  [0x2105, ["obdCoolant", "coolantTemperature"]],
  [0x210f, ["obdIntake", "intakeTemperature"]],
  [0x2146, ["obdAmbient", "ambientTemperature"]],
  [0x215c, ["obdOil", "oilTemperature"]],
  [0x006e, ["obdCoolant", "coolantTemperature"]],
]);
const hottest = 215;

function hexOf(code: number): string {
  return code.toString(16).padStart(4, "0");
}

function putValue(report: Draft, code: number, value: number): void {
  const temperature = temperatures.get(code);
  const [name = `pid0x${hexOf(code)}`, reading, perUnit = 1] = temperature ?? parameters.get(code) ?? [];
  const number = temperature !== undefined && value > hottest ? value - 256 : value;
  if (reading === undefined) report.attributes[name] = number / perUnit;
  else put(report, reading, number / perUnit, name);
}

/** A parameter's value of so many bytes; one that is no number is kept as hex. */
export function readParameter(reader: Reader, report: Draft, code: number, length: number): void {
  if (length === 1) putValue(report, code, reader.u8());
  else if (length === 2) putValue(report, code, reader.u16le());
  else if (length === 4) putValue(report, code, reader.u32le());
  else report.attributes[`pid0x${hexOf(code)}`] = reader.hex(length);
}

/** A count and codes of parameters. */
export function readCodes(reader: Reader): readonly number[] {
  const codes: number[] = [];
  for (let left = reader.u8(); left > 0 && reader.remaining >= 2; left--) codes.push(reader.u16le());
  return codes;
}

/** Codes as an attribute gives them: `2104,210c`. */
export function codesText(codes: readonly number[]): string {
  return codes.map(hexOf).join(",");
}

/** The values of these codes, one after the other, up to the first whose length nobody knows. */
export function readParameters(reader: Reader, report: Draft, codes: readonly number[]): void {
  for (const code of codes) {
    const length = lengths.get(code);
    if (length === undefined || length > reader.remaining) {
      keepUnread(reader, report);
      return;
    }
    readParameter(reader, report, code, length);
  }
}

/** Keeps what is left as the attribute `unread`. */
export function keepUnread(reader: Reader, report: Draft): void {
  if (reader.remaining > 0) report.attributes.unread = reader.hex(Math.min(reader.remaining, mostUnread));
  reader.skip(reader.remaining);
}

/** Kind (0 stored, 1 pending), a count, codes; of commercial vehicles each with its attribute and how often it came. */
export function readTroubleCodes(reader: Reader, report: Draft, size: 2 | 4): void {
  report.attributes.dtcKind = reader.u8();
  const count = reader.u8();
  report.readings.dtcCount = count;
  const codes: string[] = [];
  const details: string[] = [];
  for (let left = count; left > 0 && reader.remaining >= size; left--) {
    codes.push(troubleCode(reader.u16le()));
    if (size === 4) details.push(`${reader.u8()},${reader.u8()}`);
  }
  if (codes.length > 0) report.readings.dtcs = codes.join(" ");
  if (details.length > 0) report.attributes.dtcDetails = details.join(";");
}
