import type { Alarm } from "../../model/alarms.ts";
import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, MessageRow } from "../../wire/protocol.ts";
import { bit, type Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, raise, readingsOf } from "../../wire/report.ts";
import { readMovement, readPlace, readTime } from "./location.ts";
import { readObdText } from "./obd.ts";
import { readParameters } from "./obd-parameters.ts";
import { type Handler, row, type Session, stored } from "./row.ts";
import { asciiText, gbkText } from "./text.ts";

type Content = (reader: Reader, context: DecodeContext) => Effect;

/** 0x40: what a device at the serial port says; a magnetic card reader: `GTSL|6|1|0|<driver>|1|`. */
const serial: Content = (reader) => {
  const report = draft();
  const text = asciiText(reader, reader.remaining);
  const driver = text.startsWith("GTSL") ? text.split("|")[4] : undefined;
  if (driver) report.readings.driverId = driver;
  else report.attributes.data = text;
  return readingsOf(report);
};

const obdText: Content = (reader) => {
  const report = draft();
  readObdText(reader.take(reader.remaining), report);
  return readingsOf(report);
};

/** Alarms of 0xF0 with content 3 ("Vehicle alarms of OBD terminals"). */
const obdAlarms: Readonly<Record<number, Alarm>> = {
  1: "powerRestored",
  2: "powerCut",
  14: "idle",
  26: "hardAcceleration",
  27: "hardBraking",
  28: "hardCornering",
  29: "laneChange",
  30: "laneChange",
  31: "laneChange",
  35: "fatigueDriving",
  37: "overspeed",
  38: "accident",
  39: "accident",
  40: "accident",
  49: "doorOpened",
  50: "doorOpened",
};

function readAlarmList(reader: Reader, report: Draft): void {
  const count = reader.u8();
  const codes: string[] = [];
  for (let index = 0; index < count && reader.remaining >= 2; index++) {
    const code = reader.u8();
    reader.skip(reader.u8());
    codes.push(String(code));
    const alarm = obdAlarms[code];
    if (alarm !== undefined) raise(report, alarm);
  }
  if (codes.length > 0) report.attributes.event = codes.join(",");
}

function readTroubleCodes(reader: Reader, report: Draft): void {
  const count = reader.u16();
  const codes: string[] = [];
  for (let system = 0; system < count && reader.remaining >= 6; system++) {
    reader.skip(4);
    const codeCount = reader.u16();
    for (let index = 0; index < codeCount && reader.remaining >= 10; index++) {
      reader.skip(8);
      codes.push(gbkText(reader.take(reader.u16())));
    }
  }
  report.readings.dtcs = codes.join(" ");
  report.readings.dtcCount = codes.length;
}

function readTrip(reader: Reader, report: Draft): void {
  const property = reader.u8();
  report.attributes.tripNumber = reader.u32();
  reader.skip(6);
  if (property !== 2) return;
  reader.skip(6 + 8 + 8 + 1);
  report.attributes.idlingCount = reader.u16();
  put(report, "idleSeconds", reader.u16(), "idlingTime");
  put(report, "tripOdometer", reader.u16() / 10, "tripMileage");
  report.attributes.tripFuel = reader.u16() / 100;
}

/** Driving behaviour of 0xF0 with content 0x15. */
const behaviours: Readonly<Record<number, Alarm>> = {
  51: "hardAcceleration",
  52: "hardBraking",
  53: "hardCornering",
  54: "laneChange",
  56: "accident",
};

function readBehaviour(reader: Reader, report: Draft): void {
  const code = reader.u32();
  const alarm = behaviours[code];
  report.attributes.event = code;
  if (alarm !== undefined) raise(report, alarm);
}

function readVin(reader: Reader, report: Draft): void {
  if (reader.u8() === 0 || reader.remaining < 17) return;
  report.readings.vin = asciiText(reader, 17);
}

const contents: Readonly<Record<number, readonly [read: (reader: Reader, report: Draft) => void, placed: boolean]>> = {
  1: [readParameters, true],
  2: [readTroubleCodes, true],
  3: [readAlarmList, true],
  4: [readTrip, false],
  11: [readVin, false],
  21: [readBehaviour, false],
};

/**
 * 0xF0 "Vehicle data": time, whether it comes from memory, kind of vehicle, content. Status and coordinates behind it
 * are of another moment than the content, so they are an attribute.
 */
