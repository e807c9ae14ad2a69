import { bit, type Reader } from "../../wire/reader.ts";
import { type Draft, put, raise } from "../../wire/report.ts";
import { readDevice, readSensors, readTags } from "./aovx.ts";
import type { ItemReader, Scene } from "./item.ts";
import { jimiModels, readJimi } from "./jimi.ts";
import { signedWord } from "./number.ts";
import { readObdItems, readObdText } from "./obd.ts";
import { asciiText } from "./text.ts";
import { temperatureNames } from "./tyres.ts";

/** A voltage in parts of a volt. */
export const voltage =
  (name: "externalVoltage" | "batteryVoltage", divisor: number): ItemReader =>
  (reader, report) =>
    put(report, name, reader.u16() / divisor, name === "externalVoltage" ? "mainPower" : "batteryPower");

/** 0xD4, 0xE1, 0xE9: a percentage (0xFF: charging), or, with other lengths, something else. */
export function readLevel(reader: Reader, report: Draft): void {
  const level = reader.u8();
  if (level === 0xff) report.readings.charging = true;
  else put(report, "battery", level, "batteryLevel");
}

/** 0xD4 and 0xE9: a percentage, or with four bytes the number of the driver. */
export const levelOrDriver: ItemReader = (reader, report, _scene, length) => {
  if (length === 1) readLevel(reader, report);
  else report.readings.driverId = String(reader.u32());
};

/** 0xE1: a percentage, a voltage, a list of cells with one network, or the number of the driver. */
export const levelOrCells: ItemReader = (reader, report, scene, length) => {
  if (length === 1) return readLevel(reader, report);
  if (length === 2) return put(report, "externalVoltage", reader.u16() / 10, "mainPower");
  if (length < 12 || (length - 4) % 8 !== 0) {
    report.readings.driverId = String(reader.u32());
    return;
  }
  const end = reader.offset + length;
  const mcc = reader.u16();
  const mnc = reader.u16();
  while (reader.offset < end) {
    const cell = { mcc, mnc, lac: reader.u24(), cellId: reader.u32(), signal: reader.u8() };
    if (cell.lac > 0 && cell.lac <= 0xffff && cell.cellId <= 0xfffffff) scene.cells.push(cell);
  }
};

/** 0xD5: voltage of the battery, or the states of padlocks. */
export const locks: ItemReader = (reader, report, _scene, length) => {
  if (length === 2) return voltage("batteryVoltage", 100)(reader, report, _scene, length);
  const count = reader.u8();
  for (let number = 1; number <= count; number++) {
    report.attributes[`lock${number}Id`] = reader.hex(5);
    report.attributes[`lock${number}Card`] = reader.hex(5);
    report.attributes[`lock${number}Battery`] = reader.u8();
    report.attributes[`lock${number}Locked`] = !bit(reader.u16(), 5);
  }
};

/** 0x0B "Lock event" of padlocks: command, card or password, result. */
export function readLockEvent(reader: Reader, report: Draft, _scene: unknown, length: number): void {
  report.attributes.lockCommand = reader.u8();
  if (length >= 5 && length <= 6) report.attributes.lockCard = reader.u32();
  else if (length >= 7) report.attributes.lockPassword = reader.latin1(6);
  if (length % 2 === 0) report.attributes.unlockResult = reader.u8();
}

/** Kinds of intense driving (0x70). */
export const intense: readonly [number, "hardAcceleration" | "hardBraking" | "hardCornering" | "accident"][] = [
  [0x01, "hardAcceleration"],
  [0x02, "hardBraking"],
  [0x03, "hardCornering"],
  [0x16, "accident"],
];

/**
 * 0x64 and 0x65 "Driver assistance" and "driver state": serial number, state (2: ended), kind; the alarm's label at the
 * end.
 */
export const assistance =
  (name: "adasAlarm" | "dmsAlarm"): ItemReader =>
  (reader, report, _scene, length) => {
    const end = reader.offset + length;
    reader.skip(4);
    const ended = reader.u8() === 2;
    const kind = reader.u8();
    report.attributes[name] = kind;
    if (!ended && name === "dmsAlarm" && kind === 1) raise(report, "fatigueDriving");
    if (!ended && name === "adasAlarm" && kind === 2) raise(report, "laneChange");
    if (length < 47) return;
    reader.seek(end - 16);
    report.attributes.alarmLabel = reader.hex(16);
  };

