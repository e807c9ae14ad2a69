/**
 * A rectangle of longitudes and latitudes, edges included. `west` lies in -180 <= west < 180; `east` is `west` to
 * `west` + 360, so it is beyond 180 where the box spans the antimeridian.
 */
export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** What rounding may move a corner by when it is turned by 360 degrees, and more; a tenth of a millimetre. */
const margin = 1e-9;

/**
 * A box of what lies within these bounds, `west` anywhere. Poles are not passed: what reaches over one must give all
 * longitudes.
 */
export function boxOf(west: number, south: number, east: number, north: number): Box {
  const width = Math.min(360, east - west + 2 * margin);
  const start = width === 360 ? -180 : west - margin - 360 * Math.floor((west - margin + 180) / 360);
  return {
    west: start,
    south: Math.max(-90, south - margin),
    east: start + width,
    north: Math.min(90, north + margin),
  };
}

/** A box around everything within `angle` degrees, on the sphere, of a box given by its bounds. */
export function boxAround(west: number, south: number, east: number, north: number, angle: number): Box {
  const steepest = Math.max(Math.abs(south), Math.abs(north));
  // From here on it lies around a pole, so on all longitudes.
  if (steepest + angle >= 90) return boxOf(-180, south - angle, 180, north + angle);
  const radians = Math.PI / 180;
  const aside = Math.asin(Math.sin(angle * radians) / Math.cos(steepest * radians)) / radians;
  return boxOf(west - aside, south - angle, east + aside, north + angle);
}
