import type { Alarm } from "../../model/alarms.ts";
import type { Effect } from "../../model/effects.ts";
import { bit, type Reader } from "../../wire/reader.ts";
import { type Draft, draft, put, raise, readingsOrNothing } from "../../wire/report.ts";
import { troubleCode } from "../../wire/trouble-code.ts";
import { putAlarm, vehicleAlarms } from "./alarms.ts";
import { acknowledgement, family, type Read } from "./packet.ts";
import {
  type Place,
  placeLength,
  readCoordinates,
  readDecimal,
  readPercent,
  readPlace,
  readTime,
  reportOf,
} from "./place.ts";
import { isAlarmType, measured, readAxes, readInputs, readSettings, readStatus } from "./vehicle.ts";

/** Bytes of the values of the engine. */
const engineLength = 17;

/** Fuel used in ml, instant use, engine speed, air, coolant, load, throttle, fuel: all bits set stand for none. */
export function readEngine(report: Draft, reader: Reader): void {
  if (reader.remaining < engineLength) return;
  const used = measured(reader.u32(), 0xffffffff);
  put(report, "fuelUsed", used === undefined ? undefined : used / 1000, "accumulatedFuel");
  const instant = measured(reader.u32(), 0xffffffff);
  if (instant !== undefined) report.attributes.instantFuel = instant;
  put(report, "rpm", measured(reader.u16(), 0xffff), "engineSpeed");
  put(report, "airFlow", measured(reader.u8(), 0xff), "airInput");
  put(report, "intakePressure", measured(reader.u8(), 0xff), "intakeAirPressure");
  const [coolant, intake] = [measured(reader.u8(), 0xff), measured(reader.u8(), 0xff)];
  put(report, "coolantTemperature", coolant === undefined ? undefined : coolant - 40, "coolingFluid");
  put(report, "intakeTemperature", intake === undefined ? undefined : intake - 40, "airInflow");
  put(report, "engineLoad", measured(reader.u8(), 0xff), "load");
  put(report, "throttle", measured(reader.u8(), 0xff), "throttlePosition");
  const fuel = measured(reader.u8(), 0xff);
  if (fuel !== undefined) put(report, bit(fuel, 7) ? "fuelVolume" : "fuel", fuel & 0x7f, "remainingFuel");
}

/**
 * 0x02, 0x04, 0x16 and 0x18 of 0x26: location and alarm with values of the engine; the last two with sensors. The speed
 * stands behind the voltage.
 */
export const readObdVehicle: Read = (packet) => {
  const { body, type } = packet;
  const report = draft();
  const { located } = readSettings(report, packet);
  const io = body.u16();
  readInputs(report, io);
  report.readings.output1 = bit(io, 10);
  const alarm = body.u8();
  putAlarm(report, alarm, vehicleAlarms);
  body.skip(1);
  put(report, "odometer", body.u32() / 1000, "mileage");
  put(report, "battery", readPercent(body), "batteryCharge");
  const time = readTime(body);
  const block = readPlace(body, located, report, false);
  if (body.remaining >= 2) put(report, "externalVoltage", readDecimal(body, 2, 100), "outerVoltage");
  const speed = body.remaining >= 2 ? readDecimal(body, 2, 10) : undefined;
  readEngine(report, body);
  if (type === 0x16 || type === 0x18) readAxes(report, body);
  return [
    reportOf(block && { ...block, speed }, time, report),
    acknowledgement(packet, "stored", isAlarmType(type) ? alarm : undefined),
  ];
};

/** By GPS: braking and acceleration at high, medium and low speed. */
const gpsBehaviors: readonly Alarm[] = [
  "hardBraking",
  "hardAcceleration",
  "hardBraking",
  "hardAcceleration",
  "hardBraking",
  "hardAcceleration",
];
const sensorBehaviors: readonly Alarm[] = ["hardBraking", "hardAcceleration", "hardCornering"];

/** The course of a behavior in tenths of a degree. */
function readCourse(reader: Reader): number | undefined {
  const value = measured(reader.u16(), 0xffff);
  return value === undefined ? undefined : value / 10;
}

