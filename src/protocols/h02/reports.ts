import type { ReadingsReport } from "../../model/effects.ts";
import type { Readings } from "../../model/readings.ts";
import type { Cell } from "../../wire/radio.ts";
import {
  anyText,
  ddmmyy,
  decimal,
  type Field,
  field,
  grammar,
  hex,
  hhmmss,
  integer,
  Mismatch,
  mismatch,
  optional,
  orText,
} from "../../wire/text.ts";
import { cellsOf } from "./cells.ts";
import type { Sentence } from "./sentence.ts";
import { batteryCharge, vehicleStatus } from "./status.ts";

/** Most cells of one sentence: a modem sees seven. */
const maximumCells = 16;

/** A report without position, at the tracker's own time where it has one. */
function report(
  clock: { readonly date: number | undefined; readonly time: number | undefined },
  status: number | undefined,
  readings: Readings,
  attributes: ReadingsReport["attributes"],
): ReadingsReport {
  const vehicle = status === undefined ? undefined : vehicleStatus(status);
  const dated = clock.date !== undefined && clock.time !== undefined;
  return {
    type: "readings",
    ...(dated && { time: (clock.date ?? 0) + (clock.time ?? 0) }),
    alarms: vehicle?.alarms ?? [],
    readings: { ...readings, ...vehicle?.readings },
    attributes: { ...vehicle?.attributes, ...attributes },
  };
}

/** A field's value, or undefined where it is not of its form: for what a report is good without. */
function value<T>(read: T | typeof mismatch): T | undefined {
  return read === mismatch ? undefined : read;
}

const nbrHead = grammar({ time: anyText, country: integer, network: integer, timingAdvance: anyText, count: integer });

/**
 * NBR, network cells: hhmmss, mcc, mnc, timing advance, count, (area, cell, signal) each, ddmmyy, vehicle_status[,
 * battery code].
 */
export function readNbr({ fields }: Sentence, at: number): ReadingsReport | undefined {
  const head = nbrHead.read(fields, at);
  if (head instanceof Mismatch || head.count > maximumCells) return undefined;
  const cells: Cell[] = [];
  let next = at + nbrHead.width;
  for (let index = 0; index < head.count; index++, next += 3) {
    const area = integer.read(fields, next);
    const cell = integer.read(fields, next + 1);
    const signal = decimal.read(fields, next + 2);
    if (area === mismatch || cell === mismatch || signal === mismatch) return undefined;
    cells.push({ mcc: head.country, mnc: head.network, lac: area, cellId: cell, signal });
  }
  const status = hex(8).read(fields, next + 1);
  if (status === mismatch) return undefined;
  const battery = batteryCharge(value(integer.read(fields, next + 2)) ?? 0);
  const clock = { date: value(ddmmyy.read(fields, next)), time: value(hhmmss.read([head.time], 0)) };
  return report(clock, status, battery === undefined ? {} : { battery }, cellsOf(cells));
}

const link = grammar({
  time: hhmmss,
  signal: orText(upTo(100)),
  satellites: orText(upTo(255)),
  battery: orText(upTo(100)),
  steps: orText(integer),
  turnovers: orText(integer),
  date: ddmmyy,
  status: hex(8),
});

/**
 * LINK, state of the tracker: hhmmss, GSM signal %, satellites, battery %, steps, turn-overs, ddmmyy, vehicle_status.
 */
export function readLink({ fields }: Sentence, at: number): ReadingsReport | undefined {
  const values = link.read(fields, at);
  if (values instanceof Mismatch) return undefined;
  const { signal, satellites, battery, steps, turnovers } = values;
  const { readings, attributes } = numbersOf({ battery, satellites, signal, steps });
  return report(values, values.status, readings, { ...(turnovers !== undefined && { turnovers }), ...attributes });
}

/** A number from 0 to `most`. */
function upTo(most: number): Field<number> {
  return field((text) => {
    const value = integer.read([text], 0);
    return value !== mismatch && value <= most ? value : mismatch;
  });
}

/**
 * Readings of the values that could be read; the texts of the others stand as attributes, with `Raw` behind their
 * names.
 */
