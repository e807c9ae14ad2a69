import type { Effect } from "../../model/effects.ts";
import { type AccessPoint, type Cell, cellsText, putCsq, wifiText } from "../../wire/radio.ts";
import { latin1Of, Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, readingsOrNothing } from "../../wire/report.ts";
import { epoch2000 } from "./ccc.ts";
import type { Read } from "./envelope.ts";
import { putEvent } from "./events.ts";
import { putInputs, putOutputs, putTemperature } from "./ports.ts";

/** What a packet gives while its parameters are read. */
interface Packet {
  readonly report: Draft;
  readonly cells: Cell[];
  readonly wifi: AccessPoint[];
  valid: boolean;
  event: number | undefined;
  signal: number | undefined;
  latitude: number | undefined;
  longitude: number | undefined;
  time: number | undefined;
  speed: number | undefined;
  course: number | undefined;
  altitude: number | undefined;
}

/** Number of packets in the tracker's cache (4 bytes), number of packets here (2). */
const headLength = 6;
/** First byte of a parameter's number of two bytes. */
const extended = 0xfe;

/**
 * CCE, packets of parameters with their numbers: those of one byte, of two, of four, then those with a length (T711L
 * GPRS Protocol, CCE).
 */
export const readCce: Read = (frame, envelope) => {
  const reader = new Reader(frame, envelope.from, envelope.to);
  if (reader.remaining < headLength) return [{ type: "failure", cause: "malformed" }];
  reader.skip(4);
  const count = reader.u16le();
  const effects: Effect[] = [];
  for (let index = 0; index < count && reader.remaining > 2; index++) {
    const length = reader.u16le();
    if (length > reader.remaining) return [...effects, { type: "failure", cause: "malformed" }];
    const end = reader.offset + length;
    effects.push(readPacket(new Reader(frame, reader.offset, end)));
    reader.seek(end);
  }
  return effects.length === 0 ? [{ type: "ignored", reason: "no packets" }] : effects;
};

function readPacket(reader: Reader): Effect {
  const packet: Packet = {
    report: draft(),
    cells: [],
    wifi: [],
    valid: false,
    event: undefined,
    signal: undefined,
    latitude: undefined,
    longitude: undefined,
    time: undefined,
    speed: undefined,
    course: undefined,
    altitude: undefined,
  };
  reader.skip(2);
  for (let left = reader.u8(); left > 0; left--) readByte(packet, numberOf(reader), reader.u8());
  for (let left = reader.u8(); left > 0; left--) readShort(packet, numberOf(reader), reader.u16le());
  for (let left = reader.u8(); left > 0; left--) readLong(packet, numberOf(reader), reader.u32le());
  for (let left = reader.remaining > 0 ? reader.u8() : 0; left > 0 && reader.remaining >= 2; left--) {
    const number = numberOf(reader);
    readLengthy(packet, number, reader.take(Math.min(reader.u8(), reader.remaining)));
  }
  return effectOf(packet);
}

function numberOf(reader: Reader): number {
  return reader.peek() === extended ? reader.u16() : reader.u8();
}

function effectOf(packet: Packet): Effect {
  const { report, cells, wifi, valid, latitude, longitude, time, speed, course, altitude } = packet;
  if (packet.event !== undefined) putEvent(report, packet.event);
  const cellList = cellsText(cells);
  if (cellList !== undefined) report.attributes.cells = cellList;
  const wifiList = wifiText(wifi);
  if (wifiList !== undefined) report.attributes.wifi = wifiList;
  if (latitude === undefined || longitude === undefined)
    return readingsOrNothing(report, "a packet without a place", time);
  return fixOf({ time, valid, latitude, longitude, speed, course, altitude }, report);
}

/** Parameters of one byte. */
function readByte(packet: Packet, number: number, value: number): void {
  const { report } = packet;
  switch (number) {
    case 0x01:
      packet.event = value;
      break;
    case 0x05:
      packet.valid = value > 0;
      break;
    case 0x06:
      put(report, "satellites", value, "satelliteCount");
      break;
    case 0x07:
      packet.signal = value;
      putCsq(report, "rssi", value, "gsmSignal");
      break;
    case 0x14:
      putOutputs(report, value);
      break;
    case 0x15:
      putInputs(report, value);
      break;
    case 0x47:
      // The state of an electronic lock: 1 open, 2 closed; 0 where there is none.
      if (value > 0) report.readings.locked = value === 2;
      break;
    case 0x97:
      put(report, "throttle", value, "throttlePosition");
      break;
    case 0x9d:
      put(report, "fuel", value, "fuelPercentage");
      break;
    case 0xfe69:
      put(report, "battery", value, "batteryPercentage");
      break;
  }
}

const analog: ReadonlyMap<number, "analog1" | "analog2" | "analog3" | "batteryVoltage" | "externalVoltage"> = new Map([
  [0x16, "analog1"],
  [0x17, "analog2"],
  [0x18, "analog3"],
  [0x19, "batteryVoltage"],
  [0x1a, "externalVoltage"],
]);