/** 0x05 of 0x25 and 0x26: a behavior by GPS, its start and its end; of 0x26 each with the engine's speed. */
export const readGpsBehavior: Read = (packet) => {
  const { body } = packet;
  const behavior = body.u8();
  const hasRpm = packet.family === family.obd;
  const length = 6 + placeLength + (hasRpm ? 2 : 0);
  const reports: Effect[] = [];
  while (body.remaining >= length) {
    const report = draft();
    report.attributes.event = behavior;
    const time = readTime(body);
    const coordinates = readCoordinates(body);
    const speed = readDecimal(body, 2, 10);
    const course = readCourse(body);
    if (coordinates === undefined && speed !== undefined) report.attributes.behaviorSpeed = speed;
    if (hasRpm) put(report, "rpm", measured(body.u16(), 0xffff), "engineSpeed");
    const alarm = gpsBehaviors[behavior];
    if (alarm !== undefined && body.remaining < length) raise(report, alarm);
    const place: Place | undefined = coordinates && { ...coordinates, speed, course };
    reports.push(reportOf(place, time, report));
  }
  return [...reports, acknowledgement(packet, "stored")];
};

/** Whole and tenths of g of three axes in five bytes, each with its sign in front: 1 is positive. */
export function readAcceleration(report: Draft, reader: Reader): void {
  const [a, b, c, d, e] = [reader.u8(), reader.u8(), reader.u8(), reader.u8(), reader.u8()];
  const axis = (whole: number, tenths: number, positive: boolean): number =>
    Math.round((positive ? 1 : -1) * (whole * 10 + tenths)) / 10;
  put(report, "accelerationX", axis(a & 0x7f, b >> 4, bit(a, 7)), "axisX");
  put(report, "accelerationY", axis(((b & 0x07) << 4) | (c >> 4), c & 0x0f, bit(b, 3)), "axisY");
  put(report, "accelerationZ", axis(d & 0x7f, e >> 4, bit(d, 7)), "axisZ");
}

/** Time, GPS, acceleration and place. */
function readMoment(body: Reader, report: Draft): Effect {
  const time = readTime(body);
  const { located } = readStatus(report, body.u8());
  readAcceleration(report, body);
  const place = readPlace(body, located, report, false);
  return reportOf(place, time, report);
}

/** 0x06: a behavior by the sensor of acceleration; of 0x26 with the engine's speed. */
export const readSensorBehavior: Read = (packet) => {
  const { body } = packet;
  const report = draft();
  const behavior = body.u8();
  report.attributes.event = behavior;
  const alarm = sensorBehaviors[behavior];
  if (alarm !== undefined) raise(report, alarm);
  const moment = readMoment(body, report);
  if (packet.family === family.obd && body.remaining >= 2)
    put(report, "rpm", measured(body.u16(), 0xffff), "engineSpeed");
  return [moment, acknowledgement(packet, "stored")];
};

/** Bytes of one moment of an accident. */
const momentLength = 6 + 1 + 5 + placeLength;

/** 0x07: an accident, with moments before and behind it. */
export const readAccident: Read = (packet) => {
  const { body } = packet;
  const event = body.u8();
  const reports: Effect[] = [];
  while (body.remaining >= momentLength) {
    const report = draft();
    report.attributes.event = event;
    if (reports.length === 0) raise(report, "accident");
    reports.push(readMoment(body, report));
  }
  return [...reports, acknowledgement(packet, "stored")];
};

/**
 * 0x09 of 0x26 and 0x22 of 0x25: time, 0x55AA, a length, and the vehicle's answer: 0x4103 or 0x410A codes, 0x4104 codes
 * cleared, 0x4105 VIN.
 */
export const readDiagnosis: Read = (packet) => {
  const { body } = packet;
  const report = draft();
  const time = readTime(body);
  if (body.remaining >= 4 && body.u16() === 0x55aa) {
    const length = Math.min(body.u16() & 0x0fff, body.remaining);
    readObdAnswer(report, body.take(length));
  }
  return [readingsOrNothing(report, "no trouble codes", time), acknowledgement(packet, "stored")];
};

/** The last byte is a checksum. */
function readObdAnswer(report: Draft, data: Uint8Array): void {
  if (data[0] !== 0x41 || data.length < 4) return;
  const values = data.subarray(2, -1);
  if (data[1] === 0x04) report.attributes.codesCleared = data[2] === 1;
  if (data[1] === 0x05) putVin(report, values);
  if (data[1] !== 0x03 && data[1] !== 0x0a) return;
  report.attributes.codeKind = data[2] ?? 0;
  const codes = new Set<string>();
  for (let at = 1; at + 3 <= values.length; at += 3)
    codes.add(troubleCode(((values[at] ?? 0) << 8) | (values[at + 1] ?? 0)));
  if (codes.size > 0) report.readings.dtcs = [...codes].join(" ");
  put(report, "dtcCount", codes.size, "codeCount");
}

function putVin(report: Draft, values: Uint8Array): void {
  const vin = String.fromCharCode(...values).replaceAll(/[^0-9A-Z]/g, "");
  if (vin.length > 0 && vin.length <= 20) report.readings.vin = vin;
}
