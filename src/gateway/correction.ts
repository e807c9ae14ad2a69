import { kmhPer } from "../model/device.ts";
import type { Fix, Report } from "../model/effects.ts";
import type { Admitted } from "../ports/intake.ts";
import type { Protocol } from "../wire/protocol.ts";

/**
 * The reports of a device as they would be if it kept to its protocol: its clock's offset is taken off, and its numbers
 * of speed are read in its own unit. A report without a time of its own has that of its arrival, which needs no
 * correction.
 */
export function corrected(
  reports: readonly Report[],
  { timeOffset, speedUnit }: Pick<Admitted, "timeOffset" | "speedUnit">,
  protocol: Pick<Protocol, "speedUnit">,
  receivedAt: number,
): readonly Report[] {
  if (timeOffset === undefined && speedUnit === undefined) return reports;
  const factor = speedUnit === undefined ? 1 : kmhPer[speedUnit] / kmhPer[protocol.speedUnit ?? "km/h"];
  return reports.map((report) => {
    const said = factor !== 1 && report.type === "fix" ? inUnit(report, factor) : report;
    if (timeOffset === undefined || said.time === undefined || said.time === receivedAt) return said;
    return { ...said, time: said.time - timeOffset * 1000 };
  });
}

function inUnit(fix: Fix, factor: number): Fix {
  return fix.speed === undefined ? fix : { ...fix, speed: fix.speed * factor };
}
