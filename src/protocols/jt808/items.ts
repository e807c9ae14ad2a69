import { cellsText, wifiText } from "../../wire/radio.ts";
import type { Reader } from "../../wire/reader.ts";
import { bit } from "../../wire/reader.ts";
import { type Draft, put, raise } from "../../wire/report.ts";
import type { ItemReader, ItemRow, Scene } from "./item.ts";
import { signedWord } from "./number.ts";
import { readObdExtension } from "./obd.ts";
import { vendorItems } from "./vendor-items.ts";

/** 0x12 "Entering or leaving an area or route": kind, id, direction. */
const area: ItemReader = (reader, report) => {
  report.attributes.areaKind = reader.u8();
  report.attributes.areaId = reader.u32();
  raise(report, reader.u8() === 0 ? "geofenceEnter" : "geofenceExit");
};

/** 0x25 "Extended vehicle signals": lamps, pedals and gear, a bit each. */
const signals: ItemReader = (reader, report) => {
  const value = reader.u32();
  report.attributes.vehicleSignals = value;
  if (value === 0) return;
  report.readings.brake = bit(value, 4);
  report.readings.airConditioning = bit(value, 9);
  report.readings.clutch = bit(value, 14);
};

/** 0x30: of trackers that tell the modem's level (0 to 31) a percentage too. */
const signal: ItemReader = (reader, report) => {
  const value = reader.u8();
  report.attributes.signalStrength = value;
  if (value <= 31) report.readings.signal = Math.round((value * 100) / 31);
};

/** Items of the standard (JT/T 808, table 27, and JT/T 1078, table 13). */
const standardItems: readonly (readonly [number, ItemRow])[] = [
  [0x01, [4, (reader, report) => put(report, "odometer", reader.u32() / 10, "mileage")]],
  [
    0x02,
    [
      2,
      (reader, report) => {
        const value = reader.u16();
        put(report, "fuelVolume", bit(value, 15) ? value & 0x7fff : value / 10, "fuelQuantity");
      },
    ],
  ],
  [0x03, [2, (reader, report) => put(report, "vehicleSpeed", reader.u16() / 10, "recorderSpeed")]],
  [
    0x04,
    [
      2,
      (reader, report) => {
        report.attributes.alarmEvent = reader.u16();
      },
    ],
  ],
  [
    0x06,
    [
      1,
      (reader, report, _scene, length) => {
        if (length === 1) put(report, "battery", reader.u8(), "batteryLevel");
        else put(report, "temperature", signedWord(reader.u16()), "carriageTemperature");
      },
    ],
  ],
  [
    0x11,
    [
      1,
      (reader, report, _scene, length) => {
        report.attributes.overspeedPlace = reader.u8();
        if (length >= 5) report.attributes.areaId = reader.u32();
      },
    ],
  ],
  [0x12, [6, area]],
  [
    0x13,
    [
      7,
      (reader, report) => {
        report.attributes.routeId = reader.u32();
        report.attributes.routeSeconds = reader.u16();
        report.attributes.routeResult = reader.u8();
      },
    ],
  ],
  [
    0x14,
    [
      4,
      (reader, report) => {
        report.attributes.videoAlarm = reader.u32();
      },
    ],
  ],
  [
    0x15,
    [
      4,
      (reader, report) => {
        report.attributes.videoLost = reader.u32();
      },
    ],
  ],
  [
    0x16,
    [
      4,
      (reader, report) => {
        report.attributes.videoCovered = reader.u32();
      },
    ],
  ],
  [
    0x17,
    [
      2,
      (reader, report) => {
        report.attributes.storageFault = reader.u16();
      },
    ],
  ],
  [
    0x18,
    [
      2,
      (reader, report, _scene, length) => {
        const value = reader.u16();
        report.attributes.abnormalDriving = value;
        if (bit(value, 0)) raise(report, "fatigueDriving");
        if (length >= 3) report.attributes.fatigueDegree = reader.u8();
      },
    ],
  ],
  [0x25, [4, signals]],
  [
    0x2a,
    [
      2,
      (reader, report) => {
        report.attributes.ioStatus = reader.u16();
      },
    ],
  ],
  [
    0x2b,
    [
      4,
      (reader, report) => {
        put(report, "analog1", reader.u16() / 100, "AD1");
        put(report, "analog2", reader.u16() / 100, "AD0");
      },
    ],
  ],
  [0x30, [1, signal]],
  [0x31, [1, (reader, report) => put(report, "satellites", reader.u8(), "gnssSatellites")]],
];

const table: (ItemRow | undefined)[] = [];
for (const [id, item] of [...standardItems, ...vendorItems]) table[id] = item;

/** The name of an item that no manual at hand describes. */
export function itemName(id: number): string {
  return `item0x${id.toString(16).padStart(2, "0")}`;
}

/** Reads the list of items up to the end of the report. An item that can't be read is kept as it is, in hex. */
export function readItems(reader: Reader, report: Draft, scene: Scene): void {
  while (reader.remaining >= 2) {
    const id = reader.u8();
    const length = reader.u8();
    if (length > reader.remaining) break;
    const start = reader.offset;
    const item = table[id];
    if (id === 0x80 && length === 1) {
      reader.skip(1);
      readObdExtension(reader, report);
      break;
    }
    if (item === undefined || length < item[0] || !tryItem(item[1], reader, report, scene, length)) {
      reader.seek(start);
      if (length > 0) report.attributes[itemName(id)] = reader.hex(length);
    }
    reader.seek(start + length);
  }
  const cells = cellsText(scene.cells);
  if (cells !== undefined) report.attributes.cells = cells;
  const wifi = wifiText(scene.wifi);
  if (wifi !== undefined) report.attributes.wifi = wifi;
}

/** Whether an item could be read: one that says more of itself than it holds can't. */
function tryItem(read: ItemReader, reader: Reader, report: Draft, scene: Scene, length: number): boolean {
  try {
    read(reader, report, scene, length);
    return true;
  } catch {
    return false;
  }
}
