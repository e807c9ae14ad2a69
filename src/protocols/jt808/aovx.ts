import { bit, type Reader } from "../../wire/reader.ts";
import { type Draft, put } from "../../wire/report.ts";
import type { Scene } from "./item.ts";
import { asciiText, cardNumber } from "./text.ts";

/** 0xF3 of AOVX: Bluetooth tags, laid out by a mask. */
export function readTags(reader: Reader, report: Draft, length: number): void {
  const end = reader.offset + length;
  const mask = reader.u8();
  const { attributes } = report;
  for (let number = 1; reader.offset < end; number++) {
    attributes[`tag${number}Mac`] = reader.hex(6);
    attributes[`tag${number}Rssi`] = reader.i8();
    if (bit(mask, 0)) attributes[`tag${number}Name`] = asciiText(reader, 10);
    if (bit(mask, 1)) reader.skip(2);
    if (bit(mask, 2)) attributes[`tag${number}Battery`] = reader.u16() / 1000;
    if (bit(mask, 3)) attributes[`tag${number}Temperature`] = reader.i16() / 10;
    if (bit(mask, 4)) attributes[`tag${number}Humidity`] = reader.i16() / 10;
    if (bit(mask, 5)) reader.skip(6);
    if (bit(mask, 6)) reader.skip(2);
    if (bit(mask, 7)) reader.skip(2);
  }
}

/** 0xF6 "Sensors": event and a mask. Acceleration in mg, air pressure in hPa. */
export function readSensors(reader: Reader, report: Draft): void {
  const event = reader.u8();
  report.attributes.event = event;
  if (event === 2) report.readings.motion = true;
  const mask = reader.u8();
  if (bit(mask, 0)) put(report, "illuminance", reader.u16(), "light");
  if (bit(mask, 1)) put(report, "temperature", reader.i16() / 10, "probe");
  if (bit(mask, 2)) put(report, "humidity", reader.i16() / 10, "relativeHumidity");
  if (bit(mask, 3)) {
    put(report, "accelerationX", reader.i16() / 1000, "gSensorX");
    put(report, "accelerationY", reader.i16() / 1000, "gSensorY");
    put(report, "accelerationZ", reader.i16() / 1000, "gSensorZ");
  }
  if (bit(mask, 4)) reader.skip(10);
  if (bit(mask, 5)) put(report, "airPressure", reader.u16() / 10, "pressure");
}

/** 0xF8: working mode, IMEI, number of the SIM card, model. */
export function readDevice(reader: Reader, report: Draft, length: number): void {
  report.attributes.workingMode = reader.u8();
  report.attributes.imei = reader.hex(8).replace(/^0/, "");
  const card = cardNumber(reader, 10);
  if (card !== undefined) report.readings.iccid = card;
  const model = length > 19 ? asciiText(reader, length - 19) : "";
  if (model !== "") report.attributes.terminalModel = model;
}

/** 0xF9 "Extended status", laid out by a mask. */
export function readStatus(reader: Reader, report: Draft): void {
  const mask = reader.u16();
  if (bit(mask, 0)) report.attributes.gnssAge = reader.u32();
  if (bit(mask, 1)) report.attributes.accSeconds = reader.u32();
  if (bit(mask, 2)) put(report, "hdop", reader.u16() / 10, "gnssHdop");
  if (bit(mask, 3)) reader.skip(6);
  if (bit(mask, 5)) reader.skip(8);
  if (bit(mask, 6)) put(report, "temperature3", reader.i16() / 10, "externalProbe");
}

/** 0xF7 "Battery": mV, state (2 and 3: charging), percentage. */
export function readBattery(reader: Reader, report: Draft, _scene: Scene, length: number): void {
  if (length === 2) {
    put(report, "humidity", reader.u16() / 10, "relativeHumidity");
    return;
  }
  put(report, "batteryVoltage", reader.u32() / 1000, "batteryPower");
  if (length >= 5) {
    const state = reader.u8();
    if (state === 2 || state === 3) report.readings.charging = true;
  }
  if (length >= 6) put(report, "battery", reader.u8(), "batteryLevel");
}
