import { bcd, bit, type Reader } from "../../wire/reader.ts";
import { type Draft, draft, put, raise } from "../../wire/report.ts";
import { acknowledgement, type Packet, type Read } from "./packet.ts";
import { type Place, placeLength, readPlace, readTime, reportOf } from "./place.ts";
import { measured, readStatus } from "./vehicle.ts";

/** What is gathered of the tags of a message. */
interface Gathered {
  readonly report: Draft;
  /** Tags so far, and those of them with a temperature, a humidity, a tyre. */
  count: number;
  readonly of: { temperature: number; humidity: number; tyre: number };
  place: Place | undefined;
}

/** Reads one tag; `placed`: tags of alarms and drivers bring a place with them. */
type ReadTag = (gathered: Gathered, reader: Reader, placed: boolean) => void;

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
const humidities = ["humidity", "humidity2", "humidity3", "humidity4"] as const;
const pressures = [
  "tyrePressure1",
  "tyrePressure2",
  "tyrePressure3",
  "tyrePressure4",
  "tyrePressure5",
  "tyrePressure6",
  "tyrePressure7",
  "tyrePressure8",
] as const;
const tyreTemperatures = [
  "tyreTemperature1",
  "tyreTemperature2",
  "tyreTemperature3",
  "tyreTemperature4",
  "tyreTemperature5",
  "tyreTemperature6",
  "tyreTemperature7",
  "tyreTemperature8",
] as const;

/** kPa of a step of a tyre's pressure. */
const pressureStep = 1.572 * 2;

function set(gathered: Gathered, name: string, value: string | number | boolean | undefined): void {
  if (value !== undefined) gathered.report.attributes[`tag${gathered.count}${name}`] = value;
}

function begin(gathered: Gathered, reader: Reader): void {
  gathered.count++;
  set(gathered, "Id", reader.hex(6));
}

/** Volts of a byte of hundredths above `least`. */
function readVolts(gathered: Gathered, reader: Reader, least: number): void {
  const value = measured(reader.u8(), 0xff);
  set(gathered, "Battery", value === undefined ? undefined : Math.round((least + value / 100) * 100) / 100);
}

/** Hundredths of a degree with the sign in the highest bit. */
function readTemperature(gathered: Gathered, reader: Reader): void {
  const value = measured(reader.u16(), 0xffff);
  if (value === undefined) return;
  const celsius = ((bit(value, 15) ? -1 : 1) * (value & 0x7fff)) / 100 + 0;
  const name = temperatures[gathered.of.temperature++];
  if (name === undefined) set(gathered, "Temperature", celsius);
  else put(gathered.report, name, celsius, `tag${gathered.count}Temperature`);
}

function readRssi(gathered: Gathered, reader: Reader): void {
  const value = reader.i8();
  if (value !== -1) set(gathered, "Rssi", value);
}

const readTyre: ReadTag = (gathered, reader) => {
  begin(gathered, reader);
  readVolts(gathered, reader, 1.22);
  const pressure = measured(reader.u8(), 0xff);
  const temperature = measured(reader.u8(), 0xff);
  const { report, count, of } = gathered;
  const kilopascals = pressure === undefined ? undefined : Math.round(pressure * pressureStep * 10) / 10;
  const celsius = temperature === undefined ? undefined : temperature - 55;
  put(report, pressures[of.tyre] ?? "tyrePressure8", kilopascals, `tag${count}Pressure`);
  put(report, tyreTemperatures[of.tyre] ?? "tyreTemperature8", celsius, `tag${count}TyreTemperature`);
  of.tyre++;
  set(gathered, "Status", measured(reader.u8(), 0xff));
};

/** Address, volts in BCD, low battery or not; where they bring one, GPS and place. */
function readButton(gathered: Gathered, reader: Reader, placed: boolean): string {
  gathered.count++;
  const mac = reader.hex(6);
  const volts = bcd(reader.take(1));
  set(gathered, "Battery", volts === undefined ? undefined : volts / 10);
  const low = reader.u8() === 1;
  if (low) raise(gathered.report, "lowBattery");
  set(gathered, "LowBattery", low);
  if (!placed) return mac;
  const { located } = readStatus(gathered.report, reader.u8());
  gathered.place = readPlace(reader, located, gathered.report, false) ?? gathered.place;
  return mac;
}

const readSos: ReadTag = (gathered, reader, placed) => {
  const mac = readButton(gathered, reader, placed);
  set(gathered, "Id", mac);
  if (gathered.report.attributes[`tag${gathered.count}LowBattery`] === false) raise(gathered.report, "sos");
};

