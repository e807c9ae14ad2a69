import type { Effect } from "../../model/effects.ts";
import type { FlagReading } from "../../model/readings.ts";
import { crc8Nrsc5 } from "../../wire/checksums.ts";
import { bit, Reader } from "../../wire/reader.ts";
import { type Draft, draft, put } from "../../wire/report.ts";
import { assetAlarms, putAlarm, vehicleAlarms } from "./alarms.ts";
import { readEngine } from "./obd.ts";
import { acknowledgement, family, type Packet } from "./packet.ts";
import { cellsOf, type Place, putCells, putWifi, readCoordinates, readTime, reportOf } from "./place.ts";
import { measured, signedTemperature } from "./vehicle.ts";

/** What is gathered of the blocks of a message. */
interface Gathered {
  readonly report: Draft;
  readonly alarms: typeof assetAlarms;
  place: Place | undefined;
  speed: number | undefined;
  alarm: number;
  located: boolean;
}

type ReadBlock = (gathered: Gathered, reader: Reader) => void;

const inputs = ["input1", "input2", "input3", "input4", "input5", "input6", "input7", "input8"] as const;
const outputs = ["output1", "output2", "output3", "output4", "output5", "output6", "output7", "output8"] as const;

function readFlags(names: readonly FlagReading[]): ReadBlock {
  return ({ report }, reader) => {
    const value = reader.u8();
    for (const [index, name] of names.entries()) report.readings[name] = bit(value, index);
  };
}

function readMillivolts(name: "batteryVoltage" | "externalVoltage" | "analog1" | "analog2" | "analog3"): ReadBlock {
  return ({ report }, reader) =>
    put(report, name, (reader.remaining === 4 ? reader.u32() : reader.u16()) / 1000, `${name}Text`);
}

/** Whole degrees in the first byte, hundredths and the sign in the second. */
function readPrecise(name: "ambientTemperature" | "deviceTemperature"): ReadBlock {
  return ({ report }, reader) => {
    const [whole, part] = [reader.u8(), reader.u8()];
    put(report, name, (bit(part, 7) ? -1 : 1) * (whole + (part & 0x7f) / 100), `${name}Precise`);
  };
}

/** Power: ignition, air conditioning, supply, USB, sun, wireless. */
const readPower: ReadBlock = ({ report }, reader) => {
  const value = reader.u8();
  report.readings.ignition = bit(value, 7);
  report.readings.airConditioning = bit(value, 6);
  report.readings.powerConnected = bit(value, 5);
  report.readings.charging = (value & 0x1a) !== 0;
};

/** Group 2: measurements. The identifier says the length (one byte below 0x60, two below 0xA0, else four). */
const measurements: ReadonlyMap<number, ReadBlock> = new Map<number, ReadBlock>([
  [
    0x01,
    (gathered, reader) => {
      gathered.alarm = reader.u8();
      putAlarm(gathered.report, gathered.alarm, gathered.alarms);
    },
  ],
  [
    0x02,
    (gathered, reader) => {
      const value = reader.u8();
      gathered.located = bit(value, 2);
      if (bit(value, 1)) gathered.report.attributes.archive = true;
    },
  ],
  [0x03, ({ report }, reader) => put(report, "signal", reader.u8(), "networkSignal")],
  [0x04, readFlags(outputs)],
  [0x05, readFlags(inputs)],
  [0x07, ({ report }, reader) => put(report, "battery", reader.u8(), "batteryCharge")],
  [0x0a, ({ report }, reader) => put(report, "deviceTemperature", signedTemperature(reader.u8()), "innerTemperature")],
  [
    0x0f,
    ({ report }, reader) => {
      report.attributes.lockType = reader.u8();
    },
  ],
  [
    0x12,
    ({ report }, reader) => {
      report.attributes.relayStatus = reader.u8();
    },
  ],
  [0x60, readMillivolts("batteryVoltage")],
  [0x61, readPower],
  [
    0x62,
    (gathered, reader) => {
      gathered.speed = reader.u16();
    },
  ],
  [
    0x63,
    ({ report }, reader) => {
      report.attributes.solarVoltage = reader.u16() / 1000;
    },
  ],
  [0x64, readPrecise("ambientTemperature")],
  [
    0x65,
    ({ report }, reader) => {
      const [whole, part] = [reader.u8(), reader.u8()];
      put(report, "humidity", whole + part / 100, "outerHumidity");
    },
  ],
  [0x66, readPrecise("deviceTemperature")],
  [0x67, readMillivolts("analog1")],
  [0x68, readMillivolts("analog2")],
  [0x69, readMillivolts("analog3")],
  [0xa0, ({ report }, reader) => put(report, "odometer", reader.u32() / 1000, "mileage")],
  [0xa1, readMillivolts("externalVoltage")],
  [0xa2, ({ report }, reader) => put(report, "illuminance", reader.u32(), "lightIntensity")],
]);