/** 0x5D: cells after their number. */
export const cellList: ItemReader = (reader, _report, scene, length) => {
  const end = reader.offset + length;
  const count = reader.u8();
  for (let index = 0; index < count && reader.offset < end; index++)
    scene.cells.push({
      mcc: reader.u16(),
      mnc: reader.u8(),
      lac: reader.u16(),
      cellId: reader.u32(),
      signal: reader.u8(),
    });
};

/** 0xF0 of AOVX: cells of 4G. */
export const wideCells: ItemReader = (reader, _report, scene, length) => {
  const end = reader.offset + length;
  while (reader.offset + 13 <= end) {
    const [mcc, mnc, cellId, lac] = [reader.u16(), reader.u16(), reader.u32(), reader.u32()];
    scene.cells.push({ mcc, mnc, lac, cellId, signal: reader.i8() });
  }
};

/** 0xEC and 0xF4: access points. */
export const wifi: ItemReader = (reader, _report, scene, length) => {
  const end = reader.offset + length;
  while (reader.offset + 7 <= end) scene.wifi.push({ mac: reader.hex(6), signal: reader.i8() });
};

/**
 * 0xE6: `$OBD-RT,...`, or probes with Bluetooth: number, address, temperature and humidity as whole part and 255ths.
 */
export const obdOrProbes: ItemReader = (reader, report, _scene, length) => {
  if (length >= 7 && reader.peek() === 0x24) return readObdText(reader.take(length), report);
  if (length % 11 !== 0) throw new RangeError("no list of probes");
  const end = reader.offset + length;
  while (reader.offset < end) {
    const number = reader.u8();
    reader.skip(6);
    const temperature = fraction(reader);
    const humidity = fraction(reader);
    const name = temperatureNames[number - 1];
    if (name !== undefined) put(report, name, temperature, `probe${number}Temperature`);
    report.attributes[`probe${number}Humidity`] = humidity;
  }
};

/** A whole part with a sign, and 255ths. */
function fraction(reader: Reader): number {
  const whole = reader.i8();
  const part = reader.u8() / 255;
  return Math.round((whole < 0 ? whole - part : whole + part) * 1000) / 1000;
}

/** 0xFE: by its length a percentage, a voltage, a mileage in m, or (mark 0x7C) a list with alarms. */
export const various: ItemReader = (reader, report, _scene, length) => {
  if (length === 1) return put(report, "battery", reader.u8(), "batteryLevel");
  if (length === 2) return put(report, "externalVoltage", reader.u16() / 10, "mainPower");
  if (length === 4) return put(report, "odometer", reader.u32() / 1000, "totalMileage");
  const end = reader.offset + length;
  if (reader.u8() !== 0x7c) throw new RangeError("no list");
  while (reader.offset + 2 <= end) {
    const type = reader.u8();
    const next = reader.u8() + reader.offset;
    if (type === 1) drivingAlarms(reader.u32(), report);
    reader.seek(next);
  }
};

/** Alarm bits of a list with the mark 0x7C. */
function drivingAlarms(flags: number, report: Draft): void {
  if (bit(flags, 0)) raise(report, "hardAcceleration");
  if (bit(flags, 1)) raise(report, "hardBraking");
  if (bit(flags, 2)) raise(report, "hardCornering");
  if (bit(flags, 3)) raise(report, "accident");
  if (bit(flags, 4)) raise(report, "tampering");
}

/** 0xEA "Extended information": threshold alarms and outside sensors. */
export const environment: ItemReader = (reader, report, _scene, length) => {
  const end = reader.offset + length;
  reader.skip(1);
  while (reader.offset + 2 <= end) {
    const type = reader.u8();
    const next = reader.u8() + reader.offset;
    if (next > end) break;
    if (type === 0x11) {
      report.attributes.externalAlarms = reader.u16();
      report.attributes.alarmThresholdType = reader.u8();
    } else if (type === 0x13) put(report, "illuminance", reader.u16(), "externalIlluminance");
    else if (type === 0x14) report.attributes.externalAirPressure = reader.u16();
    else if (type === 0x15) put(report, "humidity", reader.u16() / 10, "externalHumidity");
    else if (type === 0x16) put(report, "temperature", reader.u16() / 10 - 50, "externalTemperature");
    reader.seek(next);
  }
};

/** 0x33: working mode, or the text of a lock with its battery. */
export const mode: ItemReader = (reader, report, _scene, length) => {
  if (length === 1) {
    report.attributes.mode = reader.u8();
    return;
  }
  const text = asciiText(reader, length);
  report.attributes.lockText = text;
  const hundredths = Number(text.slice(10, 13));
  if (text.startsWith("*M00") && Number.isFinite(hundredths))
    put(report, "batteryVoltage", hundredths / 100, "batteryPower");
};

