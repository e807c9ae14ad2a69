import type { Alarm } from "../../model/alarms.ts";
import type { FlagReading, NumberReading } from "../../model/readings.ts";
import { latin1Of, type Reader } from "../../wire/reader.ts";
import { type Draft, put, raise } from "../../wire/report.ts";

/** A record's report and the parts of texts that several elements hold. */
export interface RecordDraft {
  readonly report: Draft;
  readonly parts: Map<number, Uint8Array>;
}

/** How an element is read: `signed`; `absent`: a value of ones only says that there is none (SAE J1939). */
type Kind = "unsigned" | "signed" | "absent";

interface NumberElement {
  readonly reading: NumberReading;
  readonly factor: number;
  readonly offset: number;
  readonly kind: Kind;
}

const numberOf = (reading: NumberReading, factor = 1, kind: Kind = "unsigned", offset = 0): NumberElement => ({
  reading,
  factor,
  offset,
  kind,
});

/** Elements that are readings ("IO elements list"). */
const numbers: ReadonlyMap<number, NumberElement> = new Map([
  [20, numberOf("analog3", 1e-3)],
  [21, numberOf("analog4", 1e-3)],
  [22, numberOf("analog1", 1e-3)],
  [23, numberOf("analog2", 1e-3)],
  [29, numberOf("externalVoltage", 1e-3)],
  [30, numberOf("batteryVoltage", 1e-3)],
  [32, numberOf("deviceTemperature", 1, "signed")],
  [39, numberOf("engineLoad")],
  [65, numberOf("odometer", 1e-3)],
  [74, numberOf("temperature3", 0.1, "signed")],
  [78, numberOf("temperature4", 0.1, "signed")],
  [79, numberOf("temperature", 0.1, "signed")],
  [80, numberOf("temperature2", 0.1, "signed")],
  [94, numberOf("rpm", 0.25)],
  [95, numberOf("vehicleSpeed")],
  [96, numberOf("coolantTemperature", 1, "unsigned", -40)],
  [97, numberOf("intakeTemperature", 1, "unsigned", -40)],
  [98, numberOf("fuel", 100 / 255)],
  [100, numberOf("fuelRate", 1 / 20)],
  [163, numberOf("odometer", 5e-3, "absent")],
  [164, numberOf("tripOdometer", 5e-3, "absent")],
  [165, numberOf("vehicleSpeed", 1 / 256, "absent")],
  [166, numberOf("rpm", 0.125, "absent")],
  [197, numberOf("rpm", 0.125, "absent")],
  [205, numberOf("fuel")],
  [207, numberOf("fuel", 0.4, "absent")],
  [208, numberOf("fuelUsed", 0.5, "absent")],
  [645, numberOf("odometer")],
]);

const flags: ReadonlyMap<number, FlagReading> = new Map([
  [2, "input1"],
  [3, "input2"],
  [4, "input3"],
  [5, "input4"],
  [13, "motion"],
  [170, "charging"],
  [173, "motion"],
  [251, "ignition"],
  [409, "ignition"],
]);

/** Elements that are alarms where their value fits. */
const alarms: ReadonlyMap<number, readonly [Alarm, (value: number) => boolean]> = new Map([
  [88, ["jamming", (value: number) => value > 0]],
  [134, ["hardBraking", (value: number) => value > 0]],
  [136, ["hardAcceleration", (value: number) => value > 0]],
  [410, ["tow", (value: number) => value > 0]],
  [411, ["accident", (value: number) => value > 0]],
  [415, ["gpsAntennaCut", (value: number) => value === 0]],
  [758, ["tampering", (value: number) => value === 1]],
]);

const gsmSignal = 27;
const iButton = 34;
/** Distance of the vehicle's bus, 5 m. */
const canDistance = 114;
const operator = 150;

/** Texts in elements of eight bytes: the vehicle's number, drivers of bus and tachograph, the tag of a trailer. */
const vinParts = [104, 105, 106] as const;
const drivers = [
  [126, 127],
  [155, 156],
] as const;
const tag = [760, 761] as const;
const textParts: ReadonlySet<number> = new Set([...vinParts, ...drivers.flat(), ...tag]);

const ones: Readonly<Record<number, number>> = { 1: 0xff, 2: 0xffff, 4: 0xffff_ffff };

function unsignedOf(reader: Reader, size: number): number {
  return size === 1 ? reader.u8() : size === 2 ? reader.u16() : reader.u32();
}

function signedOf(value: number, size: number): number {
  const range = 2 ** (size * 8);
  return value >= range / 2 ? value - range : value;
}

/** Products with a decimal fraction without the noise of the multiplication. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** Reads an element of one, two or four bytes. */
export function readElement({ report }: RecordDraft, id: number, reader: Reader, size: 1 | 2 | 4): void {
  const value = unsignedOf(reader, size);
  const element = numbers.get(id);
  if (element !== undefined) {
    if (element.kind === "absent" && value === ones[size]) return;
    const raw = element.kind === "signed" ? signedOf(value, size) : value;
    put(report, element.reading, rounded(raw * element.factor + element.offset), `io${id}`);
    return;
  }
  const flag = flags.get(id);
  if (flag !== undefined) {
    report.readings[flag] = value > 0;
    return;
  }
  const alarm = alarms.get(id);
  if (alarm?.[1](value)) raise(report, alarm[0]);
  if (alarm !== undefined) return;
  if (id === operator && value > 0) report.readings.operator = String(value);
  else if (id === gsmSignal && value <= 31) report.readings.signal = Math.round((value * 100) / 31);
  report.attributes[`io${id}`] = value;
}

/** Reads an element of eight bytes. */
export function readLongElement(record: RecordDraft, id: number, reader: Reader): void {
  const bytes = reader.take(8);
  if (textParts.has(id)) record.parts.set(id, bytes);
  else if (id === iButton) {
    if (bytes.some((byte) => byte !== 0)) record.report.readings.driverId = bytes.toHex();
  } else record.report.attributes[`io${id}`] = BigInt(`0x${bytes.toHex()}`).toString();
}

/** Text of parts that all came, without the zeros and blanks around it. */
function joined(parts: ReadonlyMap<number, Uint8Array>, ids: readonly number[]): string {
  let text = "";
  for (const id of ids) {
    const part = parts.get(id);
    if (part === undefined) return "";
    text += latin1Of(part);
  }
  return text.replaceAll(/[\0\xff]/g, " ").trim();
}

/**
 * Puts the texts together whose parts came in elements of their own, and takes the bus's distance where the tracker
 * tells none itself.
 */
export function finish({ report, parts }: RecordDraft): void {
  const distance = report.attributes[`io${canDistance}`];
  if (report.readings.odometer === undefined && typeof distance === "number" && distance > 0 && distance < 0xffff_ffff)
    put(report, "odometer", rounded(distance * 5e-3), "canDistance");
  if (parts.size === 0) return;
  const { readings, attributes } = report;
  const vin = joined(parts, vinParts);
  if (vin !== "") readings.vin = vin;
  for (const ids of drivers) {
    const driver = joined(parts, ids);
    if (driver === "") continue;
    if (readings.driverId === undefined) readings.driverId = driver;
    else if (readings.driverId !== driver) readings.driver2Id = driver;
  }
  const [first, second] = [parts.get(tag[0]), parts.get(tag[1])];
  if (first !== undefined && second !== undefined) attributes.tagId = first.toHex() + second.toHex();
}
