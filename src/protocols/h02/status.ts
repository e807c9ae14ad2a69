import type { Alarm } from "../../model/alarms.ts";
import type { Readings } from "../../model/readings.ts";
import { bit } from "../../wire/reader.ts";

/** What a vehicle status says. */
export interface VehicleStatus {
  readonly alarms: readonly Alarm[];
  readonly readings: {
    readonly ignition: boolean;
    readonly doorOpen: boolean;
    readonly armed: boolean;
    readonly blocked: boolean;
    readonly powerConnected: boolean;
  };
  readonly attributes: { readonly vehicleStatus: string };
}

/**
 * Alarm bits, counted from the lowest bit of the last byte. The makers' tables agree on most; where they don't, the
 * reading of more of them stands here. Bit 1 is "robbery", bit 18 the button of trackers that have one.
 */
const alarmBits: readonly (readonly [number, Alarm])[] = [
  [0, "vibration"],
  [1, "sos"],
  [2, "overspeed"],
  [3, "ignitionOn"],
  [4, "geofenceEnter"],
  [5, "gpsAntennaCut"],
  [6, "fault"],
  [7, "geofenceExit"],
  [11, "accident"],
  [14, "general"],
  [15, "overspeed"],
  [16, "fault"],
  [17, "shock"],
  [18, "sos"],
  [19, "powerCut"],
  [25, "tow"],
  [28, "powerCut"],
];

/** All bits that mean an alarm: where every one of them is set, there is none. */
const alarmMask = alarmBits.reduce((mask, [index]) => mask | (1 << index), 0);

const noAlarms: readonly Alarm[] = Object.freeze([]);

/** Reads vehicle_status, four bytes in negative logic: a bit that is 0 is in force (GPRS Protocol, Appendix I). */
export function vehicleStatus(status: number): VehicleStatus {
  return {
    alarms: (status & alarmMask) === alarmMask ? noAlarms : alarmsOf(status),
    readings: {
      // "ACC off" is what is in force at 0.
      ignition: bit(status, 10),
      doorOpen: !bit(status, 8),
      armed: !bit(status, 9),
      blocked: !bit(status, 27),
      powerConnected: bit(status, 19) && bit(status, 28),
    },
    attributes: { vehicleStatus: status.toString(16).toUpperCase().padStart(8, "0") },
  };
}

function alarmsOf(status: number): readonly Alarm[] {
  const alarms = new Set<Alarm>();
  for (const [index, alarm] of alarmBits) if (!bit(status, index)) alarms.add(alarm);
  return [...alarms];
}

/** Alarms that a vehicle status can hold. */
export const statusAlarms: readonly Alarm[] = [...new Set(alarmBits.map(([, alarm]) => alarm))];

/**
 * The vehicle status of these readings and this alarm: what `vehicleStatus` reads. No supply is the same bit as the
 * alarm that it was cut.
 */
export function statusWord(
  readings: Pick<Readings, "ignition" | "doorOpen" | "armed" | "blocked" | "powerConnected">,
  alarm: Alarm | undefined,
): string {
  const inForce = [
    [10, readings.ignition === false],
    [8, readings.doorOpen],
    [9, readings.armed],
    [27, readings.blocked],
    [19, readings.powerConnected === false],
    [alarmBits.find(([, name]) => name === alarm)?.[0] ?? 0, alarmBits.some(([, name]) => name === alarm)],
  ] as const;
  const word = inForce.reduce((all, [index, set]) => (set ? all & ~(1 << index) : all), -1);
  return (word >>> 0).toString(16).toUpperCase().padStart(8, "0");
}

/** Charge of a battery code, %: 1 to 6 in steps; a larger one is the percentage itself. Undefined: 0, not measured. */
export function batteryCharge(code: number): number | undefined {
  if (code >= 1 && code <= 3) return (code - 1) * 10;
  if (code >= 4 && code <= 6) return (code - 1) * 20;
  return code > 6 && code <= 100 ? code : undefined;
}
