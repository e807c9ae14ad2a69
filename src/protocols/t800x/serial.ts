import { bcd, bit, latin1Of, type Reader } from "../../wire/reader.ts";
import { type Draft, draft, put, raise, readingsOf } from "../../wire/report.ts";
import { acknowledgement, type Read } from "./packet.ts";
import { putWifi, readPlace, readTime, reportOf } from "./place.ts";
import { readStatus } from "./vehicle.ts";

const pressures = ["tyrePressure1", "tyrePressure2", "tyrePressure3", "tyrePressure4"] as const;
const temperatures = ["tyreTemperature1", "tyreTemperature2", "tyreTemperature3", "tyreTemperature4"] as const;
/** Bytes of one tyre: number of the sensor, volts, pressure, temperature, status. */
const tyreLength = 7;
/** kPa of a step of a tyre's pressure. */
const pressureStep = 1.572 * 2;

function readTyres(report: Draft, reader: Reader): void {
  for (let index = 0; reader.remaining >= tyreLength; index++) {
    const name = `sensor${index + 1}`;
    report.attributes[`${name}Id`] = reader.hex(3);
    report.attributes[`${name}Battery`] = Math.round(122 + reader.u8()) / 100;
    const pressure = Math.round(reader.u8() * pressureStep * 10) / 10;
    put(report, pressures[index] ?? "tyrePressure4", pressure, `${name}Pressure`);
    put(report, temperatures[index] ?? "tyreTemperature4", reader.u8() - 55, `${name}Temperature`);
    report.attributes[`${name}Status`] = reader.u8();
  }
}

function printable(bytes: Uint8Array): string {
  return latin1Of(bytes)
    .replaceAll(/[^ -~]/g, "")
    .trim();
}

/** Percent with two places in four digits, and whether it leaks. */
function readCapacitive(report: Draft, reader: Reader): void {
  if (reader.remaining < 5) return;
  const digits = printable(reader.take(4));
  if (/^\d{4}$/.test(digits)) put(report, "fuel", Number(digits) / 100, "fuelPercent");
  putFuelAlarm(report, reader.u8());
}

/** Height in mm, temperature with its sign in front, full height, liquid, alarm. */
function readUltrasonic(report: Draft, reader: Reader): void {
  if (reader.remaining < 8) return;
  const height = bcd(reader.take(2));
  if (height !== undefined) report.attributes.liquidHeight = height / 10;
  const temperature = reader.u16();
  const value = bcd(Uint8Array.of((temperature >> 8) & 0x0f, temperature & 0xff));
  if (value !== undefined && temperature !== 0xffff)
    put(report, "fuelTemperature", ((temperature >> 12 === 1 ? -1 : 1) * value) / 10, "liquidTemperature");
  const full = bcd(reader.take(2));
  if (full !== undefined) report.attributes.fullLiquidHeight = full;
  report.attributes.liquidType = reader.u8() + 1;
  putFuelAlarm(report, reader.u8());
}

function putFuelAlarm(report: Draft, code: number): void {
  report.attributes.fuelAlarm = code;
  if (code === 2) raise(report, "fuelLeak");
}

/** 0x09 of 0x25: time, ignition, and what a device at the serial port says: tyres, a card, fuel. */
export const readRs232: Read = (packet) => {
  const { body } = packet;
  const report = draft();
  const time = readTime(body);
  report.readings.ignition = body.u8() === 1;
  const kind = body.remaining >= 2 ? body.u16() : 0;
  if (kind === 1) readTyres(report, body);
  else if (kind === 3 && body.remaining >= 8) report.readings.driverId = printable(body.take(8));
  else if (kind === 4) readCapacitive(report, body);
  else if (kind === 5) readUltrasonic(report, body);
  else report.attributes.serialKind = kind;
  if (body.remaining > 0) report.attributes.serialData = body.hex(body.remaining);
  return [readingsOf(report, time), acknowledgement(packet, "stored")];
};

/** 0x21 of 0x25: time, ignition, number of the device at the port, and what it says. */
export const readRs485: Read = (packet) => {
  const { body } = packet;
  const report = draft();
  const time = readTime(body);
  report.readings.ignition = bit(body.u8(), 0);
  report.attributes.portDevice = body.u8();
  report.attributes.portData = body.hex(body.remaining);
  return [readingsOf(report, time), acknowledgement(packet, "stored")];
};

/** 0x23 of 0x25: time, ignition, GPS, place, and devices of the 1-Wire port: kind, number, length, value. */
export const readOneWire: Read = (packet) => {
  const { body } = packet;
  const report = draft();
  const time = readTime(body);
  report.readings.ignition = bit(body.u8(), 0);
  body.skip(1);
  const { located } = readStatus(report, body.u8());
  const place = readPlace(body, located, report, false);
  for (let index = 1; body.remaining >= 10; index++) {
    report.attributes[`wire${index}Type`] = body.u8();
    report.attributes[`wire${index}Id`] = body.hex(8);
    report.attributes[`wire${index}Value`] = body.hex(Math.min(body.u8(), body.remaining));
  }
  return [reportOf(place, time, report), acknowledgement(packet, "stored")];
};

/** 0x15: time, the device's address, three access points. */
export const readWifi: Read = (packet) => {
  const report = draft();
  const time = readTime(packet.body);
  putWifi(report, packet.body);
  return [readingsOf(report, time), acknowledgement(packet, "stored")];
};

/** A text that has its length in front. */
function readText(reader: Reader): Uint8Array {
  if (reader.remaining === 0) return new Uint8Array(0);
  const length = reader.u8();
  return reader.take(Math.min(length, reader.remaining));
}

/** 0x11, of assets 0x05: time, operator, technology, band, IMSI, number of the card. */
export const readNetwork: Read = (packet) => {
  const { body } = packet;
  const report = draft();
  const time = readTime(body);
  const operator = utf16Of(readText(body));
  if (operator !== "") report.readings.operator = operator;
  const technology = printable(readText(body));
  if (technology !== "") report.readings.networkType = technology;
  const band = printable(readText(body));
  if (band !== "") report.attributes.band = band;
  readText(body);
  const iccid = printable(readText(body));
  if (iccid !== "") report.readings.iccid = iccid;
  return [readingsOf(report, time), acknowledgement(packet, "stored")];
};

/** UTF-16, the lower byte first, without what can't be printed. */
export function utf16Of(bytes: Uint8Array): string {
  return new TextDecoder("utf-16le").decode(bytes).replaceAll(/\p{C}/gu, "").trim();
}
