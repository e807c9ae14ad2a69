import type { Effect } from "../../model/effects.ts";
import { bit, type Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put } from "../../wire/report.ts";
import type { Message } from "./frames.ts";
import { type Place, readPlace, readTime, readVariantPlace } from "./position.ts";
import { answered, readReason } from "./reasons.ts";

/**
 * Factors of analogue inputs 1 to 3 as they are assigned at the factory: 0 to 30 V of the vehicle, 0 to 4.2 V of the
 * backup battery, -40 to 70 °C of it.
 */
const volts = 30 / 255;
const batteryVolts = 4.2 / 255;
const batteryDegrees = 110 / 255;
const coldest = -40;

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/**
 * Four bytes of inputs and outputs, the first one the highest: 24 door, 25 shock, 29 driving (by the ignition or what
 * stands for it), 31 unlock; 18 lock, 23 ignition's wire; 5 immobiliser, 7 charging. What level of an input is an open
 * door depends on the wiring.
 */
function readInputs(report: Draft, inputs: number): void {
  const { readings, attributes } = report;
  attributes.ioStatus = inputs;
  readings.input1 = bit(inputs, 24);
  readings.input2 = bit(inputs, 25);
  readings.input3 = bit(inputs, 31);
  readings.input4 = bit(inputs, 18);
  readings.input5 = bit(inputs, 23);
  readings.ignition = bit(inputs, 29);
  readings.blocked = bit(inputs, 5);
  readings.charging = bit(inputs, 7);
}

/** Analogue inputs 1 to 4, which an installation may assign otherwise; therefore they are kept as they are, too. */
function readAnalog(report: Draft, reader: Reader): void {
  const { attributes } = report;
  const [first, second, third, fourth] = [reader.u8(), reader.u8(), reader.u8(), reader.u8()];
  attributes.adc1 = first;
  attributes.adc2 = second;
  attributes.adc3 = third;
  attributes.adc4 = fourth;
  if (first > 0) put(report, "externalVoltage", hundredths(first * volts), "mainVoltage");
  if (second > 0) put(report, "batteryVoltage", hundredths(second * batteryVolts), "backupVoltage");
  if (third > 0) attributes.batteryTemperature = Math.round((third * batteryDegrees + coldest) * 10) / 10;
}

const isZero = (byte: number): boolean => byte === 0;

/**
 * The multi-purpose field: the code of a driver's key, where the communication control field says so; of others hex.
 */
function readMultiPurpose(report: Draft, reader: Reader, control: number): void {
  const bytes = reader.take(6);
  if (bytes.every(isZero)) return;
  const code = bytes.toHex();
  if (((control >> 4) & 3) === 0) report.readings.driverId = code;
  else report.attributes.multiPurpose = code;
}

/** Time of the last fix, location status, modes 1 and 2, satellites. Answers mode 1. */
export function readFixStatus(report: Draft, reader: Reader): number {
  reader.skip(2);
  report.attributes.locationStatus = reader.u8();
  const mode = reader.u8();
  report.attributes.gpsMode1 = mode;
  report.attributes.gpsMode2 = reader.u8();
  put(report, "satellites", reader.u8(), "satellitesUsed");
  return mode;
}

/** Hardware, firmware, protocol, the unit's status and the network, why it transmits, its mode. */
function readHead(report: Draft, reader: Reader): { readonly network: number; readonly answerTo: number | undefined } {
  const { attributes, readings } = report;
  attributes.hardware = reader.u8();
  readings.firmware = String(reader.u8());
  attributes.protocolVersion = reader.u8();
  const status = reader.u8();
  attributes.unitStatus = status & 0x0f;
  readings.roaming = bit(status, 1);
  const network = ((status >> 4) << 16) | (reader.u8() << 8);
  const data = reader.u8();
  const reason = reader.u8();
  readReason(report, reason, data);
  attributes.mode = reader.u8();
  return { network, answerTo: reason === answered ? data : undefined };
}

/** What stands between the inputs and the place: distance in km, the multi-purpose field, the fix. Answers mode 1. */
function readMiddle(report: Draft, { body, control }: Message): number {
  put(report, "odometer", body.u24le(), "mileageCounter");
  readMultiPurpose(report, body, control);
  return readFixStatus(report, body);
}

function effectsOf(report: Draft, place: Place, body: Reader, answerTo: number | undefined): readonly Effect[] {
  const fix = fixOf({ ...place, time: readTime(body, 2) }, report);
  if (answerTo === undefined) return [fix];
  return [fix, { type: "commandResult", text: "done", to: String(answerTo), ok: true }];
}

/** Type 0, status and location. An answer to a command is one, too. */
export function readStatus(message: Message): readonly Effect[] {
  const { body } = message;
  const report = draft();
  const { network, answerTo } = readHead(report, body);
  readInputs(report, body.u32());
  const operator = network + body.u8();
  if (operator > 0) report.readings.operator = String(operator);
  readAnalog(report, body);
  const mode = readMiddle(report, message);
  return effectsOf(report, readPlace(body, mode, "cm/s"), body, answerTo);
}

/** Type 0 under another system code: two analogue inputs of 16 bits, the place in degrees. */
export function readVariant(message: Message): readonly Effect[] {
  const { body } = message;
  const report = draft();
  const { answerTo } = readHead(report, body);
  readInputs(report, body.u32());
  body.skip(1);
  report.attributes.adc1 = body.u16le();
  report.attributes.adc2 = body.u16le();
  const mode = readMiddle(report, message);
  return effectsOf(report, readVariantPlace(body, mode), body, answerTo);
}
