import type { Alarm } from "../../model/alarms.ts";
import { type Draft, raise } from "../../wire/report.ts";

/**
 * Event codes that are alarms (T622 GPRS Protocol, 1.5; T1 & T333 GPRS Protocol, 1.3). What is no alarm is only
 * `event`.
 */
const alarms: ReadonlyMap<number, Alarm> = new Map<number, Alarm>([
  [1, "sos"],
  [17, "lowBattery"],
  [18, "lowPower"],
  [19, "overspeed"],
  [20, "geofenceEnter"],
  [21, "geofenceExit"],
  [22, "powerRestored"],
  [23, "powerCut"],
  [24, "gpsLost"],
  [25, "gpsRestored"],
  [28, "gpsAntennaCut"],
  [29, "powerOn"],
  [30, "shock"],
  [36, "tow"],
  [40, "powerOff"],
  [44, "jamming"],
  [50, "temperature"],
  [51, "temperature"],
  [54, "fuelLeak"],
  [78, "accident"],
  [79, "fallDown"],
  [86, "highRpm"],
  [90, "hardCornering"],
  [91, "hardCornering"],
  [129, "hardBraking"],
  [130, "hardAcceleration"],
  [133, "idle"],
  [135, "fatigueDriving"],
]);

/** Event of a report by interval. */
export const byInterval = 35;
/** Event of a card or key that was read. */
export const cardRead = 37;

/** Gives an event's code and, where it is one, the alarm. */
export function putEvent(report: Draft, code: number): void {
  report.attributes.event = code;
  const alarm = alarms.get(code);
  if (alarm !== undefined) raise(report, alarm);
}

/** The event that stands for an alarm. */
export function eventOf(alarm: Alarm | undefined): number {
  for (const [code, name] of alarms) if (name === alarm) return code;
  return byInterval;
}

/** Alarms that an event can be. */
export const eventAlarms: readonly Alarm[] = [...new Set(alarms.values())];
