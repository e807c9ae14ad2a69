/**
 * The closed catalogue of alarms: what a tracker itself says went wrong.
 * A decoder maps its manual's alarm codes to these; a code that fits none is `general`, with the code in `attributes.alarmCode`.
 */
export const alarmNames = [
  "general",
  "sos",
  "powerCut",
  "powerRestored",
  "powerOn",
  "powerOff",
  "lowPower",
  "lowBattery",
  "vibration",
  "movement",
  "tow",
  "tampering",
  "removing",
  "shock",
  "accident",
  "fallDown",
  "overspeed",
  "idle",
  "hardAcceleration",
  "hardBraking",
  "hardCornering",
  "geofenceEnter",
  "geofenceExit",
  "gpsAntennaCut",
  "jamming",
  "fuelLeak",
  "temperature",
  "doorOpened",
  "doorClosed",
  "lock",
  "unlock",
  "ignitionOn",
  "ignitionOff",
  "fault",
  "highRpm",
  "fatigueDriving",
  "laneChange",
] as const;

/** One alarm that a tracker reported. */
export type Alarm = (typeof alarmNames)[number];