const vehicleData: Content = (reader, context) => {
  const report = draft();
  const time = readTime(reader, context);
  if (reader.u8() > 0) report.attributes.archive = true;
  reader.skip(1);
  const kind = reader.u8();
  const [read, placed] = contents[kind] ?? [];
  if (read === undefined) return { type: "ignored", reason: `vehicle data ${kind}` };
  read(reader, report);
  if (placed && reader.remaining >= 12) {
    const { valid, latitude, longitude } = readPlace(reader, report, context);
    if (valid) report.attributes.place = `${latitude},${longitude}`;
  }
  return readingsOf(report, time);
};

/** 0xFF: a position with signed coordinates. */
const position: Content = (reader, context) => {
  const time = readTime(reader, context);
  const latitude = reader.i32() / 1e6;
  const longitude = reader.i32() / 1e6;
  const [altitude, speed, course] = [reader.i16(), reader.u16() / 10, reader.u16()];
  return fixOf({ time, valid: true, latitude, longitude, altitude, speed, course }, draft());
};

/** 0xF3: fields with ids and lengths of two bytes. */
const fields: Content = (reader, context) => {
  const report = draft();
  let time: number | undefined;
  while (reader.remaining >= 4) {
    const id = reader.u16();
    const length = reader.u16();
    if (length > reader.remaining) break;
    const next = reader.offset + length;
    if (id === 0x0002 && length >= 2) report.attributes.collision = reader.u16() / 256 / 100;
    else if (id === 0x0006 && length >= 6) time = readTime(reader, context);
    reader.seek(next);
  }
  return readingsOf(report, time);
};

/** 0x53 of AOVX: a position, and the Bluetooth tags around it. */
const tags: Content = (reader, context) => {
  const report = draft();
  const place = readMovement(reader, readPlace(reader, report, context), context);
  reader.skip(1);
  while (reader.remaining >= 9) {
    const number = reader.u8() + 1;
    report.attributes[`tag${number}Mac`] = reader.hex(6);
    report.attributes[`tag${number}Rssi`] = reader.i8();
    const length = reader.u8();
    if (length > reader.remaining) break;
    report.attributes[`tag${number}Data`] = reader.hex(length);
  }
  return fixOf(place, report);
};

/** 0x54 of AOVX: a position, and samples of its sensors after a mask and a time each. The last of each counts. */
const samples: Content = (reader, context) => {
  const report = draft();
  const place = readMovement(reader, readPlace(reader, report, context), context);
  const { readings } = report;
  try {
    while (reader.remaining >= 8) {
      const mask = reader.u16();
      reader.skip(6);
      if (bit(mask, 0)) readings.illuminance = reader.u16();
      if (bit(mask, 1)) {
        readings.deviceTemperature = reader.i16() / 10;
        const humidity = reader.i16() / 10;
        if (humidity >= 0 && humidity <= 100) readings.humidity = humidity;
      }
      if (bit(mask, 2)) readings.temperature3 = reader.i16() / 10;
      if (bit(mask, 3)) reader.skip(6);
      if (bit(mask, 4)) {
        const pressure = reader.u16() / 10;
        if (pressure <= 200) readings.airPressure = pressure;
      }
    }
  } catch {
    // A sample that is cut short ends the list.
  }
  for (const name of ["deviceTemperature", "temperature3"] as const)
    if ((readings[name] ?? 0) < -273 || (readings[name] ?? 0) > 1500) delete readings[name];
  return fixOf(place, report);
};

const kinds: Readonly<Record<number, Content>> = {
  64: serial,
  65: obdText,
  83: tags,
  84: samples,
  240: vehicleData,
  243: fields,
  255: position,
};

/** 0x0900 "Transparent data": its kind, and what that means with the tracker's maker. Others are kept as they are. */
const transparent: Handler = (message, context) => {
  const { reader } = message;
  const kind = reader.u8();
  const content = kinds[kind];
  if (content !== undefined) return [content(reader, context), stored(message)];
  const report = draft();
  report.attributes.transparentKind = kind;
  report.attributes.data = reader.hex(reader.remaining);
  return [readingsOf(report), stored(message)];
};

/** Transparent data. */
export const transparentRows: readonly MessageRow<Session>[] = [row("transparent data", [0x0900], transparent)];
