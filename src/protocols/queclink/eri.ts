import { type Draft, put } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import { readCan } from "./canbus.ts";
import type { Place } from "./location.ts";
import { isHandheld } from "./models.ts";
import { keep, keepNumber, type Sentence } from "./sentence.ts";
import { isStatus, readAnalog, readHours, readSignal, readStatus, thousandth } from "./status.ts";
import { readAppended, readGv200, readPercent } from "./tail.ts";

/** The most devices of a list, so that a damaged count costs nothing. */
const mostDevices = 32;

/** A place among the fields, moved on by what reads them. */
interface Cursor {
  readonly fields: readonly string[];
  readonly end: number;
  at: number;
}

function take(cursor: Cursor): string | undefined {
  return cursor.at < cursor.end ? cursor.fields[cursor.at++] : undefined;
}

/** Reads what +RESP:GTERI has behind its last position: what +RESP:GTFRI has, and what the ERI mask names. */
export function readEri(sentence: Sentence, place: Place, mask: number, report: Draft, model: string): void {
  const { fields, end } = sentence;
  const cursor: Cursor = { fields, end, at: place.after };
  if (model.startsWith("GL320")) readGl320(cursor, mask, report);
  else if (isHandheld(model)) readBatteryTracker(cursor, report);
  else readVehicleReport(sentence, cursor, mask, report, model);
}

function readVehicleReport(sentence: Sentence, cursor: Cursor, mask: number, report: Draft, model: string): void {
  cursor.at = readAppended(sentence, cursor.at, report, model);
  if (model === "GV200") {
    readGv200(cursor.fields, cursor.at, report);
    cursor.at += 8;
  } else readVehicle(cursor, report, model);
  readExpansion(cursor, mask, report, model);
}

/** GL320M: mileage, battery, and the battery of a second one. */
function readGl320(cursor: Cursor, mask: number, report: Draft): void {
  put(report, "odometer", numberOf(take(cursor)), "mileage");
  readPercent(report, take(cursor));
  if (bit(mask, 7)) keepNumber(report, "externalBattery", take(cursor));
  keep(report, "eriData", cursor.fields.slice(cursor.at, cursor.end).join(","));
}

/** GL500 and its like: signal, error rate, voltage, battery, mode, movement. */
function readBatteryTracker(cursor: Cursor, report: Draft): void {
  readSignal(report, take(cursor));
  take(cursor);
  put(report, "batteryVoltage", thousandth(take(cursor)), "batteryMillivolts");
  readPercent(report, take(cursor));
  keepNumber(report, "workingMode", take(cursor));
  const motion = take(cursor);
  if (motion === "0" || motion === "1") report.readings.motion = motion === "1";
}

/**
 * Mileage, hours, analogue inputs, battery, device status, type of device at the serial port. The status, of six or ten
 * digits, tells how many inputs there are.
 */
function readVehicle(cursor: Cursor, report: Draft, model: string): void {
  put(report, "odometer", numberOf(take(cursor)), "mileage");
  readHours(report, take(cursor));
  const { at } = cursor;
  const found = [1, 2, 3, 4, 5].find((ahead) => isStatus(cursor.fields[at + ahead]));
  const inputs = (found ?? inputsOf(model) + 1) - 1;
  for (let index = 0; index < inputs; index++) readAnalog(report, index, take(cursor));
  readPercent(report, take(cursor));
  readStatus(report, take(cursor));
  keepNumber(report, "uartDeviceType", take(cursor));
}

/** Analogue inputs of a model, where no status tells. */
function inputsOf(model: string): number {
  if (model === "GV310LAU" || model === "GV350CEU") return 3;
  return model === "" || model.startsWith("GV6") || model === "GV350M" ? 1 : 2;
}

function bit(mask: number, index: number): boolean {
  return ((mask >>> index) & 1) === 1;
}

/** What the ERI mask names, in this order. */
function readExpansion(cursor: Cursor, mask: number, report: Draft, model: string): void {
  if (bit(mask, 0) && model !== "GV350M") keepHex(report, "digitalFuelSensorData", take(cursor));
  if (bit(mask, 29)) readSerialFuel(cursor, report);
  if (bit(mask, 1)) readOneWire(cursor, report);
  if (bit(mask, 2)) readCanData(cursor, report, model);
  if (bit(mask, 3) || bit(mask, 4) || (bit(mask, 0) && model === "GV350M"))
    readFuelSensors(cursor, mask, report, model);
  if (bit(mask, 7)) readRf433(cursor, report);
  if (bit(mask, 8)) readAccessories(cursor, report, model);
}

function readSerialFuel(cursor: Cursor, report: Draft): void {
  cursor.at += 2;
  const mask = hexOf(take(cursor)) ?? 0;
  if (bit(mask, 0)) keepHex(report, "digitalFuelSensorData", take(cursor));
  if (bit(mask, 1)) keepHex(report, "fuelHeight", take(cursor));
}

/** What a fuel sensor measured, in its own unit: a hexadecimal number. */
function keepHex(report: Draft, name: string, text: string | undefined): void {
  const value = hexOf(text);
  if (value === undefined) keep(report, name, text);
  else report.attributes[name] = value;
}

