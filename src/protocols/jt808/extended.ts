import type { Reader } from "../../wire/reader.ts";
import { bit } from "../../wire/reader.ts";
import { type Draft, put, raise } from "../../wire/report.ts";
import type { Scene } from "./item.ts";
import { asciiText, cardNumber } from "./text.ts";

type Field = (reader: Reader, report: Draft, scene: Scene, length: number) => void;

/** 0x00C5: bits that are 0 where something is told; bits 23 and 24 are the motion. */
const states: Field = (reader, report) => {
  const value = reader.u32();
  if (!bit(value, 6)) raise(report, "vibration");
  const motion = (value >>> 23) & 3;
  if (motion < 2) report.readings.motion = motion === 0;
};

/** 0x0089: a bit is 0 where its alarm is on. */
const alarms: Field = (reader, report) => {
  const value = reader.u32();
  if (!bit(value, 0)) raise(report, "powerCut");
  if (!bit(value, 12)) raise(report, "removing");
};

const accessPoints: Field = (reader, _report, scene, length) => {
  reader.skip(1);
  const values = reader
    .latin1(length - 1)
    .replace("*", "")
    .split(",");
  for (let index = 0; index + 1 < values.length; index += 2) {
    const signal = Number(values[index + 1]);
    scene.wifi.push({ mac: values[index] ?? "", signal: Number.isFinite(signal) ? signal : undefined });
  }
};

/** Fields of 0xEB (Boshijie "Extended data flow"): a length that counts the id, the id, the value. */
const fields: Readonly<Record<number, readonly [least: number, read: Field]>> = {
  1: [
    2,
    (reader, report) => {
      report.attributes.oilSensor1 = reader.u16() / 10;
    },
  ],
  35: [
    6,
    (reader, report) => {
      const value = Number(reader.latin1(6));
      if (value >= 0 && value <= 1000) report.attributes.oilSensor2 = value;
    },
  ],
  45: [
    2,
    (reader, report, _scene, length) => {
      if (length >= 4) put(report, "externalVoltage", reader.u32() / 1000, "mainPower");
      else put(report, "batteryVoltage", reader.u16() / 1000, "batteryPower");
    },
  ],
  137: [4, alarms],
  163: [
    1,
    (reader, report, _scene, length) => {
      report.readings.firmware = asciiText(reader, length);
    },
  ],
  168: [1, (reader, report) => put(report, "battery", reader.u8(), "batteryLevel")],
  178: [
    10,
    (reader, report) => {
      const card = cardNumber(reader, 10);
      if (card !== undefined) report.readings.iccid = card;
    },
  ],
  185: [2, accessPoints],
  197: [4, states],
  198: [
    1,
    (reader, report) => {
      const value = reader.u8();
      report.attributes.batteryAlarm = value;
      if (value === 3 || value === 4) raise(report, "lowBattery");
    },
  ],
  206: [2, (reader, report) => put(report, "externalVoltage", reader.u16() / 100, "mainPower")],
  213: [
    1,
    (reader, report, _scene, length) => {
      report.attributes.imei = asciiText(reader, length);
    },
  ],
  216: [
    9,
    (reader, _report, scene) => {
      scene.cells.push({ mcc: reader.u16(), mnc: reader.u8(), lac: reader.u16(), cellId: reader.u32() });
    },
  ],
  225: [1, (reader, report) => put(report, "battery", reader.u8(), "batteryLevel")],
  251: [
    1,
    (reader, report, _scene, length) => {
      report.readings.iccid = asciiText(reader, length);
    },
  ],
};

function isPrintable(reader: Reader, length: number): boolean {
  for (let ahead = 0; ahead < length; ahead++) {
    const byte = reader.peek(ahead);
    if (byte < 0x20 || byte > 0x7e) return false;
  }
  return true;
}

/** 0xEB: neighbouring cells, the name of a time zone, or fields. */
export function readExtended(reader: Reader, report: Draft, scene: Scene, length: number): void {
  const end = reader.offset + length;
  const first = (reader.peek() << 8) | reader.peek(1);
  if (first > 200 && length >= 8 && (length - 3) % 5 === 0) {
    const mcc = reader.u16();
    const mnc = reader.u8();
    while (reader.offset < end)
      scene.cells.push({ mcc, mnc, lac: reader.u16(), cellId: reader.u16(), signal: reader.u8() });
    return;
  }
  if (isPrintable(reader, length)) {
    report.attributes.timezone = asciiText(reader, length);
    return;
  }
  while (reader.offset + 4 <= end) {
    const size = reader.u16();
    const next = reader.offset + size;
    if (size < 2 || next > end) break;
    const id = reader.u16();
    const field = fields[id];
    if (field !== undefined && size - 2 >= field[0]) field[1](reader, report, scene, size - 2);
    else report.attributes[`item0xeb${id.toString(16).padStart(4, "0")}`] = reader.hex(size - 2);
    reader.seek(next);
  }
}
