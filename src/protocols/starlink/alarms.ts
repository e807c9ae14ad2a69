import type { Alarm } from "../../model/alarms.ts";

/**
 * Events that are alarms of the catalogue, by their number (tag EID). The first of an alarm is the one that a simulated
 * device sends.
 */
export const eventAlarms: ReadonlyMap<number, Alarm> = new Map([
  [4, "ignitionOn"],
  [5, "ignitionOff"],
  [6, "overspeed"],
  [7, "geofenceEnter"],
  [8, "geofenceExit"],
  [9, "powerCut"],
  [10, "powerRestored"],
  [11, "lowBattery"],
  [22, "idle"],
  [26, "tow"],
  [36, "sos"],
  [41, "accident"],
  [42, "jamming"],
  [57, "geofence"],
  [72, "highRpm"],
  [76, "tampering"],
  [79, "idle"],
  [84, "vibration"],
  [90, "jamming"],
]);

/**
 * Events of the ignition (4, 5) and of the engine (24, 25), which say that it is on, for a unit that has no field for
 * it.
 */
export const ignitionEvents: ReadonlyMap<number, boolean> = new Map([
  [4, true],
  [5, false],
  [24, true],
  [25, false],
]);

/** Events of the motion sensor. */
export const motionEvents: ReadonlyMap<number, boolean> = new Map([
  [44, true],
  [45, false],
]);

/** Event that says who drives: the code of the card stands behind the fields. */
export const driverEvent = 20;
