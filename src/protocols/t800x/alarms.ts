import type { Alarm } from "../../model/alarms.ts";
import { type Draft, raise } from "../../wire/report.ts";

/** Alarm codes of 0x23, 0x25 and 0x26. What is no alarm (answers to questions, inputs, ends) is only `event`. */
export const vehicleAlarms: ReadonlyMap<number, Alarm> = new Map<number, Alarm>([
  [1, "powerCut"],
  [2, "lowBattery"],
  [3, "sos"],
  [4, "overspeed"],
  [5, "geofenceEnter"],
  [6, "geofenceExit"],
  [7, "tow"],
  [8, "vibration"],
  [10, "vibration"],
  [12, "fuelLeak"],
  [14, "fuelLeak"],
  [15, "ignitionOn"],
  [16, "ignitionOff"],
  [19, "idle"],
  [21, "jamming"],
  [23, "powerRestored"],
  [24, "lowPower"],
]);

/** Alarm codes of 0x27. */
export const assetAlarms: ReadonlyMap<number, Alarm> = new Map<number, Alarm>([
  [1, "removing"],
  [2, "tampering"],
  [3, "sos"],
  [4, "removing"],
  [5, "fallDown"],
  [6, "lowBattery"],
  [8, "temperature"],
  [9, "vibration"],
  [10, "accident"],
  [14, "geofenceEnter"],
  [15, "geofenceExit"],
  [16, "movement"],
  [18, "idle"],
  [29, "powerOn"],
  [30, "temperature"],
  [33, "temperature"],
  [37, "temperature"],
]);

/** Puts an alarm code and, where it is one, the alarm. */
export function putAlarm(report: Draft, code: number, alarms: ReadonlyMap<number, Alarm>): void {
  report.attributes.event = code;
  const alarm = alarms.get(code);
  if (alarm !== undefined) raise(report, alarm);
}
