import { bit, type Reader } from "../../wire/reader.ts";
import { type Draft, draft, put } from "../../wire/report.ts";
import { putAlarm, vehicleAlarms } from "./alarms.ts";
import { acknowledgement, family, type Packet, type Read } from "./packet.ts";
import { readDecimal, readPercent, readPlace, readTime, reportOf } from "./place.ts";

/** What the byte of GPS says. */
export interface GpsStatus {
  /** A place, not cells. */
  readonly located: boolean;
}

/** History, a place or cells, GPS asleep, satellites. */
export function readStatus(report: Draft, status: number): GpsStatus {
  put(report, "satellites", status & 0x1f, "satelliteCount");
  if (bit(status, 7)) report.attributes.archive = true;
  if (bit(status, 5)) report.attributes.gpsAsleep = true;
  return { located: bit(status, 6) };
}

/**
 * What the messages of vehicles begin with: intervals, angle, distance, signal, GPS, sensor, flags, heartbeat, relay,
 * towing.
 */
export function readSettings(report: Draft, { family: of, body }: Packet): GpsStatus {
  body.skip(7);
  const signal = body.u16() & 0x7f;
  // Of the first devices it is a limit of speed alone.
  if (of !== family.old) put(report, "signal", signal, "networkSignal");
  const status = readStatus(report, body.u8());
  body.skip(1);
  report.readings.armed = bit(body.u8(), 4);
  body.skip(1);
  report.attributes.relayStatus = body.u8();
  body.skip(2);
  return status;
}

/** Bits that all digital inputs of vehicles have: power, ignition, air conditioning. */
export function readInputs(report: Draft, io: number): void {
  report.readings.powerConnected = bit(io, 15);
  report.readings.ignition = bit(io, 14);
  report.readings.airConditioning = bit(io, 13);
}

const analogs = ["analog1", "analog2", "analog3"] as const;

/** Voltages in BCD; what is no BCD was not measured. */
export function readAnalogs(report: Draft, reader: Reader, count: 2 | 3): void {
  for (const [index, name] of analogs.slice(0, count).entries())
    put(report, name, readDecimal(reader, 2, 100), `adc${index + 1}`);
}

/** Six signed numbers of the sensors of acceleration and rotation. */
export function readAxes(report: Draft, reader: Reader): void {
  if (reader.remaining < 12) return;
  for (const name of ["axisX", "axisY", "axisZ", "gyroscopeX", "gyroscopeY", "gyroscopeZ"])
    report.attributes[name] = reader.i16();
}

/** Whether a type is one of alarms, whose acknowledgement repeats the code. */
export function isAlarmType(type: number): boolean {
  return type === 0x04 || type === 0x14 || type === 0x18 || type === 0x34;
}

/** 0x02, 0x04, 0x16 and 0x18 of 0x23 and 0x25: location, alarm; the last two with sensors. */
export const readVehicle: Read = (packet) => {
  const { body, type } = packet;
  const report = draft();
  const { located } = readSettings(report, packet);
  const io = body.u16();
  readInputs(report, io);
  report.readings.input3 = bit(io, 12);
  report.readings.input4 = bit(io, 11);
  report.readings.output1 = bit(io, 10);
  report.readings.output2 = bit(io, 9);
  report.readings.output3 = bit(io, 8);
  readAnalogs(report, body, 2);
  const alarm = body.u8();
  putAlarm(report, alarm, vehicleAlarms);
  body.skip(1);
  put(report, "odometer", body.u32() / 1000, "mileage");
  put(report, "battery", readPercent(body), "batteryCharge");
  const time = readTime(body);
  const place = readPlace(body, located, report, packet.family === family.old);
  if (packet.model === "TLW2-2BL" && body.remaining >= 4)
    put(report, "batteryVoltage", readDecimal(body, 2, 100), "innerVoltage");
  if (body.remaining >= 2) put(report, "externalVoltage", readDecimal(body, 2, 100), "outerVoltage");
  if (type === 0x16 || type === 0x18) readAxes(report, body);
  return [reportOf(place, time, report), acknowledgement(packet, "stored", isAlarmType(type) ? alarm : undefined)];
};

/** Undefined where all bits are set: not measured. */
export function measured(value: number, none: number): number | undefined {
  return value === none ? undefined : value;
}

/** A temperature with its sign in the highest bit. */
export function signedTemperature(value: number): number | undefined {
  if (value === 0xff) return undefined;
  return bit(value, 7) ? -(value & 0x7f) : value;
}

/**
 * 0x13, 0x14, 0x33 and 0x34 of 0x25: location and alarm of TLW2 and PioneerX, with three analog inputs, voltages, and
 * values of FMS.
 */
export const readSecond: Read = (packet) => {
  const { body, type } = packet;
  const report = draft();
  const { located } = readSettings(report, packet);
  const io = body.u16();
  readInputs(report, io);
  for (const [index, name] of secondInputs) report.readings[name] = bit(io, index);
  const hasFms = bit(io, 7);
  const outputs = body.u8();
  report.readings.output1 = bit(outputs, 5);
  report.readings.output2 = bit(outputs, 4);
  report.readings.output3 = bit(outputs, 3);
  body.skip(1);
  readAnalogs(report, body, 3);
  const difference = body.u32();
  const alarm = body.u8();
  putAlarm(report, alarm, vehicleAlarms);
  body.skip(1);
  put(report, "odometer", body.u32() / 1000, "mileage");
  put(report, "battery", readPercent(body), "batteryCharge");
  const time = readTime(body);
  const place = readPlace(body, located, report, false);
  put(report, "batteryVoltage", readDecimal(body, 2, 100), "innerVoltage");
  put(report, "externalVoltage", readDecimal(body, 2, 100), "outerVoltage");
  const rpm = body.u16();
  if (rpm !== 0xffff && rpm !== 0x8000) put(report, "rpm", rpm, "engineSpeed");
  readTail(report, body, hasFms ? difference : undefined);
  if (type === 0x33 || type === 0x34) readAxes(report, body);
  return [reportOf(place, time, report), acknowledgement(packet, "stored", isAlarmType(type) ? alarm : undefined)];
};

const secondInputs = [
  [8, "input1"],
  [12, "input3"],
  [11, "input4"],
  [10, "input5"],
  [9, "input6"],
] as const;

/**
 * Behind the engine's speed: flags, temperature, HDOP and three values of FMS, with the fuel behind them. `hours`: what
 * FMS says of the engine's running time; undefined without FMS.
 */
function readTail(report: Draft, body: Reader, hours: number | undefined): void {
  if (body.remaining < 4) return;
  body.skip(1);
  const speed = body.u8();
  body.skip(1);
  put(report, "deviceTemperature", signedTemperature(body.u8()), "innerTemperature");
  if (body.remaining < 5) return;
  put(report, "hdop", measured(body.u16(), 0xffff), "horizontalDilution");
  const [coolant, fuel, load] = [body.u8(), body.u8(), body.u8()];
  if (hours === undefined) return;
  if (hours !== 0xffffffff) report.attributes.engineHours = hours;
  put(report, "vehicleSpeed", measured(speed, 0xff), "fmsSpeed");
  put(report, "coolantTemperature", coolant === 0xff ? undefined : coolant - 40, "coolingFluid");
  put(report, "fuel", measured(fuel, 0xff), "remainingFuel");
  put(report, "engineLoad", measured(load, 0xff), "load");
  if (body.remaining < 4) return;
  put(report, "fuelUsed", measured(body.u32(), 0xffffffff), "accumulatedFuel");
}
