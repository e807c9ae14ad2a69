import type { Alarm } from "../../model/alarms.ts";

/** Types of standard data strings that are alarms (AT07, AT09: Alarm Code List). */
export const dataAlarms: ReadonlyMap<string, Alarm> = new Map<string, Alarm>([
  ["01", "sos"],
  ["02", "overspeed"],
  ["04", "geofenceExit"],
  ["05", "geofenceEnter"],
  ["06", "tow"],
  ["07", "gpsAntennaCut"],
  ["10", "powerCut"],
  ["11", "powerRestored"],
  ["12", "lowPower"],
  ["13", "lowBattery"],
  ["40", "vibration"],
  ["41", "idle"],
  ["42", "hardAcceleration"],
  ["43", "hardBraking"],
]);

/**
 * Alarm types of AVL and AT03 that are alarms (AVL02, AVL05: "Alarm type"). Others are inputs, sleep, charging,
 * intervals.
 */
export const avlAlarms: ReadonlyMap<string, Alarm> = new Map<string, Alarm>([
  ["01", "sos"],
  ["08", "powerCut"],
  ["09", "powerOff"],
  ["10", "lowBattery"],
  ["11", "overspeed"],
  ["14", "hardAcceleration"],
  ["15", "hardBraking"],
  ["30", "parking"],
  ["42", "geofenceExit"],
  ["43", "geofenceEnter"],
]);
