import { type AccessPoint, type Cell, cellsText, wifiText } from "../../wire/radio.ts";
import type { Reader } from "../../wire/reader.ts";
import type { Draft } from "../../wire/report.ts";

/** Bit 15 of the MCC says that the MNC takes two bytes (JM-VL03 v1.1.2, 0xA0). */
const wideMnc = 0x8000;

/** Widths of a cell's fields by the size of its whole block; the manuals' versions differ in nothing else. */
function widths(size: number, mcc: number): { readonly mnc: 1 | 2; readonly lac: 2 | 4; readonly cell: 3 | 4 | 8 } {
  if (size >= 16) return { mnc: 2, lac: 4, cell: 8 };
  if (size === 15) return { mnc: 1, lac: 4, cell: 8 };
  if (size === 10) return { mnc: 2, lac: 2, cell: 4 };
  if (size === 9) return mcc & wideMnc ? { mnc: 2, lac: 2, cell: 3 } : { mnc: 1, lac: 2, cell: 4 };
  return { mnc: 1, lac: 2, cell: 3 };
}

function readCellId(reader: Reader, width: 2 | 3 | 4 | 8): number {
  if (width === 2) return reader.u16();
  if (width === 3) return reader.u24();
  return width === 4 ? reader.u32() : reader.u64();
}

/** Whether the MCC that comes next says that the MNC takes two bytes. */
export function hasWideMnc(reader: Reader): boolean {
  return reader.remaining > 0 && (reader.peek() & 0x80) !== 0;
}

/** The serving cell in a block of `size` bytes: 8 or 9, with a long cell number or MNC 9 or 10, of 4G 15 or 16. */
export function readCell(reader: Reader, report: Draft, size: number): void {
  const mcc = reader.u16();
  const width = widths(size, mcc);
  const mnc = width.mnc === 2 ? reader.u16() : reader.u8();
  const lac = width.lac === 4 ? reader.u32() : reader.u16();
  const cellId = readCellId(reader, width.cell);
  if (mcc === 0 && lac === 0 && cellId === 0) return;
  keepCells(report, [{ mcc, mnc, lac, cellId }]);
}

/** Keeps the cells of a message, as read: the MCC with its mark. */
export function keepCells(report: Draft, cells: readonly Cell[]): void {
  const text = cellsText(cells.map(({ mcc = 0, ...cell }) => ({ mcc: mcc & ~wideMnc, ...cell })));
  if (text !== undefined) report.attributes.cells = text;
}

/** How the cells of one message are laid out. */
export interface CellList {
  readonly count: number;
  readonly lac: 2 | 4;
  readonly cell: 2 | 3 | 4 | 8;
}

/** The serving cell and its neighbours, each with its signal, of one operator. Places that are empty are left out. */
export function readCells(reader: Reader, report: Draft, mcc: number, mnc: number, list: CellList): void {
  const cells: Cell[] = [];
  for (let index = 0; index < list.count; index++) {
    const lac = list.lac === 4 ? reader.u32() : reader.u16();
    const cellId = readCellId(reader, list.cell);
    const signal = reader.u8();
    if (lac !== 0 || cellId !== 0) cells.push({ mcc, mnc, lac, cellId, signal });
  }
  keepCells(report, cells);
}

/** MCC and MNC before a list of cells; the MNC of two bytes where bit 15 says so or the model always has it. */
export function readOperator(reader: Reader, alwaysWide = false): { readonly mcc: number; readonly mnc: number } {
  const mcc = reader.u16();
  return { mcc, mnc: alwaysWide || mcc & wideMnc ? reader.u16() : reader.u8() };
}

/** Access points; `signal` false where the message gives none. `before`: bytes ahead of each. */
export function readAccessPoints(reader: Reader, report: Draft, count: number, signal = true, before = 0): void {
  const points: AccessPoint[] = [];
  for (let index = 0; index < count; index++) {
    reader.skip(before);
    const mac = reader.hex(6);
    points.push(signal ? { mac, signal: reader.u8() } : { mac });
  }
  const text = wifiText(points);
  if (text !== undefined) report.attributes.wifi = text;
}
