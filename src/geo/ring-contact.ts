import type { Corner } from "../model/geofence.ts";
import type { Steps } from "../model/steps.ts";
import { segmentsTouch, turn } from "./plane.ts";

/** An edge of one of the rings: from its corner of this index to the next. */
export interface RingEdge {
  readonly ring: number;
  readonly corner: number;
}

/**
 * Two edges of closed rings that touch or cross where they should not: everywhere but at the corner that neighbours
 * share. Undefined: there are none, so the rings are simple and apart from each other. No ring may have the same corner
 * twice in a row, and each must have three different ones.
 *
 * A line sweeps from west to east and keeps the edges that it cuts in order from south to north (Shamos and Hoey,
 * 1976): the first two that touch are neighbours in that order before they do. Comparisons are O(n log n); the order is
 * a plain array, whose moves are far cheaper than a tree's steps for as many edges as a zone may have.
 */
export function* ringContact(rings: readonly (readonly Corner[])[]): Steps<readonly [RingEdge, RingEdge] | undefined> {
  const sweep = new Sweep(rings);
  yield* sweep.sort();
  const found = sweep.sharedCorner() ?? (yield* sweep.run());
  return found && [sweep.edge(found[0]), sweep.edge(found[1])];
}

/** Ends of edges of one step: about a millisecond, to sort or to sweep. */
const stepEvents = 2048;

type Pair = readonly [number, number];

class Sweep {
  readonly #edges: RingEdge[] = [];
  /**
   * For each edge its western (where both are on one longitude, its southern) end and its other end: longitude,
   * latitude.
   */
  readonly #ends: Float64Array;
  /** The edge after each in its ring. */
  readonly #next: Int32Array;
  /** Edges that the line cuts, from south to north. */
  readonly #cut: Int32Array;
  #count = 0;
  /**
   * Ends of edges, sorted from west to east and south to north. Each is twice the edge's number, plus one for its first
   * end. At one point, edges that end come before edges that begin.
   */
  #events: Int32Array;

  constructor(rings: readonly (readonly Corner[])[]) {
    const total = rings.reduce((sum, ring) => sum + ring.length - 1, 0);
    this.#ends = new Float64Array(total * 4);
    this.#next = new Int32Array(total);
    this.#cut = new Int32Array(total);
    for (const [index, ring] of rings.entries()) this.#addRing(index, ring);
    this.#events = Int32Array.from({ length: total * 2 }, (_, event) => event);
  }

