import { hashText, randomAt } from "./random.ts";

/** Metres east and north of a town's centre. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A crossing of the street grid, by its column (west to east) and row (south to north); the centre is 0, 0. */
export interface Junction {
  readonly column: number;
  readonly row: number;
}

/** A stretch of street between two neighbouring junctions, in one direction. */
export interface Road {
  readonly from: Junction;
  readonly to: Junction;
  /** Where it runs: straight legs between these points, at least two. */
  readonly points: readonly Point[];
  /** m */
  readonly length: number;
  /** Speed limit, m/s. */
  readonly limit: number;
}

interface City {
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
  /** m */
  readonly altitude: number;
}

/** Inland cities, so that a made-up street of theirs is never far out at sea. */
export const cities: readonly City[] = [
  { name: "Bogotá", latitude: 4.66, longitude: -74.09, altitude: 2550 },
  { name: "Madrid", latitude: 40.42, longitude: -3.7, altitude: 650 },
  { name: "Ciudad de México", latitude: 19.42, longitude: -99.14, altitude: 2240 },
  { name: "Berlin", latitude: 52.51, longitude: 13.39, altitude: 35 },
  { name: "Nairobi", latitude: -1.29, longitude: 36.82, altitude: 1660 },
  { name: "São Paulo", latitude: -23.56, longitude: -46.63, altitude: 760 },
  { name: "Delhi", latitude: 28.62, longitude: 77.21, altitude: 215 },
  { name: "Denver", latitude: 39.73, longitude: -104.97, altitude: 1600 },
];

/** Junctions from the centre to the edge of a town: 25 of 220 m, about 5.5 km. */
export const townRadius = 25;
const spacing = 220;
/** Every fifth street is a main road: faster, and never left out, so that the town hangs together. */
const mainEvery = 5;
const metresPerDegree = 111_195;

/**
 * A town of made-up streets around a real city's centre: a turned grid with crooked junctions, bends, main roads,
 * missing links and dead ends. Everything follows from the seed and the place, so nothing is kept in memory.
 */
export class Town {
  readonly city: City;
  readonly #seed: number;
  readonly #sin: number;
  readonly #cos: number;

  constructor(city: City, seed: string) {
    this.city = city;
    this.#seed = hashText(`${seed}/${city.name}`);
    const turn = (randomAt(this.#seed, 0, 0, 9) * Math.PI) / 2;
    this.#sin = Math.sin(turn);
    this.#cos = Math.cos(turn);
  }

  /** Roads that leave a junction; none only where a missing link cut it off. */
  roadsFrom({ column, row }: Junction): readonly Road[] {
    return [
      this.#link(column, row, "east", false),
      this.#link(column, row, "north", false),
      this.#link(column - 1, row, "east", true),
      this.#link(column, row - 1, "north", true),
    ].filter((road) => road !== undefined);
  }

  /** WGS-84 degrees and altitude (m) of a point. */
  position({ x, y }: Point): { latitude: number; longitude: number; altitude: number } {
    const { latitude, longitude, altitude } = this.city;
    const metresPerDegreeEast = metresPerDegree * Math.cos((latitude * Math.PI) / 180);
    return {
      latitude: latitude + y / metresPerDegree,
      longitude: longitude + x / metresPerDegreeEast,
      altitude: Math.round(altitude + 15 * Math.sin(x / 900) + 10 * Math.sin(y / 700)),
    };
  }

  /** The link from a junction to its eastern or northern neighbour, or that neighbour's way back. */
  #link(column: number, row: number, heading: "east" | "north", back: boolean): Road | undefined {
    const east = heading === "east";
    const near = { column, row };
    const far = east ? { column: column + 1, row } : { column, row: row + 1 };
    const outside = [near, far].some((end) => Math.max(Math.abs(end.column), Math.abs(end.row)) > townRadius);
    const main = (east ? row : column) % mainEvery === 0;
    const chance = randomAt(this.#seed, column, row, east ? 1 : 2);
    if (outside || (!main && chance < 0.18)) return undefined;
    const points = this.#bends(near, far, east ? 3 : 4);
    const limit = (main ? 60 : 30 + 10 * Math.floor(chance * 3)) / 3.6;
    const length = lengthOf(points);
    return back
      ? { from: far, to: near, points: points.toReversed(), length, limit }
      : { from: near, to: far, points, length, limit };
  }

  #bends(near: Junction, far: Junction, salt: number): readonly Point[] {
    const start = this.#crossing(near);
    const end = this.#crossing(far);
    const across = { x: -(end.y - start.y) / spacing, y: (end.x - start.x) / spacing };
    const bend = (part: number) => {
      const offset = 24 * (randomAt(this.#seed, near.column, near.row, salt + 10 * part) - 0.5);
      return {
        x: start.x + (end.x - start.x) * part + across.x * offset,
        y: start.y + (end.y - start.y) * part + across.y * offset,
      };
    };
    return [start, bend(1 / 3), bend(2 / 3), end];
  }

  #crossing({ column, row }: Junction): Point {
    const x = spacing * column + 80 * (randomAt(this.#seed, column, row, 5) - 0.5);
    const y = spacing * row + 80 * (randomAt(this.#seed, column, row, 6) - 0.5);
    return { x: x * this.#cos - y * this.#sin, y: x * this.#sin + y * this.#cos };
  }
}

/** Length of the legs between these points, m. */
function lengthOf(points: readonly Point[]): number {
  let sum = 0;
  for (const [start, end] of legs(points)) sum += Math.hypot(end.x - start.x, end.y - start.y);
  return sum;
}

/** The point after a distance on a road, metres, and the course there, degrees clockwise from north. */
export function placeOn(road: Road, metres: number): { point: Point; course: number } {
  let left = Math.max(0, metres);
  let place = { point: { x: 0, y: 0 }, course: 0 };
  for (const [start, end] of legs(road.points)) {
    const length = Math.hypot(end.x - start.x, end.y - start.y);
    const part = Math.min(1, left / length);
    const point = { x: start.x + (end.x - start.x) * part, y: start.y + (end.y - start.y) * part };
    place = { point, course: courseOf(start, end) };
    if (left < length) break;
    left -= length;
  }
  return place;
}

/** Course at the start and at the end of a road, degrees. */
export function coursesOf(road: Road): { first: number; last: number } {
  return { first: placeOn(road, 0).course, last: placeOn(road, road.length).course };
}

function courseOf(start: Point, end: Point): number {
  const degrees = (Math.atan2(end.x - start.x, end.y - start.y) * 180) / Math.PI;
  return (degrees + 360) % 360;
}

function* legs(points: readonly Point[]): Generator<readonly [Point, Point]> {
  let start: Point | undefined;
  for (const end of points) {
    if (start) yield [start, end];
    start = end;
  }
}
