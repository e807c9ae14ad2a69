import type { Box } from "./box.ts";
import { type BoxTree, boxTree } from "./box-tree.ts";
import { northOfArc, shortWay, turnedFrom } from "./longitude.ts";
import type { PreparedZone } from "./prepared.ts";

/** Finds, among many zones, those whose box a fix or the way between two fixes touches: in the logarithm of their number, without allocating. */
export class ZoneIndex {
  /** Positions of the zones, in the order of the tree. */
  readonly #order: Int32Array;
  readonly #tree: BoxTree;
  /** Boxes in the order of the tree: west, south, east, north. */
  readonly #boxes: Float64Array;

  constructor(zones: readonly { readonly prepared: PreparedZone }[]) {
    const boxes = zones.map(({ prepared }) => prepared.box);
    const order = tiled(boxes);
    this.#order = Int32Array.from(order);
    this.#boxes = Float64Array.from(order.flatMap((zone) => edgesOf(boxes[zone])));
    this.#tree = boxTree(zones.length, 2, (item, into, at) =>
      into.set(this.#boxes.subarray(item * 4, item * 4 + 4), at),
    );
  }

  /**
   * Calls `visit` once with the position (in the list given) of each zone whose box the way between two fixes touches; for one fix, give it twice.
   * The zone itself must then be asked.
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
    // Boxes begin within -180 and 180: a way over 180 also meets those at -180, and boxes over 180 are met also by a way behind -180.
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

/** An order in which neighbours are near each other: strips of longitude, each from south to north or back (sort-tile-recursive). */
function tiled(boxes: readonly Box[]): number[] {
  const longitudes = boxes.map((box) => box.west + box.east);
  const latitudes = boxes.map((box) => box.south + box.north);
  const byLongitude = boxes
    .map((_, index) => index)
    .sort((left, right) => (longitudes[left] ?? 0) - (longitudes[right] ?? 0));
  const strip = Math.max(1, Math.ceil(Math.sqrt(boxes.length)));
  const order: number[] = [];
  for (let from = 0; from < boxes.length; from += strip) {
    const up = (from / strip) % 2 === 0 ? 1 : -1;
    const part = byLongitude.slice(from, from + strip);
    order.push(...part.sort((left, right) => up * ((latitudes[left] ?? 0) - (latitudes[right] ?? 0))));
  }
  return order;
}
