import type { Route } from "../model/geofence.ts";
import { type Box, boxAround } from "./box.ts";
import { type BoxTree, boxTree } from "./box-tree.ts";
import { earthRadiusKm } from "./distance.ts";
import { northOfArc, shortWay } from "./longitude.ts";
import type { PreparedZone } from "./prepared.ts";
import { arcReached, arcsCross, chord2, type Reach, reachOf, sagitta, writeVector } from "./sphere.ts";

/** The two ends of what is asked, and the box around the arc between them. */
const ends = new Float64Array(6);
const low = new Float64Array(3);
const high = new Float64Array(3);

/** Far more than rounding moves a coordinate of a unit vector. */
const rounding = 1e-12;

/**
 * A corridor of great-circle legs. The tree over its legs is one of vectors, so neither antimeridian nor poles are
 * special to it.
 */
export class PreparedCorridor implements PreparedZone {
  readonly box: Box;
  /** Corners of the line as unit vectors. */
  readonly #line: Float64Array;
  readonly #reach: Reach;
  readonly #legs: BoxTree;

  constructor(route: Route) {
    const { line } = route;
    this.box = boxOfRoute(route);
    this.#reach = reachOf(route.width / 2);
    this.#line = new Float64Array(line.length * 3);
    line.forEach(([longitude, latitude], index) => {
      writeVector(latitude, longitude, this.#line, index * 3);
    });
    this.#legs = boxTree(line.length - 1, 3, (leg, into, at) => this.#boxOfLeg(leg, into, at));
  }

  contains(latitude: number, longitude: number): boolean {
    writeVector(latitude, longitude, ends, 0);
    ends.copyWithin(3, 0, 3);
    return this.#touched();
  }

  crosses(latitude1: number, longitude1: number, latitude2: number, longitude2: number): boolean {
    writeVector(latitude1, longitude1, ends, 0);
    writeVector(latitude2, longitude2, ends, 3);
    return this.#touched();
  }

  /** Whether the arc between the ends comes within reach of any leg. */
  #touched(): boolean {
    const rise = sagitta(chord2(ends, 0, ends, 3));
    for (let axis = 0; axis < 3; axis++) {
      const first = ends[axis] ?? 0;
      const second = ends[axis + 3] ?? 0;
      low[axis] = Math.min(first, second) - rise;
      high[axis] = Math.max(first, second) + rise;
    }
    const { skip, first, end } = this.#legs;
    for (let node = 0; node < skip.length; ) {
      const next = skip[node] ?? skip.length;
      if (this.#apart(node)) {
        node = next;
        continue;
      }
      if (next === node + 1)
        for (let leg = first[node] ?? 0; leg < (end[node] ?? 0); leg++) if (this.#touches(leg)) return true;
      node++;
    }
    return false;
  }

  /** Whether the arc's box does not touch that of a node. */
  #apart(node: number): boolean {
    const { bounds } = this.#legs;
    const at = node * 6;
    for (let axis = 0; axis < 3; axis++)
      if ((high[axis] ?? 0) < (bounds[at + axis] ?? 0) || (low[axis] ?? 0) > (bounds[at + 3 + axis] ?? 0)) return true;
    return false;
  }

  /** Two arcs that do not cross are nearest to each other at an end of one of them. */
  #touches(leg: number): boolean {
    const a = leg * 3;
    const b = a + 3;
    return (
      arcReached(this.#reach, ends, 0, this.#line, a, b) ||
      arcReached(this.#reach, ends, 3, this.#line, a, b) ||
      arcReached(this.#reach, this.#line, a, ends, 0, 3) ||
      arcReached(this.#reach, this.#line, b, ends, 0, 3) ||
      arcsCross(ends, 0, 3, this.#line, a, b)
    );
  }

  /** Everything within reach of a leg. */
  #boxOfLeg(leg: number, into: Float64Array, at: number): void {
    const line = this.#line;
    const a = leg * 3;
    const aside = this.#reach.chord + sagitta(chord2(line, a, line, a + 3)) + rounding;
    for (let axis = 0; axis < 3; axis++) {
      const first = line[a + axis] ?? 0;
      const second = line[a + 3 + axis] ?? 0;
      into[at + axis] = Math.min(first, second) - aside;
      into[at + 3 + axis] = Math.max(first, second) + aside;
    }
  }
}

function boxOfRoute({ line, width }: Route): Box {
  const [start] = line;
  let [longitude, latitude] = start ?? [0, 0];
  let [west, south, east, north] = [longitude, latitude, longitude, latitude];
  for (const [corner, next] of line) {
    const way = shortWay(longitude, corner);
    longitude += way;
    west = Math.min(west, longitude);
    east = Math.max(east, longitude);
    north = Math.max(north, northOfArc(latitude, next, Math.abs(way)));
    south = Math.min(south, -northOfArc(-latitude, -next, Math.abs(way)));
    latitude = next;
  }
  return boxAround(west, south, east, north, (width / 2 / earthRadiusKm) * (180 / Math.PI));
}
