import type { Alarm } from "../../model/alarms.ts";
import type { FlagReading } from "../../model/readings.ts";
import { bit } from "../../wire/reader.ts";
import { type Draft, raise } from "../../wire/report.ts";

/** What the lower bits of Vehicle Status mean; 31 is the first bit. */
interface Layout {
  readonly ports: readonly (readonly [number, FlagReading])[];
  readonly shock: number;
  readonly idle: number;
  readonly lowBattery: number;
  readonly driver: number;
  readonly fixed: number;
  readonly charging: number;
  readonly jamming: number;
}

const at07: Layout = {
  ports: [
    [20, "input2"],
    [19, "input4"],
  ],
  shock: 18,
  idle: 17,
  lowBattery: 16,
  driver: 15,
  fixed: 14,
  charging: 13,
  jamming: 12,
};

const at05: Layout = {
  ports: [
    [19, "input2"],
    [18, "input3"],
    [17, "input4"],
  ],
  shock: 16,
  idle: 15,
  lowBattery: 14,
  driver: 13,
  fixed: 12,
  charging: 11,
  jamming: 10,
};

const at09: Layout = { ...at05, ports: [[20, "output4"], ...at05.ports] };

/** The upper bits, the same in all models. */
const alarms: readonly (readonly [number, Alarm])[] = [
  [31, "sos"],
  [29, "overspeed"],
  [27, "geofenceExit"],
  [26, "geofenceEnter"],
  [25, "gpsAntennaCut"],
];

const flags: readonly (readonly [number, FlagReading])[] = [
  [30, "ignition"],
  [28, "powerConnected"],
  [23, "output1"],
  [22, "output2"],
  [21, "output3"],
];

const gpsModuleError = 24;

/**
 * Puts Vehicle Status (AT09, 2.2.3) and answers whether GPS is fixed. Which model sent it is told by the message's
 * analog inputs and probes: AT07 has one input and one probe at most, AT05 two probes, AT09 four inputs.
 */
export function putStatus(report: Draft, status: number, inputs: number, probes: number): boolean {
  const layout = inputs > 1 ? at09 : probes > 1 ? at05 : at07;
  for (const [index, name] of flags) report.readings[name] = bit(status, index);
  for (const [index, name] of layout.ports) report.readings[name] = bit(status, index);
  report.readings.charging = bit(status, layout.charging);
  for (const [index, alarm] of alarms) if (bit(status, index)) raise(report, alarm);
  if (bit(status, layout.idle)) raise(report, "idle");
  if (bit(status, layout.lowBattery)) raise(report, "lowBattery");
  if (bit(status, layout.jamming)) raise(report, "jamming");
  if (bit(status, layout.shock)) report.attributes.shock = true;
  if (bit(status, layout.driver)) report.attributes.unauthorizedDriving = true;
  if (bit(status, gpsModuleError)) report.attributes.gpsModuleError = true;
  return bit(status, layout.fixed);
}

/** Vehicle Status of an AT07 with these flags, for the simulator. */
export function statusOf(readings: { readonly [N in FlagReading]?: boolean }): number {
  let status = 2 ** at07.fixed;
  for (const [index, name] of [...flags, ...at07.ports, [at07.charging, "charging"] as const])
    if (readings[name] === true) status += 2 ** index;
  return status;
}

/** Flags that Vehicle Status of an AT07 holds. */
export const statusFlags: readonly FlagReading[] = [...[...flags, ...at07.ports].map(([, name]) => name), "charging"];
