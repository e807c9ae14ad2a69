import { earthRadiusKm } from "./distance.ts";

const radians = Math.PI / 180;

/** Writes a position as a unit vector: three numbers from `at` on. Vectors know neither antimeridian nor poles. */
export function writeVector(latitude: number, longitude: number, into: Float64Array, at: number): void {
  const ring = Math.cos(latitude * radians);
  into[at] = ring * Math.cos(longitude * radians);
  into[at + 1] = ring * Math.sin(longitude * radians);
  into[at + 2] = Math.sin(latitude * radians);
}

/** A great-circle distance in the forms that vectors are compared with. */
export interface Reach {
  /** Length of its chord on the unit sphere. */
  readonly chord: number;
  /**
   * Square of its sine; infinite from a quarter of the circumference on, which is as far as a great circle can be from
   * anything.
   */
  readonly sine2: number;
}

/** The reach of a distance in km, up to half of the circumference. */
export function reachOf(km: number): Reach {
  const angle = Math.min(km / earthRadiusKm, Math.PI);
  return {
    chord: 2 * Math.sin(angle / 2),
    sine2: angle >= Math.PI / 2 ? Number.POSITIVE_INFINITY : Math.sin(angle) ** 2,
  };
}

/** Square of the chord between two vectors, each given by its array and place. */
export function chord2(p: Float64Array, i: number, q: Float64Array, j: number): number {
  const x = (p[i] ?? 0) - (q[j] ?? 0);
  const y = (p[i + 1] ?? 0) - (q[j + 1] ?? 0);
  const z = (p[i + 2] ?? 0) - (q[j + 2] ?? 0);
  return x * x + y * y + z * z;
}

/** How far a great-circle arc rises over its chord, given the chord's square. */
export function sagitta(square: number): number {
  return 1 - Math.sqrt(Math.max(0, 1 - square / 4));
}

/**
 * Square of a chord of a millimetre: the direction of shorter ones is lost in rounding, and their ends tell all that
 * matters.
 */
const pointLike = (1e-6 / earthRadiusKm) ** 2;

/** Whether point `p` at `i` lies within reach of the shorter great-circle arc from `q` at `a` to `q` at `b`. */
export function arcReached(reach: Reach, p: Float64Array, i: number, q: Float64Array, a: number, b: number): boolean {
  const toA = chord2(p, i, q, a);
  const toB = chord2(p, i, q, b);
  const limit = reach.chord * reach.chord;
  if (toA <= limit || toB <= limit) return true;
  const length = chord2(q, a, q, b);
  if (length < pointLike) return false;
  // Is the nearest point of the great circle between the two ends? Written in squares of chords, because the cosines of
  // short arcs all look like 1.
  if ((length + toA - toB) / 2 < (length * toA) / 4 || (length + toB - toA) / 2 < (length * toB) / 4) return false;
  const ax = q[a] ?? 0;
  const ay = q[a + 1] ?? 0;
  const az = q[a + 2] ?? 0;
  const bx = (q[b] ?? 0) - ax;
  const by = (q[b + 1] ?? 0) - ay;
  const bz = (q[b + 2] ?? 0) - az;
  const nx = ay * bz - az * by;
  const ny = az * bx - ax * bz;
  const nz = ax * by - ay * bx;
  const normal2 = nx * nx + ny * ny + nz * nz;
  const over = ((p[i] ?? 0) - ax) * nx + ((p[i + 1] ?? 0) - ay) * ny + ((p[i + 2] ?? 0) - az) * nz;
  // Opposite ends have no plane between them.
  return normal2 > 0 && over * over <= reach.sine2 * normal2;
}

/**
 * Whether two arcs cross at a point that is an end of neither; each is the shorter way from its first to its second
 * place.
 */
export function arcsCross(p: Float64Array, a: number, b: number, q: Float64Array, c: number, d: number): boolean {
  const aSide = side(p, a, q, c, d);
  const bSide = side(p, b, q, c, d);
  if (!(aSide * bSide < 0)) return false;
  const cSide = side(q, c, p, a, b);
  const dSide = side(q, d, p, a, b);
  // The last comparison tells a crossing from one of an arc with the other's antipode.
  return cSide * dSide < 0 && aSide * cSide < 0;
}

/** On which side of the great circle through `q` at `a` and `b` the point `p` at `i` lies: positive is left. */
function side(p: Float64Array, i: number, q: Float64Array, a: number, b: number): number {
  const ax = q[a] ?? 0;
  const ay = q[a + 1] ?? 0;
  const az = q[a + 2] ?? 0;
  const bx = (q[b] ?? 0) - ax;
  const by = (q[b + 1] ?? 0) - ay;
  const bz = (q[b + 2] ?? 0) - az;
  return (
    ((p[i] ?? 0) - ax) * (ay * bz - az * by) +
    ((p[i + 1] ?? 0) - ay) * (az * bx - ax * bz) +
    ((p[i + 2] ?? 0) - az) * (ax * by - ay * bx)
  );
}
