/** Web Mercator: the world is a square of side 1, with y downwards. */
export function mercatorX(longitude: number): number {
  return (longitude + 180) / 360;
}

/** Beyond 85.05 degrees there is no map. */
const highest = 85.051129;

/** The y of a latitude. */
export function mercatorY(latitude: number): number {
  const bounded = Math.max(-highest, Math.min(highest, latitude));
  return 0.5 - Math.log(Math.tan(Math.PI / 4 + (bounded * Math.PI) / 360)) / (2 * Math.PI);
}

/** Longitude and latitude of a place. */
export function placeOf(x: number, y: number): [number, number] {
  return [x * 360 - 180, (Math.atan(Math.exp((0.5 - y) * 2 * Math.PI)) * 360) / Math.PI - 90];
}