function numbersOf(
  values: { readonly [K in "battery" | "satellites" | "signal" | "steps"]?: number | string | undefined },
) {
  const readings = new Map<string, number>();
  const attributes = new Map<string, string>();
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === "number") readings.set(name, value);
    if (typeof value === "string") attributes.set(`${name}Raw`, value);
  }
  return { readings: Object.fromEntries(readings), attributes: Object.fromEntries(attributes) };
}

const v3Head = grammar({ time: hhmmss, network: anyText, count: integer });
const v3Tail = grammar({
  battery: orText(hex(4)),
  restart: orText(integer),
  mark: anyText,
  date: ddmmyy,
  status: hex(8),
});

/**
 * V3, network cells: hhmmss, mcc and mnc in one, count, (area, cell, signal, -) each, battery as the converter reads it
 * (hex), restart information, X, ddmmyy, vehicle_status.
 */
export function readV3({ fields }: Sentence, at: number): ReadingsReport | undefined {
  const head = v3Head.read(fields, at);
  if (head instanceof Mismatch || head.count > maximumCells || !/^\d{5,6}$/.test(head.network)) return undefined;
  const country = Number(head.network.slice(0, 3));
  const network = Number(head.network.slice(3));
  const cells: Cell[] = [];
  let next = at + v3Head.width;
  for (let index = 0; index < head.count; index++, next += 4) {
    const area = integer.read(fields, next);
    const cell = integer.read(fields, next + 1);
    const signal = decimal.read(fields, next + 2);
    if (area === mismatch || cell === mismatch || signal === mismatch) return undefined;
    cells.push({ mcc: country, mnc: network, lac: area, cellId: cell, signal });
  }
  const tail = v3Tail.read(fields, next);
  if (tail instanceof Mismatch || tail.mark !== "X") return undefined;
  const clock = { date: tail.date, time: head.time };
  const { battery: batteryRaw, restart } = tail;
  const texts = { ...(batteryRaw !== undefined && { batteryRaw }), ...(restart !== undefined && { restart }) };
  return report(clock, tail.status, {}, { ...texts, ...cellsOf(cells) });
}

const base = grammar({
  time: optional(hhmmss),
  country: integer,
  network: integer,
  area: integer,
  cell: integer,
  date: optional(ddmmyy),
  status: hex(8),
});

/** BASE, the serving cell: hhmmss, mcc, mnc, area, cell, ddmmyy, vehicle_status. */
export function readBase({ fields }: Sentence, at: number): ReadingsReport | undefined {
  const values = base.read(fields, at);
  if (values instanceof Mismatch) return undefined;
  const { country, network, area, cell } = values;
  const cells = country === 0 ? {} : cellsOf([{ mcc: country, mnc: network, lac: area, cellId: cell }]);
  return report(values, values.status, {}, cells);
}

const bsHead = grammar({ time: optional(hhmmss), country: hex(1, 4), network: hex(1, 4) });
const bsCell = grammar({ area: hex(1, 8), cell: hex(1, 8), signal: decimal });
const bsTail = grammar({ date: optional(ddmmyy), status: hex(8), battery: orText(upTo(100)) });
const bsCells = 3;

/** BS, three cells in hex: hhmmss, mcc, mnc, (area, cell, signal) each, ddmmyy, vehicle_status, battery %. */
export function readBs({ fields }: Sentence, at: number): ReadingsReport | undefined {
  const head = bsHead.read(fields, at);
  const tail = bsTail.read(fields, at + bsHead.width + bsCells * bsCell.width);
  if (head instanceof Mismatch || tail instanceof Mismatch) return undefined;
  const cells: Cell[] = [];
  for (let index = 0; index < bsCells; index++) {
    const values = bsCell.read(fields, at + bsHead.width + index * bsCell.width);
    if (values instanceof Mismatch) return undefined;
    const { area: lac, cell: cellId, signal } = values;
    if (lac !== 0) cells.push({ mcc: head.country, mnc: head.network, lac, cellId, signal });
  }
  const { readings, attributes } = numbersOf({ battery: tail.battery });
  return report({ date: tail.date, time: head.time }, tail.status, readings, { ...cellsOf(cells), ...attributes });
}
