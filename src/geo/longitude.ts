/** A longitude moved by whole turns to where `west` <= longitude < `west` + 360. */
export function turnedFrom(west: number, longitude: number): number {
  return longitude - 360 * Math.floor((longitude - west) / 360);
}

/** How far it is from one longitude to another the short way round: -180 to 180, east positive. */
export function shortWay(from: number, to: number): number {
  const way = to - from;
  return way - 360 * Math.round(way / 360);
}

const radians = Math.PI / 180;

/**
 * The northernmost latitude that a straight line or a great circle between two positions can reach, where their
 * longitudes are `span` degrees apart (0 to 180): exact where both lie on the same latitude, never too little. The
 * southernmost is that of the negated latitudes, negated.
 */
export function northOfArc(latitude1: number, latitude2: number, span: number): number {
  const top = Math.max(latitude1, latitude2);
  // South of the equator a great circle bends to the south, away from the top.
  if (top <= 0 || span === 0) return top;
  if (span >= 180) return 90;
  return Math.max(top, Math.atan(Math.tan(top * radians) / Math.cos((span / 2) * radians)) / radians);
}
