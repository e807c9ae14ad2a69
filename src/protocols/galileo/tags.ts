import type { NumberReading } from "../../model/readings.ts";
import type { Reader } from "../../wire/reader.ts";
import { bit, latin1Of } from "../../wire/reader.ts";
import { put, raise } from "../../wire/report.ts";
import type { TagRecord } from "./record.ts";

/**
 * A tag of the protocol: how many bytes follow it ("u8", "u16": a length of its own comes first), and what they say.
 */
interface Tag {
  readonly length: number | "u8" | "u16";
  /** Reads all of its bytes: `length` of them. */
  readonly read: (record: TagRecord, reader: Reader, length: number) => void;
}

const tags: (Tag | undefined)[] = Array.from({ length: 256 }, () => undefined);

function set(tag: number, length: Tag["length"], read: Tag["read"]): void {
  tags[tag] = { length, read };
}

const little = {
  1: (r: Reader) => r.u8(),
  2: (r: Reader) => r.u16le(),
  3: (r: Reader) => r.u24le(),
  4: (r: Reader) => r.u32le(),
};

/** A tag whose number is kept as it is, under the manual's name. */
function plain(tag: number, length: keyof typeof little, name: string): void {
  set(tag, length, ({ report }, reader) => {
    report.attributes[name] = little[length](reader);
  });
}

/** Tags in a row that are numbers of one kind, counted from `first`. */
function row(from: number, to: number, length: keyof typeof little, name: string, first = 0): void {
  for (let tag = from; tag <= to; tag++) plain(tag, length, `${name}${first + tag - from}`);
}

const temperatures: readonly NumberReading[] = [
  "temperature",
  "temperature2",
  "temperature3",
  "temperature4",
  "temperature5",
  "temperature6",
  "temperature7",
  "temperature8",
];
const humidities: readonly NumberReading[] = ["humidity", "humidity2", "humidity3", "humidity4"];
const inputs = ["input1", "input2", "input3", "input4", "input5", "input6", "input7", "input8"] as const;
const outputs = ["output1", "output2", "output3", "output4", "output5", "output6", "output7", "output8"] as const;

// Who it is, and the record. (User's manual, Table 2)
plain(0x01, 1, "hardware");
set(0x02, 1, ({ report }, reader) => {
  report.readings.firmware = String(reader.u8());
});
set(0x03, 15, (record, reader) => {
  record.imei = reader.latin1(15);
});
plain(0x04, 2, "deviceNumber");
// The number of a record is not stored.
set(0x10, 2, (_, reader) => reader.skip(2));
set(0x20, 4, (record, reader) => {
  record.time = reader.u32le() * 1000;
});
set(0x30, 9, (record, reader) => {
  const quality = reader.u8();
  record.valid = quality >> 4 === 0;
  record.byCells = quality >> 4 === 2;
  put(record.report, "satellites", quality & 0x0f, "satelliteCount");
  record.latitude = reader.i32le() / 1e6;
  record.longitude = reader.i32le() / 1e6;
});
set(0x33, 4, (record, reader) => {
  record.speed = reader.u16le() / 10;
  record.course = reader.u16le() / 10;
});
set(0x34, 2, (record, reader) => {
  record.altitude = reader.i16le();
});
set(0x35, 1, ({ report, byCells }, reader) => {
  const value = reader.u8();
  if (byCells) put(report, "accuracy", value * 10, "positionError");
  else put(report, "hdop", value / 10, "horizontalDilution");
});
set(0x40, 2, readStatus);
set(0x41, 2, ({ report }, reader) => put(report, "externalVoltage", reader.u16le() / 1000, "supplyVoltage"));
set(0x42, 2, ({ report }, reader) => put(report, "batteryVoltage", reader.u16le() / 1000, "accumulatorVoltage"));
set(0x43, 1, ({ report }, reader) => put(report, "deviceTemperature", reader.i8(), "terminalTemperature"));
plain(0x44, 4, "acceleration");
set(0x45, 2, ({ report }, reader) => {
  const state = reader.u16le();
  for (const [index, name] of outputs.entries()) report.readings[name] = bit(state, index);
});
set(0x46, 2, ({ report }, reader) => {
  const state = reader.u16le();
  for (const [index, name] of inputs.entries()) report.readings[name] = bit(state, index);
  if (state > 0xff) report.attributes.inputStates = state;
});
set(0x47, 4, ({ report }, reader) => {
  for (const name of ["ecoAcceleration", "ecoBraking", "ecoCornering", "ecoBumps"])
    report.attributes[name] = reader.u8() / 100;
});
plain(0x48, 2, "expandedStatus");

