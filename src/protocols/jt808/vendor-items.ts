import { bit } from "../../wire/reader.ts";
import { put, raise } from "../../wire/report.ts";
import { readBattery, readStatus } from "./aovx.ts";
import { readExtended } from "./extended.ts";
import type { ItemRow } from "./item.ts";
import { readTyres } from "./tyres.ts";

import {
  assistance,
  cellList,
  deviceOrSteps,
  driving,
  environment,
  event,
  firmware,
  intense,
  levelOrCells,
  levelOrDriver,
  lockOrJimi,
  locks,
  mode,
  obdBlock,
  obdOrProbes,
  padlocks,
  readLockEvent,
  sensors,
  tagsOrObd,
  temperatures,
  text,
  various,
  voltage,
  wideCells,
  wifi,
} from "./vendor-readers.ts";

/**
 * Items that makers added ("Location additional information, custom items"); where two gave one number two meanings,
 * its length or the model tells.
 */
export const vendorItems: readonly (readonly [number, ItemRow])[] = [
  [0x0b, [1, readLockEvent]],
  [0x33, [1, mode]],
  [0x51, [2, temperatures]],
  [0x56, [1, (reader, report) => put(report, "battery", reader.u8() * 10, "batteryTenths")]],
  [0x57, [8, driving]],
  [0x5d, [11, cellList]],
  [0x60, [2, event]],
  [0x63, [11, padlocks]],
  [0x64, [6, assistance("adasAlarm")]],
  [0x65, [6, assistance("dmsAlarm")]],
  [
    0x67,
    [
      8,
      text((report, value) => {
        report.attributes.password = value;
      }),
    ],
  ],
  [0x68, [2, (reader, report) => put(report, "battery", reader.u16() / 100, "batteryLevel")]],
  [0x69, [2, voltage("batteryVoltage", 100)]],
  [
    0x70,
    [
      6,
      (reader, report) => {
        reader.skip(5);
        const kind = reader.u8();
        const alarm = intense.find(([code]) => code === kind)?.[1];
        report.attributes.intenseDriving = kind;
        if (alarm !== undefined) raise(report, alarm);
      },
    ],
  ],
  [0x77, [8, readTyres]],
  [0x82, [2, voltage("externalVoltage", 10)]],
  [0x91, [22, obdBlock]],
  [
    0x94,
    [
      1,
      text((report, value) => {
        report.readings.vin = value;
      }),
    ],
  ],
  [
    0xa7,
    [
      4,
      (reader, report) => {
        put(report, "analog1", reader.u16() / 100, "AD1");
        put(report, "analog2", reader.u16() / 100, "AD0");
      },
    ],
  ],
  [0xac, [4, (reader, report) => put(report, "odometer", reader.u32() / 1000, "totalMileage")]],
  [
    0xbc,
    [
      1,
      text((report, value) => {
        report.readings.driverName = value;
      }),
    ],
  ],
  [
    0xbd,
    [
      1,
      text((report, value) => {
        report.readings.driverId = value;
      }),
    ],
  ],
  [
    0xd0,
    [
      4,
      (reader, report) => {
        const value = reader.u32();
        report.attributes.userStatus = value;
        if (bit(value, 3)) raise(report, "vibration");
      },
    ],
  ],
  [0xd3, [2, voltage("externalVoltage", 10)]],
  [0xd4, [1, levelOrDriver]],
  [0xd5, [2, locks]],
  [
    0xda,
    [
      3,
      (reader, report) => {
        report.attributes.stringCuts = reader.u16();
        const value = reader.u8();
        report.attributes.string = bit(value, 0);
        report.readings.motion = bit(value, 2);
        report.attributes.cover = bit(value, 3);
      },
    ],
  ],
  [0xe1, [1, levelOrCells]],
  [
    0xe2,
    [
      4,
      (reader, report, { model }) => {
        const value = reader.u32();
        if (model !== "DT800") put(report, "fuelVolume", value / 10, "fuelQuantity");
      },
    ],
  ],
  [
    0xe3,
    [
      4,
      (reader, report) => {
        reader.skip(1);
        put(report, "battery", reader.u8(), "batteryLevel");
        put(report, "batteryVoltage", reader.u16() / 100, "batteryPower");
      },
    ],
  ],
  [
    0xe4,
    [
      2,
      (reader, report) => {
        if (reader.u8() === 0) report.readings.charging = true;
        put(report, "battery", reader.u8(), "batteryLevel");
      },
    ],
  ],
  [
    0xe5,
    [
      1,
      (reader, report, _scene, length) => {
        if (length !== 1) throw new RangeError("no state of motion");
        report.readings.motion = reader.u8() === 1;
      },
    ],
  ],
  [0xe6, [7, obdOrProbes]],
  [
    0xe7,
    [
      2,
      (reader, report, _scene, length) => {
        if (length !== 8) throw new RangeError("no alarms");
        const flags = reader.u16();
        if (bit(flags, 0)) raise(report, "vibration");
        if ((flags & 0x0e) !== 0) raise(report, "sos");
      },
    ],
  ],
  [0xe8, [3, lockOrJimi]],
  [0xe9, [1, levelOrDriver]],
  [0xea, [3, environment]],
  [0xeb, [2, readExtended]],
  [0xec, [7, wifi]],
  [
    0xed,
    [
      1,
      text((report, value) => {
        report.attributes.card = value;
      }),
    ],
  ],
  [
    0xee,
    [
      6,
      (reader, report) => {
        report.attributes.signalStrength = reader.u8();
        put(report, "externalVoltage", reader.u16() / 1000, "mainPower");
        put(report, "batteryVoltage", reader.u16() / 1000, "batteryPower");
        put(report, "satellites", reader.u8(), "gnssSatellites");
      },
    ],
  ],
  [0xf0, [13, wideCells]],
  [
    0xf1,
    [
      4,
      (reader, report, _scene, length) => {
        if (length !== 4) throw new RangeError("no voltage");
        put(report, "externalVoltage", reader.u32() / 1000, "mainPower");
      },
    ],
  ],
  [0xf2, [1, firmware]],
  [0xf3, [3, tagsOrObd]],
  [0xf4, [7, wifi]],
  [0xf5, [2, (reader, report) => put(report, "illuminance", reader.u16(), "light")]],
  [0xf6, [2, sensors]],
  [0xf7, [2, readBattery]],
  [0xf8, [2, deviceOrSteps]],
  [0xf9, [2, readStatus]],
  [
    0xfb,
    [
      1,
      text((report, value) => {
        report.attributes.container = value;
      }),
    ],
  ],
  [
    0xfc,
    [
      1,
      (reader, report) => {
        report.attributes.geofenceId = reader.u8();
      },
    ],
  ],
  [0xfe, [1, various]],
];