/** Values of an electric vehicle that come in four bytes each. */
function readElectric(names: readonly string[]): ReadBlock {
  return ({ report }, reader) => {
    put(report, "tractionBattery", measured(reader.u8(), 0xff), "remainingPower");
    report.attributes.vehicleCharging = reader.u8() === 1;
    put(report, "vehicleSpeed", measured(reader.u8(), 0xff), "dashboardSpeed");
    put(report, "throttle", measured(reader.u8(), 0xff), "acceleratorPedal");
    for (const name of names) {
      const value = measured(reader.u32(), 0xffffffff);
      if (value !== undefined) report.attributes[name] = value;
    }
  };
}

/** Group 3: blocks that have their length in front. */
const blocks: ReadonlyMap<number, ReadBlock> = new Map<number, ReadBlock>([
  [
    0x01,
    (gathered, reader) => {
      const coordinates = readCoordinates(reader);
      const course = reader.u16();
      put(gathered.report, "hdop", measured(reader.u16(), 0xffff), "horizontalDilution");
      put(gathered.report, "satellites", measured(reader.u8(), 0xff), "satelliteCount");
      gathered.place = coordinates && { ...coordinates, speed: undefined, course };
    },
  ],
  [0x02, ({ report }, reader) => putCells(report, cellsOf(reader))],
  [0x03, ({ report }, reader) => putCells(report, cellsOf(reader))],
  [0x04, ({ report }, reader) => putWifi(report, reader)],
  [
    0x05,
    ({ report }, reader) => {
      for (const name of ["axisX", "axisY", "axisZ"]) report.attributes[name] = reader.i16();
    },
  ],
  [
    0x06,
    ({ report }, reader) => {
      for (const name of ["gyroscopeX", "gyroscopeY", "gyroscopeZ"]) report.attributes[name] = reader.i16();
    },
  ],
  [0x07, ({ report }, reader) => readEngine(report, reader)],
  [
    0x08,
    readElectric([
      "leastRange",
      "mostRange",
      "chargeMillivolts",
      "chargeCurrent",
      "chargePower",
      "chargeRemainingTime",
      "batteryCapacity",
      "initialBatteryCapacity",
      "energyUsed",
    ]),
  ],
  [
    0x0d,
    readElectric([
      "leastRange",
      "chargeMillivolts",
      "chargeCurrent",
      "batteryCapacity",
      "initialBatteryCapacity",
      "energyUsed",
    ]),
  ],
]);

/** Bytes of a value of group 1 (settings) or 2 (measurements). */
function lengthOf(group: number, id: number): number {
  if (group === 2) return id < 0x60 ? 1 : id < 0xa0 ? 2 : 4;
  return id < 0x80 ? 1 : id < 0xc0 ? 2 : id < 0xf0 ? 4 : 8;
}

function isFilled(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0xff);
}

/** Groups of identified values; settings are passed over, and values whose bits are all set were not measured. */
function readGroups(gathered: Gathered, body: Reader): void {
  while (body.remaining > 0) {
    const group = body.u8();
    const count = group === 3 ? body.u16() : body.u8();
    if (group < 1 || group > 3) return;
    for (let index = 0; index < count; index++) {
      const id = group === 3 ? body.u16() : body.u8();
      const bytes = body.take(group === 3 ? body.u8() : lengthOf(group, id));
      if (group === 1 || isFilled(bytes)) continue;
      (group === 2 ? measurements : blocks).get(id)?.(gathered, new Reader(bytes));
    }
  }
}

/** Checksum and format of a message of blocks. */
export interface Envelope {
  readonly summed: boolean;
  readonly archive: boolean;
  readonly wantsAnswer: boolean;
  readonly encrypted: boolean;
}

/** What stands in front of the blocks; the checksum is of all behind it. */
export function envelopeOf({ body }: Packet): Envelope {
  const sum = body.u8();
  const rest = body.bytes.subarray(body.offset, body.offset + body.remaining);
  const format = body.u8();
  return {
    summed: crc8Nrsc5(rest) === sum,
    archive: bit(format, 7),
    wantsAnswer: bit(format, 6),
    encrypted: (format & 0x30) !== 0,
  };
}

/** 0x62 and 0x64 of 0x26 and 0x27, behind their envelope: time and blocks. */
export function readBlocks(packet: Packet, { archive, wantsAnswer }: Envelope): readonly Effect[] {
  const { body, type } = packet;
  const report = draft();
  const time = readTime(body);
  if (archive) report.attributes.archive = true;
  const alarms = packet.family === family.asset ? assetAlarms : vehicleAlarms;
  const gathered: Gathered = { report, alarms, place: undefined, speed: undefined, alarm: 0, located: true };
  readGroups(gathered, body);
  const { place, speed, located } = gathered;
  const effect = reportOf(located && place !== undefined ? { ...place, speed } : undefined, time, report);
  const answer = acknowledgement(packet, "stored", type === 0x64 ? gathered.alarm : undefined);
  return wantsAnswer ? [effect, answer] : [effect];
}
