import type { Box } from "./box.ts";
import { type BoxTree, boxTree } from "./box-tree.ts";
import { northOfArc, shortWay, turnedFrom } from "./longitude.ts";
import type { PreparedZone } from "./prepared.ts";

/**
 * Finds, among many zones, those whose box a fix or the way between two fixes touches: in the logarithm of their
 * number, without allocating.
 */
export class ZoneIndex {
  /** Positions of the zones, in the order of the tree. */
  readonly #order: Int32Array;
  readonly #tree: BoxTree;
  /** Boxes in the order of the tree: west, south, east, north. */
  readonly #boxes: Float64Array;

  constructor(zones: readonly { readonly prepared: PreparedZone }[]) {
    const boxes = zones.map(({ prepared }) => prepared.box);
    this.#order = halved(boxes);
    this.#boxes = new Float64Array(boxes.length * 4);
    this.#order.forEach((zone, at) => {
      this.#boxes.set(edgesOf(boxes[zone]), at * 4);
    });
    this.#tree = boxTree(zones.length, 2, (item, into, at) =>
      into.set(this.#boxes.subarray(item * 4, item * 4 + 4), at),
    );
  }

  /**
   * Calls `visit` once with the position (in the list given) of each zone whose box the way between two fixes touches;
   * for one fix, give it twice. The zone itself must then be asked.
   */
  near(
    latitude1: number,
    longitude1: number,
    latitude2: number,
    longitude2: number,
    visit: (index: number) => void,
  ): void {
    const way = shortWay(longitude1, longitude2);
    const west = turnedFrom(-180, way < 0 ? longitude1 + way : longitude1);
    const span = Math.abs(way);
    const east = west + span;
    const north = northOfArc(latitude1, latitude2, span);
    const south = -northOfArc(-latitude1, -latitude2, span);
    this.#visit(west, south, east, north, 0, visit);
    // Boxes begin within -180 and 180: a way over 180 also meets those at -180, and boxes over 180 are met also by a
    // way behind -180.
    if (east >= 180) this.#visit(west, south, east, north, -360, visit);
    if (west + 360 <= (this.#tree.bounds[2] ?? 0)) this.#visit(west, south, east, north, 360, visit);
  }

  #visit(west: number, south: number, east: number, north: number, turn: number, visit: (index: number) => void): void {
    const { bounds, skip, first, end } = this.#tree;
    for (let node = 0; node < skip.length; ) {
      const next = skip[node] ?? skip.length;
      if (!touches(bounds, node * 4, west + turn, south, east + turn, north)) {
        node = next;
        continue;
      }
      if (next === node + 1)
        for (let item = first[node] ?? 0; item < (end[node] ?? 0); item++)
          if (
            touches(this.#boxes, item * 4, west + turn, south, east + turn, north) &&
            !this.#metBefore(item, west, east, turn)
          )
            visit(this.#order[item] ?? 0);
      node++;
    }
  }

  /** A wide box can be met in more than one turn. */
  #metBefore(item: number, west: number, east: number, turn: number): boolean {
    const boxWest = this.#boxes[item * 4] ?? 0;
    const boxEast = this.#boxes[item * 4 + 2] ?? 0;
    if (turn !== 0 && boxWest <= east && boxEast >= west) return true;
    return turn === 360 && east >= 180 && boxWest <= east - 360 && boxEast >= west - 360;
  }
}

function touches(boxes: Float64Array, at: number, west: number, south: number, east: number, north: number): boolean {
  return (
    west <= (boxes[at + 2] ?? 0) &&
    east >= (boxes[at] ?? 0) &&
    south <= (boxes[at + 3] ?? 0) &&
    north >= (boxes[at + 1] ?? 0)
  );
}

function edgesOf(box: Box | undefined): number[] {
  return box === undefined ? [] : [box.west, box.south, box.east, box.north];
}

/**
 * An order in which neighbours are near each other, cut as the tree cuts it: of each stretch the first half lies on one
 * side of the middle of its longer side, and the second on the other. So boxes of the tree hardly overlap, and few more
 * are looked into where there are many more zones.
 */
function halved(boxes: readonly Box[]): Int32Array {
  const middles = [
    Float64Array.from(boxes, (box) => box.west + box.east),
    Float64Array.from(boxes, (box) => box.south + box.north),
  ] as const;
  const order = Int32Array.from(boxes, (_, index) => index);
  const halve = (from: number, to: number): void => {
    if (to - from < 2) return;
    const [longitudes, latitudes] = middles;
    const middle = (from + to) >> 1;
    select(
      order,
      spanOf(longitudes, order, from, to) >= spanOf(latitudes, order, from, to) ? longitudes : latitudes,
      from,
      to,
      middle,
    );
    halve(from, middle);
    halve(middle, to);
  };
  halve(0, order.length);
  return order;
}

function spanOf(values: Float64Array, order: Int32Array, from: number, to: number): number {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let at = from; at < to; at++) {
    const value = values[order[at] ?? 0] ?? 0;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return most - least;
}

/** Puts those with the least values of a stretch before `middle` (quickselect, Hoare 1961). */
function select(order: Int32Array, values: Float64Array, from: number, to: number, middle: number): void {
  let left = from;
  let right = to - 1;
  while (left < right) {
    const pivot = values[order[(left + right) >> 1] ?? 0] ?? 0;
    let low = left;
    let high = right;
    while (low <= high) {
      while ((values[order[low] ?? 0] ?? 0) < pivot) low++;
      while ((values[order[high] ?? 0] ?? 0) > pivot) high--;
      if (low > high) break;
      const zone = order[low] ?? 0;
      order[low++] = order[high] ?? 0;
      order[high--] = zone;
    }
    if (middle <= high) right = high;
    else if (middle >= low) left = low;
    else return;
  }
}
