import type { Alarm } from "../../model/alarms.ts";
import { type Draft, raise } from "../../wire/report.ts";

/** The transmission reason of an answer to a command; its data are the command's number. */
export const answered = 31;

/** Transmission reasons that are alarms. */
const alarms: ReadonlyMap<number, Alarm> = new Map([
  [6, "ignitionOn"],
  [7, "gpsLost"],
  [15, "accident"],
  [25, "movement"],
  [27, "gpsRestored"],
  [33, "gpsRestored"],
  [34, "overspeed"],
  [35, "idle"],
  [41, "gpsLost"],
  [46, "driverChanged"],
  [48, "doorClosed"],
  [63, "ignitionOff"],
  [64, "doorOpened"],
  [65, "shock"],
  [70, "sos"],
  [79, "ignitionOn"],
  [80, "powerCut"],
  [81, "lowPower"],
  [83, "lowBattery"],
  [87, "powerRestored"],
  [99, "hardBraking"],
  [100, "hardCornering"],
  [101, "hardAcceleration"],
  [112, "fault"],
  [144, "tampering"],
  [145, "sos"],
  [212, "overspeed"],
  [221, "fault"],
  [232, "fault"],
  [253, "geofence"],
  [254, "geofence"],
  [255, "geofence"],
]);

/**
 * Reasons that are alarms without a name of their own: 4 emergency, 9 robbery, 19 the lock, 47 driving without a
 * driver's identification, 68 hot-wiring, 82 backup battery disconnected, 104 the vehicle's alarm, 162 gas.
 */
const unnamed: ReadonlySet<number> = new Set([4, 9, 19, 47, 68, 82, 104, 162]);

/** Events of a wireless module (164), by the reason's data. */
const moduleEvents: ReadonlyMap<number, Alarm> = new Map([
  [1, "shock"],
  [3, "fallDown"],
  [4, "doorOpened"],
  [5, "doorClosed"],
  [11, "temperature"],
  [14, "doorOpened"],
  [15, "doorClosed"],
  [16, "fallDown"],
]);

/** The alarm of a reason; of some it depends on the reason's data. */
function alarmOf(reason: number, data: number): Alarm | undefined {
  switch (reason) {
    case 5:
      return "doorOpened";
    case 8:
      return data === 2 ? undefined : "tow";
    case 158:
      return data === 0 ? "removing" : "tampering";
    case 164:
      return moduleEvents.get(data);
    case 191:
      return (data & 0x80) === 0 ? "geofenceExit" : "geofenceEnter";
    case 206:
      return (data & 1) === 0 ? "jamming" : undefined;
    default:
      return alarms.get(reason);
  }
}

/** Puts a transmission reason and its data, and raises its alarm. */
export function readReason(report: Draft, reason: number, data: number): void {
  report.attributes.event = reason;
  if (data !== 0) report.attributes.eventData = data;
  const alarm = alarmOf(reason, data);
  if (alarm !== undefined) raise(report, alarm);
  if (unnamed.has(reason)) {
    raise(report, "general");
    report.attributes.alarmCode = reason;
  }
  if (reason === 105 || reason === 106) report.readings.armed = reason === 105;
}