/** 0x51: up to eight probes, 0.1 °C; 0xFFFF: none. */
export const temperatures: ItemReader = (reader, report, _scene, length) => {
  if (length % 2 !== 0 || length > 16) throw new RangeError("no list of temperatures");
  for (let index = 0; index < length / 2; index++) {
    const value = reader.u16();
    const name = temperatureNames[index];
    if (value !== 0xffff && name !== undefined) put(report, name, signedWord(value) / 10, `probe${index + 1}`);
  }
};

/** 0x57: driving alarms and switches. */
export const driving: ItemReader = (reader, report, scene) => {
  const flags = reader.u16();
  if (bit(flags, 8)) raise(report, "hardAcceleration");
  if (bit(flags, 9)) raise(report, "hardBraking");
  if (bit(flags, 10)) raise(report, "hardCornering");
  report.attributes.switches = reader.u16();
  const more = reader.u32();
  if ((scene.model === "MV810G" || scene.model === "MV710G") && bit(more, 16)) raise(report, "doorOpened");
};

/** 0x60: an event; those of a lock with the card that opened it. */
export const event: ItemReader = (reader, report) => {
  const code = reader.u16();
  report.attributes.event = code;
  if (code < 0x61 || code > 0x66) return;
  reader.skip(6);
  report.readings.driverId = asciiText(reader, 8);
};

/** 0x63: states of padlocks, eleven bytes each. */
export const padlocks: ItemReader = (reader, report, _scene, length) => {
  for (let number = 1; number <= Math.floor(length / 11); number++) {
    report.attributes[`lock${number}Id`] = reader.hex(6);
    report.attributes[`lock${number}Battery`] = reader.u16() / 1000;
    report.attributes[`lock${number}Seal`] = reader.u8() === 0x31;
    report.attributes[`lock${number}State`] = reader.u8();
    report.attributes[`lock${number}Rssi`] = reader.u8();
  }
};

/** 0x91: OBD data in 28 bytes. */
export const obdBlock: ItemReader = (reader, report) => {
  put(report, "externalVoltage", reader.u16() / 10, "mainPower");
  put(report, "rpm", reader.u16(), "engineSpeed");
  put(report, "vehicleSpeed", reader.u8(), "obdSpeed");
  put(report, "throttle", Math.floor((reader.u8() * 100) / 255), "obdThrottle");
  put(report, "engineLoad", Math.floor((reader.u8() * 100) / 255), "obdLoad");
  put(report, "coolantTemperature", reader.u8() - 40, "obdCoolant");
  reader.skip(2);
  put(report, "fuelConsumption", reader.u16() / 100, "averageConsumption");
  reader.skip(8);
  put(report, "fuelUsed", reader.u16() / 100, "obdFuelUsed");
};

/** A text, where there is one. */
export const text =
  (write: (report: Draft, text: string) => void): ItemReader =>
  (reader, report, _scene, length) => {
    const value = asciiText(reader, length);
    if (value !== "") write(report, value);
  };

/** 0xF2: firmware; that of AOVX begins with its name. */
export const firmware: ItemReader = (reader, report, scene, length) => {
  const value = asciiText(reader, length);
  if (value.startsWith("AOVX")) scene.aovx = true;
  if (value !== "") report.readings.firmware = value;
};

/** 0xF6: sensors of AOVX; of others, by its length, air pressure or the IMEI. */
export const sensors: ItemReader = (reader, report, scene, length) => {
  if (!scene.aovx && length === 2) return put(report, "airPressure", reader.u16() / 10, "pressure");
  if (scene.aovx || length !== 8) return readSensors(reader, report);
  report.attributes.imei = reader.hex(8).slice(1);
};

/** 0xF8: device of AOVX, steps of a watch, or a second probe. */
export const deviceOrSteps: ItemReader = (reader, report, { aovx, model }, length) => {
  if (aovx || length >= 19) readDevice(reader, report, length);
  else if (model === "C5" || model === "C5L") put(report, "steps", reader.u16(), "pedometer");
  else put(report, "temperature2", reader.u16() / 10 - 50, "probe2");
};

/** 0xF3: tags of AOVX, or OBD data. */
export const tagsOrObd: ItemReader = (reader, report, { aovx }, length) =>
  aovx ? readTags(reader, report, length) : readObdItems(reader, report, length);

/** 0xE8: extension of Jimi, or the state of a lock. */
export const lockOrJimi: ItemReader = (reader, report, { model }: Scene, length) => {
  if (model !== undefined && jimiModels.has(model)) readJimi(reader, report, length);
  else report.attributes.lockStatus = reader.u24();
};
