import type { Alarm } from "../../model/alarms.ts";
import { bit } from "../../wire/reader.ts";
import { type Draft, raise } from "../../wire/report.ts";

/**
 * Warnings of both protocols by their codes. (Terminal Communication Protocol V1.8.4, alarm package; Device Protocol
 * V2.0, 5.5)
 */
const warnings: ReadonlyMap<number, Alarm> = new Map([
  [0x01, "powerCut"],
  [0x02, "sos"],
  [0x03, "lowBattery"],
  [0x04, "vibration"],
  [0x05, "movement"],
  [0x08, "gpsAntennaCut"],
  [0x09, "gpsAntennaCut"],
  [0x25, "removing"],
  [0x81, "lowSpeed"],
  [0x82, "overspeed"],
  [0x83, "geofenceEnter"],
  [0x84, "geofenceExit"],
  [0x85, "accident"],
  [0x86, "fallDown"],
]);

/** Codes of warnings, for the device's side. */
export const warningCodes: ReadonlyMap<Alarm, number> = new Map(
  [...warnings].toReversed().map(([code, alarm]) => [alarm, code]),
);

/** Raises the alarm of a warning's code. */
export function putWarning(report: Draft, code: number): void {
  const alarm = warnings.get(code);
  report.attributes.event = code;
  raise(report, alarm ?? "general");
  if (alarm === undefined) report.attributes.alarmCode = code;
}

/** What a status of two bytes says in both protocols; a bit before each says whether the tracker has such a thing. */
export function putSharedStatus({ readings, attributes }: Draft, status: number): void {
  attributes.status = status;
  if (bit(status, 1)) readings.ignition = bit(status, 2);
  if (bit(status, 3)) readings.armed = bit(status, 4);
  if (bit(status, 7)) readings.charging = bit(status, 8);
}

/** Status of the old protocol: bit 6 says that fuel and power are on. (Terminal Communication Protocol V1.8.4) */
export function putOldStatus(report: Draft, status: number): void {
  putSharedStatus(report, status);
  if (bit(status, 5)) report.readings.blocked = !bit(status, 6);
}

/**
 * Status: bit 6 says that the relay is triggered; bits from 12 on are the inputs. Answers whether GPS is fixed. (Device
 * Protocol V2.0, 3.5)
 */
export function putStatus(report: Draft, status: number): boolean {
  const { readings } = report;
  putSharedStatus(report, status);
  if (bit(status, 3)) readings.motion = bit(status, 9);
  if (bit(status, 5)) readings.blocked = bit(status, 6);
  readings.input1 = bit(status, 12);
  readings.input2 = bit(status, 13);
  readings.input3 = bit(status, 14);
  readings.input4 = bit(status, 15);
  return bit(status, 0);
}
