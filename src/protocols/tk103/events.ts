import type { Alarm } from "../../model/alarms.ts";
import { bytesOfHex, Reader } from "../../wire/reader.ts";
import { type Draft, put, raise } from "../../wire/report.ts";

/** BO01: the first character (KX402, 2.13). */
export const alarmCodes: readonly Alarm[] = [
  "powerCut",
  "accident",
  "sos",
  "vibration",
  "lowSpeed",
  "overspeed",
  "geofenceExit",
];

/** BQ81, ALARM: the kind. */
const obdAlarms: readonly Alarm[] = [
  "lowBattery",
  "overspeed",
  "idle",
  "hardAcceleration",
  "hardBraking",
  "temperature",
];

/** Codes of the form of fields: ZC.., with a position DW3. and DW4., with cells DW5. and DW6. */
const events: ReadonlyMap<string, Alarm> = new Map([
  ...codes("movement", "ZC11", "DW31", "DW51"),
  ...codes("lowBattery", "ZC12", "DW32", "DW52"),
  ...codes("powerCut", "ZC13", "DW33", "DW53"),
  ...codes("ignitionOn", "ZC15", "DW35", "DW55", "ZC29", "DW42", "DW62"),
  ...codes("ignitionOff", "ZC16", "DW36", "DW56"),
  ...codes("removing", "ZC17", "DW37", "DW57"),
  ...codes("sos", "ZC25", "DW3E", "DW5E"),
  ...codes("tampering", "ZC26", "DW3F", "DW5F"),
  ...codes("lowPower", "ZC27", "DW40", "DW60"),
]);

function codes(alarm: Alarm, ...names: readonly string[]): readonly (readonly [string, Alarm])[] {
  return names.map((name) => [name, alarm] as const);
}

/** What a code of the form of fields says itself. */
export function readEvent(code: string, report: Draft): void {
  report.attributes.event = code;
  const alarm = events.get(code);
  if (alarm === undefined) return;
  raise(report, alarm);
  if (alarm === "ignitionOn") report.readings.ignition = true;
  if (alarm === "ignitionOff") report.readings.ignition = false;
}

/** An alarm of a table by its number; one that the table lacks is `general`. */
export function readAlarm(kind: string, obd: boolean, report: Draft): void {
  const alarm = (obd ? obdAlarms : alarmCodes)[Number.parseInt(kind, 10)];
  raise(report, alarm ?? "general");
  if (alarm === undefined) report.attributes.alarmCode = kind;
}

type Pid = readonly [length: number, read: (value: number, report: Draft) => void];

/** BQ86: parameters of OBD's service 01, each its number and its bytes (SAE J1979). */
const pids: ReadonlyMap<number, Pid> = new Map<number, Pid>([
  [0x00, [0, () => undefined]],
  [
    0x01,
    [
      4,
      (value, report) => {
        put(report, "dtcCount", (value >>> 24) & 0x7f, "numberOfDtcs");
        report.readings.engineLamp = value >>> 31 === 1;
      },
    ],
  ],
  [0x04, [1, (value, report) => put(report, "engineLoad", Math.round((value * 1000) / 255) / 10, "calculatedLoad")]],
  [0x05, [1, (value, report) => put(report, "coolantTemperature", value - 40, "ect")]],
  [0x06, [1, () => undefined]],
  [0x07, [1, () => undefined]],
  [0x0b, [1, (value, report) => put(report, "intakePressure", value, "map")]],
  [0x0c, [2, (value, report) => put(report, "rpm", value / 4, "engineSpeed")]],
  [0x0d, [1, (value, report) => put(report, "vehicleSpeed", value, "obdSpeed")]],
  [0x0e, [1, (value, { attributes }) => (attributes.timingAdvance = value / 2 - 64)]],
  [0x0f, [1, (value, report) => put(report, "intakeTemperature", value - 40, "iat")]],
  [0x10, [2, (value, report) => put(report, "airFlow", value / 100, "maf")]],
  [0x11, [1, (value, report) => put(report, "throttle", Math.round((value * 1000) / 255) / 10, "tp")]],
  [0x21, [2, (value, { attributes }) => (attributes.distanceWithLamp = value)]],
  [0x2f, [1, (value, report) => put(report, "fuel", Math.round((value * 1000) / 255) / 10, "fuelLevel")]],
  [0x42, [2, (value, report) => put(report, "externalVoltage", value / 1000, "moduleVoltage")]],
]);

/** Reads parameters up to the first that is not known. */
export function readPids(hex: string, report: Draft): void {
  const bytes = bytesOfHex(hex);
  if (bytes === undefined) return;
  const reader = new Reader(bytes);
  while (reader.remaining > 0) {
    const pid = pids.get(reader.u8());
    if (pid === undefined || reader.remaining < pid[0]) return;
    let value = 0;
    for (let index = 0; index < pid[0]; index++) value = value * 256 + reader.u8();
    pid[1](value, report);
  }
}