const readDriver: ReadTag = (gathered, reader, placed) => {
  const mac = readButton(gathered, reader, placed);
  gathered.report.readings.driverId = mac;
};

const readClimate: ReadTag = (gathered, reader) => {
  begin(gathered, reader);
  readVolts(gathered, reader, 2);
  set(gathered, "BatteryLevel", measured(reader.u8(), 0xff));
  readTemperature(gathered, reader);
  const humidity = measured(reader.u16(), 0xffff);
  if (humidity !== undefined) {
    const name = humidities[gathered.of.humidity++] ?? "humidity4";
    put(gathered.report, name, humidity / 100, `tag${gathered.count}Humidity`);
  }
  const light = measured(reader.u16(), 0xffff);
  set(gathered, "Light", light === undefined ? undefined : bit(light, 0));
  readRssi(gathered, reader);
};

/** A door or a relay: battery, temperature, state. */
function readSwitch(name: "Door" | "Output"): ReadTag {
  return (gathered, reader) => {
    begin(gathered, reader);
    readVolts(gathered, reader, 2);
    set(gathered, "BatteryLevel", measured(reader.u8(), 0xff));
    readTemperature(gathered, reader);
    const state = measured(reader.u8(), 0xff);
    set(gathered, name, state === undefined ? undefined : state !== 0);
    if (name === "Door" && state !== undefined) gathered.report.readings.doorOpen = state !== 0;
    readRssi(gathered, reader);
  };
}

const readFuel: ReadTag = (gathered, reader) => {
  begin(gathered, reader);
  readVolts(gathered, reader, 2);
  set(gathered, "Fuel", measured(reader.u16(), 0xffff));
  readTemperature(gathered, reader);
  reader.skip(2);
  set(gathered, "Alarm", measured(reader.u8(), 0xff));
  readRssi(gathered, reader);
};

/** Kinds of tags: bytes of one, without a place, and how it is read. */
const kinds: ReadonlyMap<number, { readonly length: number; readonly read: ReadTag; readonly placed?: true }> = new Map(
  [
    [0x01, { length: 10, read: readTyre }],
    [0x02, { length: 8, read: readSos, placed: true }],
    [0x03, { length: 8, read: readDriver, placed: true }],
    [0x04, { length: 15, read: readClimate }],
    [0x05, { length: 12, read: readSwitch("Door") }],
    [0x06, { length: 12, read: readSwitch("Output") }],
    [0x07, { length: 15, read: readFuel }],
  ],
);

/** Tags of one kind; of kind 0 each with its own in front. */
function readTags(gathered: Gathered, body: Reader, placed: boolean): void {
  if (body.remaining < 2) return;
  const common = body.u16();
  while (body.remaining > 2) {
    const kind = kinds.get(common === 0 ? body.u16() : common);
    const length = kind === undefined ? 0 : kind.length + (placed && kind.placed ? 1 + placeLength : 0);
    if (kind === undefined || body.remaining < length) break;
    kind.read(gathered, body, placed);
  }
  if (body.remaining > 0) gathered.report.attributes.tagData = body.hex(body.remaining);
}

function gatheredIn(report: Draft, place: Place | undefined): Gathered {
  return { report, count: 0, of: { temperature: 0, humidity: 0, tyre: 0 }, place };
}

/** 0x10: time, ignition and tags. */
export const readTagData: Read = (packet) => {
  const { body } = packet;
  const report = draft();
  const time = readTime(body);
  report.readings.ignition = bit(body.u8(), 0);
  const gathered = gatheredIn(report, undefined);
  readTags(gathered, body, true);
  return [reportOf(gathered.place, time, report), acknowledgement(packet, "stored")];
};

/**
 * 0x12: time, ignition, GPS, place and tags. Of assets the highest bit of GPS says that the report is from the memory,
 * of others the next one.
 */
export const readPlacedTags: Read = (packet) => {
  const { body } = packet;
  const report = draft();
  const time = readTime(body);
  report.readings.ignition = bit(body.u8(), 0);
  const place = readPlace(body, locatedIn(packet, report), report, false);
  readTags(gatheredIn(report, place), body, false);
  return [reportOf(place, time, report), acknowledgement(packet, "stored")];
};

function locatedIn({ family, body }: Packet, report: Draft): boolean {
  const status = body.u8();
  const isAsset = family === 0x27;
  if (bit(status, isAsset ? 7 : 6)) report.attributes.archive = true;
  return bit(status, isAsset ? 6 : 7);
}
