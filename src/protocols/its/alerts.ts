import type { Alarm } from "../../model/alarms.ts";
import { type Draft, raise } from "../../wire/report.ts";

/** Packet types (AIS-140, table 4A; VT140 1.0, 2.5; DT of other makers). */
const packetTypes: ReadonlyMap<string, Alarm> = new Map<string, Alarm>([
  ["EA", "sos"],
  ["TA", "tampering"],
  ["IN", "ignitionOn"],
  ["IF", "ignitionOff"],
  ["BD", "powerCut"],
  ["BR", "powerRestored"],
  ["BL", "lowBattery"],
  ["HB", "hardBraking"],
  ["HA", "hardAcceleration"],
  ["RT", "hardCornering"],
  ["WD", "tampering"],
  ["DT", "tampering"],
  ["OS", "overspeed"],
]);

/** Alert IDs (AIS-140, table 4B; VT140 1.0, 2.6 for 17). */
const alertIds: ReadonlyMap<number, Alarm> = new Map<number, Alarm>([
  [3, "powerCut"],
  [4, "lowBattery"],
  [6, "powerRestored"],
  [7, "ignitionOn"],
  [8, "ignitionOff"],
  [9, "tampering"],
  [10, "sos"],
  [13, "hardBraking"],
  [14, "hardAcceleration"],
  [15, "hardCornering"],
  [16, "tampering"],
  [17, "overspeed"],
]);

/** Alert ID of a parameter that was changed or queried over the air. */
export const overTheAir = 12;

/** Alarms that a packet type stands for. */
export const alarms: readonly Alarm[] = [...new Set(packetTypes.values())];

/** The packet type that stands for an alarm; `NR` for none. */
export function packetTypeOf(alarm: Alarm | undefined): string {
  for (const [type, name] of packetTypes) if (name === alarm) return type;
  return "NR";
}

/** The alert ID that stands for an alarm; that of a location's update for none. */
export function alertIdOf(alarm: Alarm | undefined): number {
  for (const [id, name] of alertIds) if (name === alarm) return id;
  return 1;
}

/**
 * Reads what made the tracker report from the end of a location's head: packet type, alert ID (which some makers
 * leave out), `L` or `H`. Answers the alert ID. The packet type comes before the ID, for a maker's own types have
 * IDs that the standard gives another meaning.
 */
export function readAlert(report: Draft, head: readonly string[]): number | undefined {
  const [status] = head.slice(-1);
  if (status === "H") report.attributes.archive = true;
  const id = /^\d{1,3}$/.test(head.at(-2) ?? "") ? Number(head.at(-2)) : undefined;
  const type = head.at(id === undefined ? -2 : -3) ?? "";
  if (id !== undefined) report.attributes.event = id;
  if (type !== "NR" && type !== "") report.attributes.packetType = type;
  const alarm = packetTypes.get(type) ?? (id === undefined ? undefined : alertIds.get(id));
  if (alarm !== undefined) raise(report, alarm);
  return id;
}