// Inputs: millivolts, pulses or hertz, as each is set up.
row(0x50, 0x57, 2, "in");
row(0x78, 0x7d, 2, "in", 8);
row(0x58, 0x59, 2, "rs232_");
plain(0x5a, 4, "energyMeter");
set(0x5b, 7, hexOf("refrigerator"));
set(0x5c, 68, hexOf("pressurePro"));
plain(0x5d, 3, "dosimeter");
row(0x60, 0x62, 2, "rs485_");
for (let tag = 0x63; tag <= 0x6f; tag++) {
  const name = `rs485_${tag - 0x60}`;
  set(tag, 3, ({ report }, reader) => {
    report.attributes[name] = reader.u16le();
    report.attributes[`${name}Temperature`] = reader.i8();
  });
}
for (let probe = 0; probe < 8; probe++) {
  const name = temperatures[probe];
  set(0x70 + probe, 2, ({ report }, reader) => {
    reader.skip(1);
    if (name !== undefined) put(report, name, reader.i8(), `thermometer${probe}`);
  });
  set(0x80 + probe, 3, ({ report }, reader) => {
    reader.skip(1);
    report.attributes[`ds1923_${probe}Temperature`] = reader.i8();
    const share = Math.round((reader.u8() * 1000) / 255) / 10;
    const humidity = humidities[probe];
    if (humidity === undefined) report.attributes[`ds1923_${probe}Humidity`] = share;
    else put(report, humidity, share, `ds1923_${probe}Humidity`);
  });
}
for (const [tag, name] of [
  [0x88, "rs232_0Temperature"],
  [0x89, "rs232_1Temperature"],
  [0x8a, "rs485_0Temperature"],
  [0x8b, "rs485_1Temperature"],
  [0x8c, "rs485_2Temperature"],
] as const)
  set(tag, 1, ({ report }, reader) => {
    report.attributes[name] = reader.i8();
  });
set(0x90, 4, ({ report }, reader) => {
  const key = reader.u32le();
  if (key > 0) report.readings.driverId = String(key);
});

// The vehicle's bus. All of it 0: the bus is not connected, for no engine is at -40 °C with an empty tank.
row(0xa0, 0xaf, 1, "CAN8BITR", 15);
row(0xb0, 0xb9, 2, "CAN16BITR", 5);
set(0xc0, 4, ({ report }, reader) => put(report, "fuelUsed", given(reader.u32le(), 0.5), "CAN_A0"));
set(0xc1, 4, ({ report }, reader) => {
  const [level, temperature, speed] = [reader.u8(), reader.u8(), reader.u16le()];
  if (level + temperature + speed === 0) return;
  put(report, "fuel", Math.round(level * 4) / 10, "CAN_A1fuel");
  put(report, "coolantTemperature", temperature - 40, "CAN_A1temperature");
  put(report, "rpm", speed * 0.125, "CAN_A1rpm");
});
set(0xc2, 4, ({ report }, reader) => put(report, "odometer", given(reader.u32le(), 0.005), "CAN_B0"));
plain(0xc3, 4, "CAN_B1");
row(0xc4, 0xd2, 1, "CAN8BITR");
set(0xd3, 4, ({ report }, reader) => {
  const key = reader.u32le();
  if (key > 0) report.readings.driver2Id = String(key);
});
set(0xd4, 4, ({ report }, reader) => put(report, "odometer", reader.u32le() / 1000, "mileage"));
plain(0xd5, 1, "iButtons");
row(0xd6, 0xda, 2, "CAN16BITR");
row(0xdb, 0xdf, 4, "CAN32BITR");
set(0xe0, 4, (record, reader) => {
  record.command = reader.u32le();
});
set(0xe1, "u8", (record, reader, length) => {
  record.answer = latin1Of(reader.take(length));
});
row(0xe2, 0xe9, 4, "userData");
set(0xea, "u8", hexOf("userArray"));
row(0xf0, 0xf9, 4, "CAN32BITR", 5);
plain(0xfa, 3, "tagFA");
set(0xfd, 8, hexOf("tagFD"));
set(0xfe, "u16", hexOf("extendedTags"));

function hexOf(name: string): Tag["read"] {
  return ({ report }, reader, length) => {
    report.attributes[name] = reader.hex(length);
  };
}

function given(value: number, scale: number): number | undefined {
  return value === 0 ? undefined : Math.round(value * scale * 1000) / 1000;
}

/** Tag 0x40, the terminal's status. (User's manual, Table 3) */
function readStatus({ report }: TagRecord, reader: Reader): void {
  const status = reader.u16le();
  const { readings, attributes } = report;
  attributes.status = status;
  readings.motion = bit(status, 0);
  readings.ignition = bit(status, 9);
  readings.armed = bit(status, 14);
  readings.signal = Math.round((((status >> 12) & 3) * 100) / 3);
  if (bit(status, 5)) raise(report, "lowBattery");
  if (bit(status, 6)) raise(report, "gpsAntennaCut");
  if (bit(status, 10)) raise(report, "shock");
  if (bit(status, 15)) {
    raise(report, "general");
    attributes.alarmCode = 15;
  }
}

/** Whether the protocol has the tag. */
export function isTag(tag: number): boolean {
  return tags[tag] !== undefined;
}

/** Reads a tag's bytes into a record. False: the tag is not known, or its bytes are not all there; nothing was read. */
export function readTag(tag: number, record: TagRecord, reader: Reader): boolean {
  const entry = tags[tag];
  if (entry === undefined) return false;
  const { length, read } = entry;
  const head = length === "u8" ? 1 : length === "u16" ? 2 : 0;
  if (reader.remaining < head) return false;
  const own = typeof length === "number" ? length : head === 1 ? reader.peek() : reader.peek() + reader.peek(1) * 256;
  if (reader.remaining < head + own) return false;
  reader.skip(head);
  read(record, reader, own);
  return true;
}
