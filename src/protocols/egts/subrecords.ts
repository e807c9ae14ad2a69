import type { Alarm } from "../../model/alarms.ts";
import type { FlagReading, NumberReading } from "../../model/readings.ts";
import { bit, type Reader } from "../../wire/reader.ts";
import { type Draft, type Position, put, raise } from "../../wire/report.ts";
import { roundDegrees } from "../../wire/units.ts";

/** What a record reports, while its subrecords are read. */
export interface RecordDraft {
  report: Draft;
  position: Position | undefined;
}

/** Reads a subrecord's content: `length` bytes, behind which the reader is moved afterwards. */
export type Subrecord = (reader: Reader, record: RecordDraft, length: number) => void;

/** Seconds from 1970 to 2010, from which times count. */
const epoch2010 = 1_262_304_000;

/** Epoch ms of seconds since 2010. */
export function timeOf(seconds: number): number {
  return (seconds + epoch2010) * 1000;
}

const inputs = [
  "input1",
  "input2",
  "input3",
  "input4",
  "input5",
  "input6",
  "input7",
  "input8",
] as const satisfies readonly FlagReading[];
const outputs = [
  "output1",
  "output2",
  "output3",
  "output4",
  "output5",
  "output6",
  "output7",
  "output8",
] as const satisfies readonly FlagReading[];
const counters = [
  "counter1",
  "counter2",
  "counter3",
  "counter4",
  "counter5",
  "counter6",
  "counter7",
  "counter8",
] as const satisfies readonly NumberReading[];

function putFlags(report: Draft, names: readonly FlagReading[], value: number): void {
  names.forEach((name, index) => {
    report.readings[name] = bit(value, index);
  });
}

/** "Source of the data" (SRC, table 3 of the TELEDATA service): the events that are alarms. */
const alarmSources: Readonly<Record<number, Alarm>> = {
  7: "overspeed",
  10: "tampering",
  11: "powerCut",
  12: "lowBattery",
  13: "sos",
  15: "sos",
  19: "fault",
  20: "hardAcceleration",
  21: "hardBraking",
  22: "fault",
  23: "fault",
  25: "gpsAntennaCut",
  27: "lowSpeed",
  28: "movement",
};

/** Three bytes hold more than anything flies: the rest is a damaged message. */
function altitudeOf(metres: number, below: boolean, report: Draft): number | undefined {
  if (metres <= 100_000) return below ? -metres + 0 : metres;
  report.attributes.positionAltitude = metres;
  return undefined;
}

/** EGTS_SR_POS_DATA. Coordinates are parts of 2^32-1 of 90 and 180 degrees; speed 0.1 km/h; odometer 0.1 km. */
const position: Subrecord = (reader, record, length) => {
  const { report } = record;
  const end = reader.offset + length;
  const time = timeOf(reader.u32le());
  const latitude = roundDegrees((reader.u32le() * 90) / 0xffff_ffff);
  const longitude = roundDegrees((reader.u32le() * 180) / 0xffff_ffff);
  const flags = reader.u8();
  const speed = reader.u16le();
  const course = reader.u8() + (bit(speed, 15) ? 256 : 0);
  put(report, "odometer", reader.u24le() / 10, "mileage");
  putFlags(report, inputs, reader.u8());
  const source = reader.u8();
  report.attributes.event = source;
  const alarm = alarmSources[source];
  if (alarm !== undefined) raise(report, alarm);
  if (bit(flags, 3)) report.attributes.archive = true;
  report.readings.motion = bit(flags, 4);
  let altitude: number | undefined;
  if (bit(flags, 7) && end - reader.offset >= 3) altitude = altitudeOf(reader.u24le(), bit(speed, 14), report);
  if (end - reader.offset >= 2) report.attributes.sourceData = reader.u16le();
  record.position = {
    time,
    valid: bit(flags, 0),
    latitude: bit(flags, 5) ? -latitude + 0 : latitude,
    longitude: bit(flags, 6) ? -longitude + 0 : longitude,
    altitude,
    speed: (speed & 0x3fff) / 10,
    course,
  };
};

/** EGTS_SR_EXT_POS_DATA: dilutions of precision by 100, satellites, kinds of navigation systems. */
const extendedPosition: Subrecord = (reader, { report }) => {
  const flags = reader.u8();
  if (bit(flags, 0)) put(report, "vdop", reader.u16le() / 100, "positionVdop");
  if (bit(flags, 1)) put(report, "hdop", reader.u16le() / 100, "positionHdop");
  if (bit(flags, 2)) put(report, "pdop", reader.u16le() / 100, "positionPdop");
  if (bit(flags, 3)) put(report, "satellites", reader.u8(), "visibleSatellites");
  if (bit(flags, 4)) report.attributes.navigationSystems = reader.u16le();
};

/** EGTS_SR_AD_SENSORS_DATA: octets of further inputs, outputs, analogue sensors in a unit of their own. */
const sensors: Subrecord = (reader, { report }) => {
  const inputMask = reader.u8();
  putFlags(report, outputs, reader.u8());
  const analogMask = reader.u8();
  for (let index = 0; index < 8; index++)
    if (bit(inputMask, index)) report.attributes[`adio${index + 1}`] = reader.u8();
  for (let index = 0; index < 8; index++)
    if (bit(analogMask, index)) report.attributes[`ans${index + 1}`] = reader.u24le();
};

