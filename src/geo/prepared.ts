import type { Box } from "./box.ts";

/**
 * A zone made ready to be asked often: asking allocates nothing and costs the logarithm of the number of its corners.
 * Positions are in degrees, longitudes of any turn; a zone's edge belongs to it.
 */
export interface PreparedZone {
  /** Everything that `contains` and `crosses` can find lies within it. */
  readonly box: Box;
  contains(latitude: number, longitude: number): boolean;
  /**
   * Whether the straight way between two fixes, the short way round the earth, touches the zone, wherever it begins and
   * ends. For circles and routes it is the great circle, as their distances are; for polygons the line in longitude and
   * latitude, as their edges are.
   */
  crosses(latitude1: number, longitude1: number, latitude2: number, longitude2: number): boolean;
}
