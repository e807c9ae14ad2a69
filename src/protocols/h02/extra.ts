import type { Readings } from "../../model/readings.ts";
import type { Cell } from "../../wire/radio.ts";
import { draft, put } from "../../wire/report.ts";
import { decimal, type Field, grammar, hex, integer, Mismatch, mismatch } from "../../wire/text.ts";
import { cellOf, cellsOf } from "./cells.ts";
import { batteryCharge } from "./status.ts";

/** What a maker adds behind the vehicle status. */
export interface Extra {
  readonly altitude?: number;
  readonly readings: Readings;
  readonly attributes: { readonly [name: string]: string | number | boolean };
}

const none: Extra = Object.freeze({ readings: {}, attributes: {} });

/** No tracker is as high, m. */
const highest = 100_000;

/** Odometer m, temperature °C, fuel %, altitude m, area and cell in hex: trackers with a fuel probe. */
const fuelProbe = grammar({
  odometer: integer,
  temperature: decimal,
  fuel: withPoint(),
  altitude: decimal,
  area: hex(1, 8),
  cell: hex(1, 8),
});

/** A decimal that is written with its point; it tells a fuel level from a network's number. */
function withPoint(): Field<number> {
  return {
    width: 1,
    read: (fields, at) => ((fields[at] ?? "").includes(".") ? decimal.read(fields, at) : mismatch),
  };
}

/** Reads the fields from `at` to the end; what no manual explains is kept as text in `attributes.extra`. */
export function readExtra(fields: readonly string[], at: number): Extra {
  if (at >= fields.length) return none;
  const probe = fields.length - at === fuelProbe.width ? fuelProbe.read(fields, at) : undefined;
  if (probe !== undefined && !(probe instanceof Mismatch)) {
    const report = draft();
    put(report, "odometer", probe.odometer / 1000, "distance");
    put(report, "temperature", probe.temperature, "probeTemperature");
    put(report, "fuel", probe.fuel, "probeFuel");
    return {
      ...(Math.abs(probe.altitude) < highest && { altitude: probe.altitude }),
      readings: report.readings,
      attributes: { ...report.attributes, ...cellsOf([{ lac: probe.area, cellId: probe.cell }]) },
    };
  }
  const cell = cellOf(fields, at);
  const zeros = cell === undefined && fields.slice(at, at + 4).join() === "0,0,0,0";
  return cell === undefined && !zeros
    ? { readings: {}, attributes: { extra: rest(fields, at) } }
    : behindCell(fields, at + 4, cell);
}

/** Behind the cell: the SIM's number (V6), a battery code (V1), or what only the maker knows (V8). */
function behindCell(fields: readonly string[], at: number, cell: Cell | undefined): Extra {
  const cells = cellsOf(cell === undefined ? [] : [cell]);
  const text = fields[at] ?? "";
  const iccid = iccidOf(text);
  if (iccid !== undefined) return { readings: { iccid }, attributes: cells };
  if (rest(fields, at) === "") return { readings: {}, attributes: cells };
  if (at === fields.length - 1 && /^[0-6]$/.test(text)) {
    const battery = batteryCharge(Number(text));
    return { readings: battery === undefined ? {} : { battery }, attributes: cells };
  }
  return { readings: {}, attributes: { ...cells, extra: rest(fields, at) } };
}

/** A SIM card's number: 18 to 20 digits, sometimes with a filling character. */
export function iccidOf(text: string): string | undefined {
  return /^(89[0-9]{16,18}[0-9A-F]?)\??$/i.exec(text)?.[1];
}

function rest(fields: readonly string[], at: number): string {
  return fields
    .slice(at)
    .map((text) => text.trim())
    .join(",")
    .replace(/,+$/, "");
}