  #addRing(ring: number, corners: readonly Corner[]): void {
    const first = this.#edges.length;
    for (let corner = 0; corner + 1 < corners.length; corner++) {
      const [x1, y1] = corners[corner] ?? [0, 0];
      const [x2, y2] = corners[corner + 1] ?? [0, 0];
      const edge = this.#edges.push({ ring, corner }) - 1;
      const forward = x1 < x2 || (x1 === x2 && y1 < y2);
      const at = edge * 4;
      this.#ends[at] = forward ? x1 : x2;
      this.#ends[at + 1] = forward ? y1 : y2;
      this.#ends[at + 2] = forward ? x2 : x1;
      this.#ends[at + 3] = forward ? y2 : y1;
      this.#next[edge] = corner + 2 < corners.length ? edge + 1 : first;
    }
  }

  edge(index: number): RingEdge {
    return this.#edges[index] ?? { ring: 0, corner: 0 };
  }

  /** Two edges that begin or end at the same corner without being neighbours. */
  sharedCorner(): Pair | undefined {
    const events = this.#events;
    for (let at = 1; at < events.length; at++) {
      // A corner has two edges: where three meet there is a pair among them that are no neighbours.
      for (let back = 1; back <= 2 && back <= at; back++) {
        const [first, second] = [events[at - back] ?? 0, events[at] ?? 0];
        const [one, other] = [first >> 1, second >> 1];
        if (this.#sameEnd(first, second) && one !== other && !this.#neighbours(one, other)) return [one, other];
      }
    }
    return undefined;
  }

  *run(): Steps<Pair | undefined> {
    for (const [at, event] of this.#events.entries()) {
      if (at % stepEvents === stepEvents - 1) yield;
      const edge = event >> 1;
      const found = event & 1 ? this.#begin(edge) : this.#finish(edge);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  *sort(): Steps<void> {
    const events = this.#events;
    // Side by side: the comparison is most of what a large zone costs.
    const longitudes = Float64Array.from(events, (event) => this.#x(event));
    const latitudes = Float64Array.from(events, (event) => this.#y(event));
    this.#events = yield* sorted(
      events,
      (left, right) =>
        (longitudes[left] ?? 0) - (longitudes[right] ?? 0) ||
        (latitudes[left] ?? 0) - (latitudes[right] ?? 0) ||
        (left & 1) - (right & 1) ||
        left - right,
    );
  }

  #x(event: number): number {
    return this.#end(event >> 1, event & 1 ? 0 : 2);
  }

  #y(event: number): number {
    return this.#end(event >> 1, event & 1 ? 1 : 3);
  }

  /**
   * A coordinate of an edge: 0 and 1 are the longitude and latitude of its first end, 2 and 3 those of the other. Read
   * one by one, because a view of all four takes ten times as long.
   */
  #end(edge: number, coordinate: number): number {
    return this.#ends[edge * 4 + coordinate] ?? 0;
  }

  /** On which side of an edge a point lies: see `turn`. */
  #turn(edge: number, x: number, y: number): number {
    return turn(this.#end(edge, 0), this.#end(edge, 1), this.#end(edge, 2), this.#end(edge, 3), x, y);
  }

  #sameEnd(left: number, right: number): boolean {
    return this.#x(left) === this.#x(right) && this.#y(left) === this.#y(right);
  }

  #begin(edge: number): Pair | undefined {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#cut[middle] ?? 0;
      const above = this.#above(edge, other);
      if (above === 0 && this.#touch(edge, other)) return [other, edge];
      if (above > 0) low = middle + 1;
      else high = middle;
    }
    this.#cut.copyWithin(low + 1, low, this.#count);
    this.#cut[low] = edge;
    this.#count++;
    return this.#pair(low - 1, low) ?? this.#pair(low, low + 1);
  }

  #finish(edge: number): Pair | undefined {
    const at = this.#cut.indexOf(edge);
    this.#cut.copyWithin(at, at + 1, this.#count);
    this.#count--;
    return this.#pair(at - 1, at);
  }

  /** Positive: the edge begins north of the other; where both begin at one corner, it goes on north of it. */
  #above(edge: number, other: number): number {
    return (
      this.#turn(other, this.#end(edge, 0), this.#end(edge, 1)) ||
      this.#turn(other, this.#end(edge, 2), this.#end(edge, 3))
    );
  }

  #pair(low: number, high: number): Pair | undefined {
    if (low < 0 || high >= this.#count) return undefined;
    const [one, other] = [this.#cut[low] ?? 0, this.#cut[high] ?? 0];
    return this.#touch(one, other) ? [one, other] : undefined;
  }

  #neighbours(one: number, other: number): boolean {
    return this.#next[one] === other || this.#next[other] === one;
  }

  #touch(one: number, other: number): boolean {
    const [x1, y1, x2, y2] = [this.#end(one, 0), this.#end(one, 1), this.#end(one, 2), this.#end(one, 3)];
    const [x3, y3, x4, y4] = [this.#end(other, 0), this.#end(other, 1), this.#end(other, 2), this.#end(other, 3)];
    if (!this.#neighbours(one, other)) return segmentsTouch(x1, y1, x2, y2, x3, y3, x4, y4);
    // Neighbours share a corner; they touch elsewhere only where one goes back along the other.
    if (turn(x1, y1, x2, y2, x3, y3) !== 0 || turn(x1, y1, x2, y2, x4, y4) !== 0) return false;
    return (x1 === x3 && y1 === y3) || (x2 === x4 && y2 === y4);
  }
}

type Compare = (left: number, right: number) => number;

/** The numbers in order: parts that the engine sorts, merged two by two. What was given is overwritten. */
function* sorted(numbers: Int32Array, compare: Compare): Steps<Int32Array> {
  const { length } = numbers;
  for (let at = 0; at < length; at += stepEvents) {
    numbers.subarray(at, at + stepEvents).sort(compare);
    if (length > stepEvents) yield;
  }
  let from = numbers;
  let into: Int32Array = new Int32Array(length);
  for (let width = stepEvents; width < length; width *= 2) {
    for (let at = 0; at < length; at += 2 * width) {
      const [one, other] = [from.subarray(at, at + width), from.subarray(at + width, at + 2 * width)];
      merge(one, other, into.subarray(at, at + 2 * width), compare);
      yield;
    }
    [from, into] = [into, from];
  }
  return from;
}

function merge(one: Int32Array, other: Int32Array, into: Int32Array, compare: Compare): void {
  let [left, right] = [0, 0];
  for (let at = 0; at < into.length; at++) {
    const isLeft = right >= other.length || (left < one.length && compare(one[left] ?? 0, other[right] ?? 0) <= 0);
    into[at] = (isLeft ? one[left++] : other[right++]) ?? 0;
  }
}
