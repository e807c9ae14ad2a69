import type { Alarm } from "../../model/alarms.ts";

/**
 * ALERT_ID of alert reports, one list for all models (ST300/340 Operation Manual, 6-4-1; Universal Reporting Guide,
 * 2.3). What is no alarm is only `event`.
 */
export const alerts: ReadonlyMap<number, Alarm> = new Map<number, Alarm>([
  [1, "overspeed"],
  [3, "gpsAntennaCut"],
  [5, "geofenceExit"],
  [6, "geofenceEnter"],
  [8, "gpsAntennaCut"],
  [13, "fault"],
  [14, "lowPower"],
  [15, "shock"],
  [16, "accident"],
  [22, "overspeed"],
  [23, "overspeed"],
  [24, "temperature"],
  [25, "fault"],
  [26, "highRpm"],
  [27, "hardBraking"],
  [28, "fault"],
  [33, "ignitionOn"],
  [34, "ignitionOff"],
  [40, "powerRestored"],
  [41, "powerCut"],
  [42, "sos"],
  [46, "hardAcceleration"],
  [47, "hardBraking"],
  [48, "hardCornering"],
  [49, "overspeed"],
  [50, "jamming"],
  [61, "idle"],
  [62, "parking"],
  [64, "highRpm"],
  [69, "movement"],
  [73, "fuelLeak"],
  [75, "temperature"],
  [76, "temperature"],
]);

/** EMG_ID of emergency reports (ST310U Operation Manual, 5-2; ST300/340, 6-2). */
export const emergencies: ReadonlyMap<number, Alarm> = new Map<number, Alarm>([
  [1, "sos"],
  [2, "parking"],
  [3, "powerCut"],
  [5, "tampering"],
  [6, "doorOpened"],
  [7, "movement"],
  [8, "shock"],
]);

/** The ALERT_ID that stands for an alarm. */
export function alertOf(alarm: Alarm): number | undefined {
  for (const [code, name] of alerts) if (name === alarm) return code;
  return undefined;
}

/** Alarms that an alert can be about. */
export const alertAlarms: readonly Alarm[] = [...new Set(alerts.values())];

/** DID of a reader without a driver. */
export function isDriver(text: string | undefined): text is string {
  return text !== undefined && text !== "" && !/^0+$/.test(text);
}
