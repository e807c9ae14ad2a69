import type { NumberReading } from "../../model/readings.ts";
import { Reader } from "../../wire/reader.ts";
import { type Draft, put } from "../../wire/report.ts";
import { readAlarms } from "./alarms.ts";
import { codesText, keepUnread, readCodes, readParameter, readTroubleCodes } from "./obd.ts";

type Item = (reader: Reader, report: Draft) => void;

function tenths(name: NumberReading, manualName: string): Item {
  return (reader, report) => put(report, name, reader.i16le() / 10, manualName);
}

function hundredths(name: NumberReading, manualName: string): Item {
  return (reader, report) => put(report, name, reader.u16le() / 100, manualName);
}

/** Items of 0x401F by their tags. */
const items: ReadonlyMap<number, Item> = new Map<number, Item>([
  [0x0002, readTagged],
  [
    0x0004,
    (reader, report) => {
      report.attributes.supportedPids = codesText(readCodes(reader));
    },
  ],
  [0x0006, (reader, report) => readTroubleCodes(reader, report, 2)],
  [
    0x0007,
    (reader, report) => {
      reader.skip(4);
      readAlarms(reader, report);
    },
  ],
  [0x000b, (reader, report) => readTroubleCodes(reader, report, 4)],
  [0x0010, tenths("deviceTemperature", "deviceTemp")],
  [0x0011, tenths("temperature", "temperatureSensor1")],
  [0x0012, tenths("temperature2", "temperatureSensor2")],
  [0x0013, tenths("temperature3", "temperatureSensor3")],
  [0x0014, tenths("temperature4", "temperatureSensor4")],
  [0x0020, hundredths("externalVoltage", "mainVoltage")],
  [0x0021, hundredths("batteryVoltage", "backupVoltage")],
]);

/** A count, and of each parameter its code, its length and its value. */
function readTagged(reader: Reader, report: Draft): void {
  for (let left = reader.u8(); left > 0 && reader.remaining >= 4; left--) {
    const code = reader.u16le();
    readParameter(reader, report, code, reader.u16le());
  }
}

/**
 * Items of a tag, a length and a value; a value that is not of its item's form, or of no known item, is kept as hex.
 */
export function readItems(reader: Reader, report: Draft): void {
  while (reader.remaining >= 4) {
    const tag = reader.u16le();
    const length = reader.u16le();
    if (length > reader.remaining) break;
    const value = new Reader(reader.bytes, reader.offset, reader.offset + length);
    try {
      const item = items.get(tag);
      if (item === undefined) keepItem(value, report, tag);
      else item(value, report);
    } catch {
      keepItem(new Reader(reader.bytes, reader.offset, reader.offset + length), report, tag);
    }
    reader.skip(length);
  }
  keepUnread(reader, report);
}

function keepItem(value: Reader, report: Draft, tag: number): void {
  report.attributes[`item0x${tag.toString(16).padStart(4, "0")}`] = value.hex(value.remaining);
}