/** EGTS_SR_COUNTERS_DATA. */
const counterValues: Subrecord = (reader, { report }) => {
  const mask = reader.u8();
  counters.forEach((name, index) => {
    if (bit(mask, index)) put(report, name, reader.u24le(), `cn${index + 1}`);
  });
};

/**
 * EGTS_SR_STATE_DATA: state, voltages of the vehicle, of the backup and of the internal battery (0.1 V), which one is
 * used.
 */
const state: Subrecord = (reader, { report }) => {
  report.attributes.state = reader.u8();
  put(report, "externalVoltage", reader.u8() / 10, "mainVoltage");
  const backup = reader.u8() / 10;
  const internal = reader.u8() / 10;
  const battery = internal > 0 ? internal : backup;
  if (battery > 0) put(report, "batteryVoltage", battery, "internalVoltage");
  const flags = reader.u8();
  report.readings.powerConnected = !bit(flags, 0) && !bit(flags, 1);
};

/**
 * EGTS_SR_ACCEL_DATA: number of samples, time, and of each the ms since it and X, Y, Z in 0.1 m/s². The last one
 * counts.
 */
const acceleration: Subrecord = (reader, { report }) => {
  const count = reader.u8();
  reader.skip(4);
  for (let index = 0; index < count; index++) {
    reader.skip(2);
    const [x, y, z] = [reader.u16le(), reader.u16le(), reader.u16le()];
    report.readings.accelerationX = gOf(x);
    report.readings.accelerationY = gOf(y);
    report.readings.accelerationZ = gOf(z);
  }
};

function gOf(word: number): number {
  const tenths = word >= 0x8000 ? word - 0x10000 : word;
  return Math.max(-100, Math.min(100, Math.round((tenths / 98.0665) * 1000) / 1000)) + 0;
}

/** 20 is EGTS_SR_ACCEL_DATA in the standard; trackers send EGTS_SR_STATE_DATA under it too, which has five bytes. */
const stateOrAcceleration: Subrecord = (reader, record, length) =>
  length === 5 ? state(reader, record, length) : acceleration(reader, record, length);

/** A number of twelve bits and a state of four. */
const numberedState =
  (name: string): Subrecord =>
  (reader, { report }) => {
    const value = reader.u16le();
    report.attributes[`${name}${value >> 4}`] = value & 0x0f;
  };

const loops: Subrecord = (reader, { report }, length) => {
  report.attributes.loopInputs = reader.hex(length);
};

const analog: Subrecord = (reader, { report }) => {
  const number = reader.u8();
  report.attributes[`ans${number}`] = reader.u24le();
};

const counter: Subrecord = (reader, { report }) => {
  const number = reader.u8();
  const name = counters[number - 1];
  const value = reader.u24le();
  if (name === undefined) report.attributes[`cn${number}`] = value;
  else put(report, name, value, `cn${number}`);
};

/** EGTS_SR_LIQUID_LEVEL_SENSOR: number, unit (1: %, 2: 0.1 l), address, level. */
const liquid: Subrecord = (reader, { report }, length) => {
  const flags = reader.u8();
  const number = flags & 7;
  report.attributes.liquidAddress = reader.u16le();
  if (bit(flags, 6)) report.attributes.liquidFault = true;
  if (bit(flags, 3)) {
    report.attributes.liquidRaw = reader.hex(length - 3);
    return;
  }
  const level = reader.u32le();
  const unit = (flags >> 4) & 3;
  const name = number === 0 ? "liquid" : `liquid${number}`;
  if (unit === 1 && number < 2) put(report, number === 0 ? "fuel" : "fuel2", level, name);
  else if (unit === 2 && number < 2) put(report, number === 0 ? "fuelVolume" : "fuelVolume2", level / 10, name);
  else report.attributes[name] = unit === 2 ? level / 10 : level;
};

/**
 * EGTS_SR_PASSENGERS_COUNTERS: doors that have a counter, doors that were open, address, and who came in and went out
 * at each.
 */
const passengers: Subrecord = (reader, { report }, length) => {
  const end = reader.offset + length;
  const raw = bit(reader.u8(), 0);
  const doors = reader.u8();
  report.attributes.doorsOpened = reader.u8();
  report.attributes.passengersAddress = reader.u16le();
  if (raw) {
    report.attributes.passengersRaw = reader.hex(end - reader.offset);
    return;
  }
  for (let door = 0; door < 8; door++) {
    if (!bit(doors, door)) continue;
    report.attributes[`passengersIn${door + 1}`] = reader.u8();
    report.attributes[`passengersOut${door + 1}`] = reader.u8();
  }
};

/** EGTS_SR_VEHICLE_DATA of the AUTH service: vehicle number, kind of vehicle, of propulsion. */
export const vehicle: Subrecord = (reader, { report }) => {
  const vin = reader.latin1(17).replaceAll("\0", " ").trim();
  if (vin !== "") report.readings.vin = vin;
  report.attributes.vehicleKind = reader.u32le();
  report.attributes.propulsion = reader.u32le();
};

/** Subrecords of the TELEDATA service by their types. */
export const teledata: ReadonlyMap<number, Subrecord> = new Map([
  [16, position],
  [17, extendedPosition],
  [18, sensors],
  [19, counterValues],
  [20, stateOrAcceleration],
  [21, state],
  [22, loops],
  [23, numberedState("digital")],
  [24, analog],
  [25, counter],
  [26, numberedState("loop")],
  [27, liquid],
  [28, passengers],
]);

/** The subrecord of a position: another one in the same record begins a report of its own. */
export const positionType = 16;
