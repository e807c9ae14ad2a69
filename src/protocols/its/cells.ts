import { type Cell, cellsText, putCsq } from "../../wire/radio.ts";
import type { Draft } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import type { Fields } from "./sentence.ts";
import { keep } from "./values.ts";

/** Fields of a neighbouring cell: its number, its area and its signal, in an order that the standard leaves open. */
const width = 3;
/** Four neighbours; a field or two more where a maker closes them in brackets of their own. */
const maximumFields = 4 * width + 2;

/**
 * Signal, MCC, MNC, LAC, cell ID, and up to four neighbours. Stands at the digital inputs behind them, or at the end
 * where there are none.
 */
export function readCells(report: Draft, fields: Fields): void {
  const signal = numberOf(fields.next());
  if (signal !== undefined) putCsq(report, "rssi", signal, "gsmSignal");
  const [mcc, mnc] = [numberOf(fields.next()), numberOf(fields.next())];
  const [lac, cellId] = [hexOf(fields.next()), hexOf(fields.next())];
  const from = fields.at;
  const inputs = inputsAt(fields);
  fields.at = inputs < 0 ? fields.all.length : inputs;
  const around = fields.all.slice(from, fields.at).map((text) => text.replace(/[()]/g, ""));
  if (!mcc || mnc === undefined || lac === undefined || cellId === undefined) return;
  const neighbours = inputs < 0 ? undefined : neighboursOf(around, lac);
  if (neighbours === undefined) keep(report, "neighbouringCells", around.join(","));
  const serving: Cell = { mcc, mnc, lac, cellId, signal };
  const text = cellsText([serving, ...(neighbours ?? []).map((cell) => ({ mcc, mnc, ...cell }))]);
  if (text !== undefined) report.attributes.cells = text;
}

/**
 * The last place where four digits of inputs and two of outputs stand: a neighbour may look like them. -1: there are
 * none.
 */
function inputsAt({ all, at }: Fields): number {
  for (let place = Math.min(at + maximumFields, all.length - 2); place >= at; place--)
    if (/^[012]{4}$/.test(all[place] ?? "") && /^[01]{2}$/.test(all[place + 1] ?? "")) return place;
  return -1;
}

/** Undefined: these are no fields of neighbours. */
function neighboursOf(texts: readonly string[], lac: number): readonly Cell[] | undefined {
  if (texts.length % width !== 0) return undefined;
  const rows = Array.from({ length: texts.length / width }, (_, index) =>
    texts.slice(index * width, (index + 1) * width),
  );
  const [cellAt, areaAt, signalAt] = orderOf(rows, lac);
  return rows.flatMap((row) => {
    const [cellId, area] = [hexOf(row[cellAt]), hexOf(row[areaAt])];
    // Without a neighbour the fields are x, zeros or all ones.
    if (!cellId || !area || cellId === 0xffff || area === 0xffff) return [];
    return [{ lac: area, cellId, signal: numberOf(row[signalAt]) }];
  });
}

type Order = readonly [cell: number, area: number, signal: number];

/** Most neighbours are of the serving cell's area, which tells where the area stands; the signal has few digits. */
function orderOf(rows: readonly (readonly string[])[], lac: number): Order {
  const inArea = [0, 1, 2].map((place) => rows.filter((row) => hexOf(row[place]) === lac).length);
  const signals = (place: number) => rows.every((row) => /^(?:-?\d{1,3}|x)$/.test(row[place] ?? ""));
  const most = Math.max(...inArea);
  const first = signals(0) && !signals(2);
  if (most === 0) return first ? [2, 1, 0] : [0, 1, 2];
  if (inArea[1] === most) return first ? [2, 1, 0] : [0, 1, 2];
  return inArea[0] === most ? [1, 0, 2] : [1, 2, 0];
}
