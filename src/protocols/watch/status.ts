import type { Alarm } from "../../model/alarms.ts";
import { bit } from "../../wire/reader.ts";
import { type Draft, raise } from "../../wire/report.ts";
import { hex, mismatch } from "../../wire/text.ts";

/** Bits of the upper half, which are alarms (Appendix I). The heart rate of bit 22 has no alarm of its own. */
const alarmBits: ReadonlyMap<number, Alarm> = new Map([
  [16, "sos"],
  [17, "lowBattery"],
  [18, "geofenceExit"],
  [19, "geofenceEnter"],
  [20, "removing"],
  [21, "fallDown"],
]);

/** Bits of the lower half, which are states. They say what an alarm is about that has none of the bits above. */
const stateBits: ReadonlyMap<number, Alarm> = new Map([
  [0, "lowBattery"],
  [1, "geofenceExit"],
  [2, "geofenceEnter"],
  [14, "powerCut"],
]);

/** Bit 4: the device does not move. Older firmware does not know the bit, so without it nothing is said of motion. */
const stillBit = 4;

const statusField = hex(1, 8);

/** Reads the device status; `alarm`: of a message that is an alarm. */
export function readStatus(report: Draft, text: string, alarm: boolean): void {
  const status = statusField.read([text], 0);
  if (text !== "") report.attributes.status = text;
  if (status !== mismatch) {
    for (let index = 16; index < 32 && status > 0xffff; index++) {
      if (!bit(status, index)) continue;
      const known = alarmBits.get(index);
      if (known === undefined) report.attributes.alarmCode = index;
      raise(report, known ?? "general");
    }
    if (bit(status, stillBit)) report.readings.motion = false;
    if (alarm && report.alarms.length === 0)
      for (const [index, state] of stateBits) if (bit(status, index)) raise(report, state);
  }
  if (alarm && report.alarms.length === 0) raise(report, "general");
}

/** Alarms that a status can hold. */
export const statusAlarms: readonly Alarm[] = [...alarmBits.values()];

/** The status with the bit of an alarm. */
export function statusText(alarm: Alarm | undefined): string {
  for (const [index, name] of alarmBits) if (name === alarm) return (2 ** index).toString(16).padStart(8, "0");
  return "00000000";
}
