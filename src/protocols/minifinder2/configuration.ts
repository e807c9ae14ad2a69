import { putCsq } from "../../wire/radio.ts";
import { Reader } from "../../wire/reader.ts";
import { type Draft, draft, put } from "../../wire/report.ts";
import type { Item } from "./envelope.ts";
import { coordinates, textOf } from "./group.ts";

type Kind = "u8" | "i8" | "u16" | "u24" | "u32" | "hex" | "text";
type Entry = readonly (readonly [name: string, kind: Kind])[];

const sizes: Readonly<Record<Kind, number>> = { u8: 1, i8: 1, u16: 2, u24: 3, u32: 4, hex: 0, text: 0 };

/** Keys of the configuration (Eview Pet Tracker V20230506, configuration command; EV-07B 1.2, 3.2). */
const entries: ReadonlyMap<number, Entry> = new Map<number, Entry>([
  [0x01, [["moduleNumber", "u32"]]],
  [0x02, [["firmwareVersion", "u32"]]],
  [0x05, [["bluetoothAddress", "hex"]]],
  [0x06, [["settingTime", "u32"]]],
  [0x07, [["runTimes", "u32"]]],
  [
    0x0a,
    [
      ["workInterval", "u24"],
      ["workMode", "u8"],
    ],
  ],
  [0x0e, [["timeZone", "i8"]]],
  [0x0f, [["enableControl", "u32"]]],
  [0x13, [["deviceName", "text"]]],
  [0x17, [["gpsUrl", "text"]]],
  [0x18, [["lbsUrl", "text"]]],
  [0x1b, [["gsmModule", "text"]]],
  [
    0x30,
    [
      ["numberFlags", "u8"],
      ["number", "text"],
    ],
  ],
  [
    0x31,
    [
      ["prefixFlags", "u8"],
      ["prefix", "text"],
    ],
  ],
  [0x33, [["phoneSwitches", "u8"]]],
  [0x40, [["apn", "text"]]],
  [0x41, [["apnUser", "text"]]],
  [
    0x43,
    [
      ["serverFlags", "u8"],
      ["port", "u16"],
      ["server", "text"],
    ],
  ],
  [
    0x44,
    [
      ["heartbeatInterval", "u32"],
      ["uploadInterval", "u32"],
      ["uploadLazyInterval", "u32"],
    ],
  ],
  [0x47, [["deviceId", "text"]]],
  [0x4e, [["gsmBand", "u8"]]],
  [
    0x5c,
    [
      ["barkLevel", "u8"],
      ["barkInterval", "u32"],
    ],
  ],
  [0x61, [["msisdn", "text"]]],
  [0x66, [["imsi", "text"]]],
  [0x75, [["extraEnableControl", "u32"]]],
]);

/** The IMEI, which says who the device is, and two secrets: the password of its commands and that of its network. */
const passedOver: ReadonlySet<number> = new Set([0x03, 0x0d, 0x42]);

/**
 * What a device says of its configuration. A key that comes several times is a list; one that nothing is known of is
 * kept in hex.
 */
export function readConfiguration(bytes: Uint8Array, items: readonly Item[]): Draft {
  const report = draft();
  for (const { key, from, to } of items) {
    if (passedOver.has(key) || to === from) continue;
    const reader = new Reader(bytes, from, to);
    const entry = entries.get(key);
    const least = entry?.reduce((sum, [, kind]) => sum + sizes[kind], 0) ?? 0;
    if (entry !== undefined && reader.remaining >= least)
      for (const [name, kind] of entry) add(report, name, fieldOf(reader, kind));
    else if (!readKnown(report, key, reader))
      add(report, `config${key.toString(16).padStart(2, "0")}`, reader.hex(reader.remaining));
  }
  return report;
}

/** Keys that are readings, or have parts of their own. False: the key is none of them, or too short. */
function readKnown(report: Draft, key: number, reader: Reader): boolean {
  const { remaining } = reader;
  if (key === 0x04) setText(report, "iccid", reader);
  else if (key === 0x1a) setText(report, "firmware", reader);
  else if (key === 0x14 && remaining >= 3) {
    put(report, "battery", reader.u8(), "batteryLevel");
    put(report, "batteryVoltage", reader.u16le() / 1000, "batteryVolts");
  } else if (key === 0x15 && remaining >= 8) {
    add(report, "blePlace", placeText(reader));
    add(report, "bleDescription", textOf(reader));
  } else if (key === 0x1d && remaining >= 9) {
    add(report, "agpsFlags", reader.u8());
    add(report, "agpsPlace", placeText(reader));
  } else if (key === 0x64 && remaining >= 5) {
    putCsq(report, "rssi", reader.u8(), "gsmSignal");
    add(report, "networkBand", reader.u32le());
    setText(report, "operator", reader);
  } else return false;
  return true;
}

function setText({ readings }: Draft, name: "iccid" | "firmware" | "operator", reader: Reader): void {
  const text = textOf(reader);
  if (text !== "") readings[name] = text;
}

function placeText(reader: Reader): string {
  const { latitude, longitude } = coordinates(reader);
  return `${latitude},${longitude}`;
}

function fieldOf(reader: Reader, kind: Kind): number | string {
  switch (kind) {
    case "u8":
      return reader.u8();
    case "i8":
      return reader.i8();
    case "u16":
      return reader.u16le();
    case "u24":
      return reader.u24le();
    case "u32":
      return reader.u32le();
    case "hex":
      return reader.hex(reader.remaining);
    case "text":
      return textOf(reader);
  }
}

function add(report: Draft, name: string, value: number | string): void {
  const before = report.attributes[name];
  if (value === "") return;
  report.attributes[name] = before === undefined ? value : `${before};${value}`;
}
