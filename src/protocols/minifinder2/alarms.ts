import type { Alarm } from "../../model/alarms.ts";
import { bit } from "../../wire/reader.ts";
import { type Draft, raise } from "../../wire/report.ts";

/** Bits of the alarm code that have an alarm of the catalogue (EV-07B 1.2, alarm code; 31 of pet trackers). */
const alarms: readonly (readonly [number, Alarm])[] = [
  [0, "lowBattery"],
  [1, "overspeed"],
  [2, "fallDown"],
  [8, "powerOff"],
  [9, "powerOn"],
  [10, "movement"],
  [12, "sos"],
  [31, "noise"],
];

/** Tilt, no motion, amber alert, welfare check and a beacon that is out of reach. */
const general = [3, 11, 18, 19, 23] as const;

/** Geofences 1 to 4 are bits from here, and whether they were entered others. */
const fences = 4;
const entered = 26;

/** Alarms that an alarm code holds in one bit. */
export const bitAlarms: readonly Alarm[] = alarms.map(([, alarm]) => alarm);

/** The alarm code of an alarm. */
export function codeOf(alarm: Alarm): number {
  const found = alarms.find(([, name]) => name === alarm);
  return found === undefined ? 0 : 2 ** found[0];
}

/** Reads an alarm code: a bit for each alarm. */
export function readAlarms(report: Draft, code: number): void {
  report.attributes.event = code;
  for (const [index, alarm] of alarms) if (bit(code, index)) raise(report, alarm);
  for (let fence = 0; fence < 4; fence++) {
    if (!bit(code, fences + fence)) continue;
    raise(report, bit(code, entered + fence) ? "geofenceEnter" : "geofenceExit");
    report.attributes.geofence = fence + 1;
  }
  if (bit(code, 13)) report.attributes.button1 = true;
  if (bit(code, 14)) report.attributes.button2 = true;
  if (!general.some((index) => bit(code, index))) return;
  raise(report, "general");
  report.attributes.alarmCode = code.toString(16).padStart(8, "0");
}
