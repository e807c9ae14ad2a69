/** Kilometres in a nautical mile: one knot in km/h. */
const kmPerNauticalMile = 1.852;

/** Kilometres in a statute mile. */
export const kmPerMile = 1.609344;

/**
 * km/h of a speed in knots, to 0.001 km/h (finer than any tracker reports; keeps binary noise out of what is stored).
 */
export function kmhOfKnots(knots: number): number {
  return Math.round(knots * kmPerNauticalMile * 1000) / 1000;
}

/** Knots of a speed in km/h. */
export function knotsOfKmh(kmh: number): number {
  return kmh / kmPerNauticalMile;
}

/** A coordinate in degrees to 1e-7 (1 cm), which drops the noise of a division by 60. */
export function roundDegrees(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7;
}