const temperatures = [
  "temperature",
  "temperature2",
  "temperature3",
  "temperature4",
  "temperature5",
  "temperature6",
  "temperature7",
  "temperature8",
] as const;

/**
 * Number of devices at the 1-wire bus; then identifier, type and data of each. Data of a thermometer are sixteenths of
 * a degree, as a signed number of 16 bits.
 */
function readOneWire(cursor: Cursor, report: Draft): void {
  const count = countOf(cursor);
  for (let index = 0; index < count; index++) {
    const id = take(cursor);
    const type = take(cursor);
    const data = take(cursor);
    const raw = hexOf(data);
    const name = temperatures[index];
    if (type === "1" && raw !== undefined && raw <= 0xffff && name !== undefined)
      put(report, name, ((raw << 16) >> 16) / 16, `oneWireTemperature${index + 1}`);
    else keep(report, `oneWireData${index + 1}`, data);
    keep(report, `oneWireId${index + 1}`, id);
  }
}

function readCanData(cursor: Cursor, report: Draft, model: string): void {
  keepNumber(report, "canDeviceState", take(cursor));
  const mask = hexOf(take(cursor)) ?? 0;
  cursor.at = readCan(cursor.fields, cursor.at, cursor.end, mask, report, model);
}

/** Number of fuel sensors; then type, and percentage, volume and temperature as the mask says. */
function readFuelSensors(cursor: Cursor, mask: number, report: Draft, model: string): void {
  const count = countOf(cursor);
  for (let index = 0; index < count; index++) {
    const name = `fuelSensor${index + 1}`;
    keepNumber(report, `${name}Type`, take(cursor));
    if (model === "GV350M") {
      take(cursor);
      if (bit(mask, 0)) keepHex(report, `${name}Data`, take(cursor));
    }
    if (bit(mask, 3)) put(report, index === 0 ? "fuel" : "fuel2", numberOf(take(cursor)), `${name}Percentage`);
    if (bit(mask, 4)) put(report, index === 0 ? "fuelVolume" : "fuelVolume2", numberOf(take(cursor)), `${name}Volume`);
    if (bit(mask, 10)) put(report, "fuelTemperature", numberOf(take(cursor)), `${name}Temperature`);
  }
}

/** Number of radio accessories; then serial number, type, temperature, and humidity of the type 2. */
function readRf433(cursor: Cursor, report: Draft): void {
  const count = countOf(cursor);
  for (let index = 0; index < count; index++) {
    keep(report, `accessory${index + 1}Serial`, take(cursor));
    const type = take(cursor);
    keepNumber(report, `accessory${index + 1}Temperature`, take(cursor));
    if (type === "2") keepNumber(report, `accessory${index + 1}Humidity`, take(cursor));
  }
}

/**
 * What each bit of a Bluetooth accessory's append mask adds, in this order. (GV600M, GV310LAU, +RESP:GTERI, "Accessory
 * Append Mask")
 */
const accessoryItems: readonly (readonly [bit: number, name: string])[] = [
  [0, "Name"],
  [1, "Mac"],
  [2, "Status"],
  [3, "Voltage"],
  [4, "Temperature"],
  [5, "Humidity"],
  [7, "InputOutput"],
  [8, "Event"],
  [9, "TyrePressure"],
  [10, "Time"],
  [11, "EnhancedTemperature"],
  [12, "Magnet"],
  [13, "Battery"],
  [14, "Relay"],
];

/** Number of Bluetooth accessories; then index, type, model, data and what its append mask names. */
function readAccessories(cursor: Cursor, report: Draft, model: string): void {
  const count = countOf(cursor);
  for (let index = 0; index < count; index++) {
    const name = `accessory${index + 1}`;
    take(cursor);
    keepNumber(report, `${name}Type`, take(cursor));
    keepNumber(report, `${name}Model`, take(cursor));
    if (model.startsWith("GV600M")) take(cursor);
    keep(report, `${name}Data`, take(cursor));
    readAccessoryItems(cursor, hexOf(take(cursor)) ?? 0, report, name);
  }
}

function readAccessoryItems(cursor: Cursor, mask: number, report: Draft, name: string): void {
  for (const [index, item] of accessoryItems) {
    if (!bit(mask, index)) continue;
    const text = take(cursor);
    const volts = item === "Voltage" ? thousandth(text) : undefined;
    if (volts !== undefined) report.attributes[`${name}${item}`] = volts;
    else if (item === "Name" || item === "Mac") keep(report, `${name}${item}`, text);
    else keepNumber(report, `${name}${item}`, text);
  }
}

/** Accessory of +RESP:GTBAA and +RESP:GTBID, whose mask stands at `at`. */
export function readAccessory(fields: readonly string[], at: number, end: number, report: Draft): void {
  readAccessoryItems({ fields, end, at: at + 1 }, hexOf(fields[at]) ?? 0, report, "accessory");
}

function countOf(cursor: Cursor): number {
  const count = numberOf(take(cursor)) ?? 0;
  return Number.isInteger(count) && count > 0 ? Math.min(count, mostDevices) : 0;
}