/** Parameters of two bytes. */
function readShort(packet: Packet, number: number, value: number): void {
  const { report } = packet;
  const voltage = analog.get(number);
  if (voltage !== undefined) put(report, voltage, value / 100, `parameter${number}`);
  switch (number) {
    case 0x08:
      packet.speed = value;
      break;
    case 0x09:
      packet.course = value;
      break;
    case 0x0a:
      put(report, "hdop", value / 10, "positioningAccuracy");
      break;
    case 0x0b:
      packet.altitude = signed(value);
      break;
    case 0x40:
      packet.event = value;
      break;
    case 0x91:
    case 0x92:
      put(report, "vehicleSpeed", value, "obdSpeed");
      break;
    case 0x98:
      report.attributes.obdFuelUsed = value;
      break;
    case 0x99:
      put(report, "rpm", value, "engineSpeed");
      break;
    case 0x9c:
      put(report, "coolantTemperature", signed(value), "engineCoolant");
      break;
    case 0x9f:
      report.attributes.obdTemperature = signed(value);
      break;
    case 0xc9:
      report.attributes.obdFuelConsumption = value;
      break;
  }
}

function signed(value: number): number {
  return value > 0x7fff ? value - 0x10000 : value;
}

/** Parameters of four bytes. */
function readLong(packet: Packet, number: number, value: number): void {
  const { report } = packet;
  switch (number) {
    case 0x02:
      packet.latitude = (value | 0) / 1e6;
      break;
    case 0x03:
      packet.longitude = (value | 0) / 1e6;
      break;
    case 0x04:
      packet.time = epoch2000 + value * 1000;
      break;
    case 0x0c:
      put(report, "odometer", value / 1000, "mileage");
      break;
    case 0x0d:
      report.attributes.runTime = value;
      break;
    case 0x1c:
      report.attributes.eventData = value.toString(16).padStart(8, "0");
      break;
    case 0x25:
      if (value > 0) report.readings.driverId = String(value);
      break;
    case 0x9b:
      put(report, "odometer", value / 1000, "obdOdometer");
      break;
    case 0xa0:
      put(report, "fuelUsed", value / 1000, "obdFuelUsed");
      break;
    case 0xa2:
      put(report, "fuelConsumption", value / 100, "obdFuelConsumption");
      break;
  }
}

/**
 * Parameters that have a length: 0x0E to 0x13 cells, 0x1D to 0x24 access points, 0x2A to 0x31 probes, and those of
 * cameras, networks and beacons.
 */
function readLengthy(packet: Packet, number: number, bytes: Uint8Array): void {
  if (number >= 0x0e && number <= 0x13 && bytes.length >= 12) readCell(packet, new Reader(bytes), number === 0x0e);
  else if (number >= 0x1d && number <= 0x24 && bytes.length >= 8) readAccessPoint(packet, new Reader(bytes));
  else if (number >= 0x2a && number <= 0x31 && bytes.length >= 3)
    putTemperature(packet.report, number - 0x29, new Reader(bytes, 1).i16le() / 100);
  else if (number === 0x4b) readNetwork(packet.report, bytes);
  else if (number === 0xfe31) readPicture(packet.report, bytes);
  else if (number === 0xfe73) readTag(packet.report, bytes);
}

/** Where the serving cell has no level of its own, that of the report is its. */
function readCell({ cells, signal }: Packet, reader: Reader, isServing: boolean): void {
  const [mcc, mnc, lac, cellId, level] = [
    reader.u16le(),
    reader.u16le(),
    reader.u16le(),
    reader.u32le(),
    reader.i16le(),
  ];
  if (mcc > 0 && mcc < 1000) cells.push({ mcc, mnc, lac, cellId, signal: level === 0 && isServing ? signal : level });
}

function readAccessPoint({ wifi }: Packet, reader: Reader): void {
  const mac = reader.hex(6);
  if (mac !== "000000000000") wifi.push({ mac, signal: reader.i16le() });
}

/** Version, kind, length, and the network's name: `LTE(EUTRAN-BAND20)`. */
function readNetwork(report: Draft, bytes: Uint8Array): void {
  const text = latin1Of(bytes.subarray(3, 3 + (bytes[2] ?? 0)));
  if (/^[\x20-\x7e]+$/.test(text)) report.readings.networkType = text;
}

/** What a camera saw and the name of its picture, which the tracker keeps in a folder of the day. */
function readPicture(report: Draft, bytes: Uint8Array): void {
  report.attributes.alarmType = bytes[1] ?? 0;
  const name = latin1Of(bytes.subarray(2));
  const day = /^(\d{4})(\d\d)(\d\d)/.exec(name);
  if (day !== null && /^[\w.-]+$/.test(name)) report.attributes.image = `${day[1]}-${day[2]}-${day[3]}/${name}`;
}

/** A Bluetooth tag: number, name, address, charge, temperature and humidity in 1/256. */
function readTag(report: Draft, bytes: Uint8Array): void {
  const reader = new Reader(bytes);
  if (reader.remaining < 2) return;
  reader.skip(1);
  const size = reader.u8();
  if (reader.remaining < size + 11) return;
  const name = reader.latin1(size);
  if (/^[\x20-\x7e]+$/.test(name)) report.attributes.tagName = name;
  report.attributes.tagAddress = reader.hex(6);
  report.attributes.tagBattery = reader.u8();
  const temperature = reader.i16le() / 256;
  const humidity = reader.u16le() / 256;
  report.attributes.tagTemp = temperature;
  report.attributes.tagHumidity = humidity;
  put(report, "temperature", temperature, "tagTemp");
  put(report, "humidity", humidity, "tagHumidity");
}
