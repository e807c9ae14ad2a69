import { deviceStates } from "./states.ts";
import type { FleetStore } from "./store.ts";

/** What a person sees of the world: in Mercator's square, and how many pixels wide that would be. */
export interface View {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly worldPixels: number;
}

/** Devices of one cell that are shown as one. */
export interface Bubble {
  /** Their middle, or as near to it as the bubble has room in its cell: two of them never cover each other. */
  readonly x: number;
  readonly y: number;
  readonly count: number;
  /** How many are in each state, in the order of `deviceStates`. */
  readonly states: readonly number[];
}

/** What to draw. */
export interface Picture {
  /** Rows of devices that are drawn by themselves. */
  readonly singles: Uint32Array<ArrayBuffer>;
  readonly bubbles: readonly Bubble[];
  /** Devices in view. */
  readonly inView: number;
}

/**
 * Up to this many are drawn one by one: between what was measured as cheap and as too much,
 * docs/decisions/0037-console.md.
 */
export const mostSingles = 3000;
/** Side of a cell, pixels: a bubble and the space around it. */
export const cellPixels = 60;
/** As many sprites as a cell has room for; where more are in one, nobody can tell them apart. */
const roomOfCell = 6;
/** From here on, zoom 17, a person looks at single vehicles, however near to each other they stand. */
const streetPixels = 512 * 2 ** 17;

/** Rows of the devices in view of which `shown` is not 0. */
function rowsInView(store: FleetStore, view: View, shown: Uint8Array | undefined): Uint32Array<ArrayBuffer> {
  const rows = new Uint32Array(store.rows);
  let count = 0;
  const { x, y } = store;
  for (let row = 0; row < store.rows; row += 1) {
    const px = x[row] ?? 0;
    const py = y[row] ?? 0;
    if (px < view.left || px > view.right || py < view.top || py > view.bottom) continue;
    if (!store.isPlaced(row) || (shown !== undefined && shown[row] === 0)) continue;
    rows[count] = row;
    count += 1;
  }
  return rows.subarray(0, count);
}

/**
 * Decides what is drawn. The cells lie fast on the world, so that bubbles stay where they are while the map is moved.
 */
export function pictureOf(store: FleetStore, view: View, shown?: Uint8Array, most = mostSingles): Picture {
  const rows = rowsInView(store, view, shown);
  const few = rows.length <= most;
  if (few && view.worldPixels >= streetPixels) return { singles: rows, bubbles: [], inView: rows.length };
  const perCell = view.worldPixels / cellPixels;
  const firstColumn = Math.floor(view.left * perCell);
  const firstLine = Math.floor(view.top * perCell);
  const columns = Math.floor(view.right * perCell) - firstColumn + 1;
  const lines = Math.floor(view.bottom * perCell) - firstLine + 1;
  const kinds = deviceStates.length;
  const cells = new Cells({ firstColumn, firstLine, columns, lines, perCell }, kinds);
  const cellOf = new Uint32Array(rows.length);
  for (const [index, row] of rows.entries()) {
    const x = store.x[row] ?? 0;
    const y = store.y[row] ?? 0;
    const cell = (Math.floor(y * perCell) - firstLine) * columns + Math.floor(x * perCell) - firstColumn;
    cellOf[index] = cell;
    cells.add(cell, x, y, store.state[row] ?? 0);
  }
  const room = few ? roomOfCell : 1;
  const singles = rows.filter((_row, index) => cells.count(cellOf[index] ?? 0) <= room);
  return { singles, bubbles: cells.bubbles(room), inView: rows.length };
}

/** The cells in view, and how many of them are as wide as the world. */
interface CellGrid {
  readonly firstColumn: number;
  readonly firstLine: number;
  readonly columns: number;
  readonly lines: number;
  readonly perCell: number;
}

/** Sums by cell. */
class Cells {
  readonly #grid: CellGrid;
  readonly #states: Uint32Array;
  readonly #counts: Uint32Array;
  readonly #x: Float64Array;
  readonly #y: Float64Array;
  readonly #kinds: number;

  constructor(grid: CellGrid, kinds: number) {
    const size = grid.columns * grid.lines;
    this.#grid = grid;
    this.#kinds = kinds;
    this.#states = new Uint32Array(size * kinds);
    this.#counts = new Uint32Array(size);
    this.#x = new Float64Array(size);
    this.#y = new Float64Array(size);
  }

  add(cell: number, x: number, y: number, state: number): void {
    this.#counts[cell] = (this.#counts[cell] ?? 0) + 1;
    this.#x[cell] = (this.#x[cell] ?? 0) + x;
    this.#y[cell] = (this.#y[cell] ?? 0) + y;
    const at = cell * this.#kinds + state;
    this.#states[at] = (this.#states[at] ?? 0) + 1;
  }

  count(cell: number): number {
    return this.#counts[cell] ?? 0;
  }

  /** The cells that hold more than there is room for. */
  bubbles(room: number): readonly Bubble[] {
    const { firstColumn, firstLine, columns, perCell } = this.#grid;
    const bubbles: Bubble[] = [];
    for (const [cell, count] of this.#counts.entries()) {
      if (count <= room) continue;
      const inset = radiusOf(count) / cellPixels;
      const within = (mean: number, first: number) =>
        Math.max(first + inset, Math.min(first + 1 - inset, mean * perCell)) / perCell;
      bubbles.push({
        x: within((this.#x[cell] ?? 0) / count, firstColumn + (cell % columns)),
        y: within((this.#y[cell] ?? 0) / count, firstLine + Math.floor(cell / columns)),
        count,
        states: [...this.#states.subarray(cell * this.#kinds, (cell + 1) * this.#kinds)],
      });
    }
    return bubbles;
  }
}

/** The device that is drawn nearest to a place, within a distance in pixels. */
export function deviceAt(
  store: FleetStore,
  { singles }: Picture,
  { x, y }: { readonly x: number; readonly y: number },
  { worldPixels, within }: { readonly worldPixels: number; readonly within: number },
): number | undefined {
  let best: number | undefined;
  let distance = within / worldPixels;
  for (const row of singles) {
    const away = Math.hypot((store.x[row] ?? 0) - x, (store.y[row] ?? 0) - y);
    if (away > distance) continue;
    best = row;
    distance = away;
  }
  return best;
}

/** The bubble that covers a place. */
export function bubbleAt(
  { bubbles }: Picture,
  { x, y }: { readonly x: number; readonly y: number },
  worldPixels: number,
): Bubble | undefined {
  return bubbles.find((bubble) => Math.hypot(bubble.x - x, bubble.y - y) * worldPixels < radiusOf(bubble.count));
}

/** Radius of a bubble, pixels. */
export function radiusOf(count: number): number {
  return 12 + Math.min(16, 3 * Math.log2(count));
}
