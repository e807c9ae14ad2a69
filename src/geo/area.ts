import type { Polygon } from "../model/geofence.ts";
import { type Box, boxOf } from "./box.ts";
import { type BoxTree, boxTree } from "./box-tree.ts";
import { shortWay, turnedFrom } from "./longitude.ts";
import { onSegment, segmentsTouch, turn } from "./plane.ts";
import type { PreparedZone } from "./prepared.ts";

/** The inside of a polygon and its edges, in the plane of longitude and latitude. */
export class PreparedArea implements PreparedZone {
  readonly box: Box;
  readonly #west: number;
  readonly #east: number;
  /**
   * For each edge: longitude and latitude of its start, then of its end, and the latitude of its ring's first corner.
   */
  readonly #edges: Float64Array;
  readonly #tree: BoxTree;

  constructor({ rings }: Polygon) {
    const edges = edgesOf(rings);
    this.#edges = edges;
    this.#tree = boxTree(edges.length / 5, 2, (edge, into, at) => {
      const from = edge * 5;
      const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = edges.subarray(from, from + 4);
      into[at] = Math.min(x1, x2);
      into[at + 1] = Math.min(y1, y2);
      into[at + 2] = Math.max(x1, x2);
      into[at + 3] = Math.max(y1, y2);
    });
    const [west = 0, south = 0, east = 0, north = 0] = this.#tree.bounds;
    this.#west = west;
    this.#east = east;
    this.box = boxOf(west, south, east, north);
  }

  contains(latitude: number, longitude: number): boolean {
    return this.#encloses(turnedFrom(this.#west, longitude), latitude);
  }

  crosses(latitude1: number, longitude1: number, latitude2: number, longitude2: number): boolean {
    const x1 = turnedFrom(this.#west, longitude1);
    const x2 = x1 + shortWay(longitude1, longitude2);
    if (this.#encloses(x1, latitude1) || this.contains(latitude2, longitude2)) return true;
    if (this.#meets(x1, latitude1, x2, latitude2)) return true;
    // The way goes over the polygon's western end, or over where it begins again after a turn.
    if (x2 < this.#west) return this.#meets(x1 + 360, latitude1, x2 + 360, latitude2);
    return x2 >= this.#west + 360 && this.#meets(x1 - 360, latitude1, x2 - 360, latitude2);
  }

  /** Whether a ray to the east crosses the rings an odd number of times, or the point lies on one. */
  #encloses(x: number, y: number): boolean {
    const { bounds, skip, first, end } = this.#tree;
    let inside = false;
    for (let node = 0; node < skip.length; ) {
      const at = node * 4;
      const next = skip[node] ?? skip.length;
      if (!(y >= (bounds[at + 1] ?? 0) && y <= (bounds[at + 3] ?? 0) && x <= (bounds[at + 2] ?? 0))) node = next;
      else if (x < (bounds[at] ?? 0)) {
        if (this.#oddAbove(first[node] ?? 0, (end[node] ?? 0) - 1, y)) inside = !inside;
        node = next;
      } else {
        if (next === node + 1)
          for (let edge = first[node] ?? 0; edge < (end[node] ?? 0); edge++) {
            const crossing = this.#rayCrosses(edge, x, y);
            if (crossing === undefined) return true;
            if (crossing) inside = !inside;
          }
        node++;
      }
    }
    return inside;
  }

  /**
   * Whether a chain of edges passes a latitude an odd number of times: its two ends tell. Whole rings pass it an even
   * number of times, so where the chain goes over from one ring to others only the first one's end and the last one's
   * start matter.
   */
  #oddAbove(from: number, to: number, y: number): boolean {
    const edges = this.#edges;
    const start = (edges[from * 5 + 1] ?? 0) > y;
    const firstRing = (edges[from * 5 + 4] ?? 0) > y;
    const lastRing = (edges[to * 5 + 4] ?? 0) > y;
    const end = (edges[to * 5 + 3] ?? 0) > y;
    return (start !== firstRing) !== (lastRing !== end);
  }

  /** Whether the ray to the east of a point crosses an edge; undefined: the point lies on it. */
  #rayCrosses(edge: number, x: number, y: number): boolean | undefined {
    const edges = this.#edges;
    const at = edge * 5;
    const x1 = edges[at] ?? 0;
    const y1 = edges[at + 1] ?? 0;
    const x2 = edges[at + 2] ?? 0;
    const y2 = edges[at + 3] ?? 0;
    if (onSegment(x1, y1, x2, y2, x, y)) return undefined;
    if (y1 > y === y2 > y) return false;
    return turn(x1, y1, x2, y2, x, y) > 0 === y2 > y1;
  }

  /** Whether a segment touches an edge. */
  #meets(x1: number, y1: number, x2: number, y2: number): boolean {
    const { bounds, skip, first, end } = this.#tree;
    const west = Math.min(x1, x2);
    const east = Math.max(x1, x2);
    const south = Math.min(y1, y2);
    const north = Math.max(y1, y2);
    if (east < this.#west || west > this.#east) return false;
    const edges = this.#edges;
    for (let node = 0; node < skip.length; ) {
      const at = node * 4;
      const next = skip[node] ?? skip.length;
      const apart =
        east < (bounds[at] ?? 0) ||
        north < (bounds[at + 1] ?? 0) ||
        west > (bounds[at + 2] ?? 0) ||
        south > (bounds[at + 3] ?? 0);
      if (!apart && next === node + 1)
        for (let edge = (first[node] ?? 0) * 5; edge < (end[node] ?? 0) * 5; edge += 5)
          if (
            segmentsTouch(
              x1,
              y1,
              x2,
              y2,
              edges[edge] ?? 0,
              edges[edge + 1] ?? 0,
              edges[edge + 2] ?? 0,
              edges[edge + 3] ?? 0,
            )
          )
            return true;
      node = apart ? next : node + 1;
    }
    return false;
  }
}

function edgesOf(rings: Polygon["rings"]): Float64Array {
  const edges = new Float64Array(5 * rings.reduce((sum, ring) => sum + Math.max(0, ring.length - 1), 0));
  let at = 0;
  for (const ring of rings)
    for (let corner = 1; corner < ring.length; corner++) {
      const [x1, y1] = ring[corner - 1] ?? [0, 0];
      const [x2, y2] = ring[corner] ?? [0, 0];
      edges.set([x1, y1, x2, y2, ring[0]?.[1] ?? 0], at);
      at += 5;
    }
  return edges;
}
