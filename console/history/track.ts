import type { Location } from "../live/events.ts";

/** Where classes of speed begin, km/h; the last has no end. */
export const speedClasses = [0, 20, 40, 60, 80, 100] as const;

/** Longer than this between two positions is a gap: nobody knows the way. */
const gapMs = 10 * 60_000;

/** A position of the past that can be believed. */
export interface Fix {
  readonly at: number;
  readonly longitude: number;
  readonly latitude: number;
  readonly speed: number | undefined;
  readonly location: Location;
}

/** The positions that the tracker itself believes, by time. The others stay in the table. */
export function fixesOf(locations: readonly Location[]): readonly Fix[] {
  return locations
    .filter(({ attributes }) => attributes.valid !== "false" && attributes.positionTime === undefined)
    .map((location) => ({
      at: Date.parse(location.dateTime),
      longitude: location.longitude,
      latitude: location.latitude,
      speed: location.speed,
      location,
    }));
}

/** The class of a speed. */
export function classOf(speed: number): number {
  return Math.max(
    0,
    speedClasses.findLastIndex((from) => speed >= from),
  );
}

/** The way as lines of one speed class each, and dashed ones over gaps: few features, however many positions. */
export function linesOf(fixes: readonly Fix[]): GeoJSON.FeatureCollection<GeoJSON.LineString> {
  const features: GeoJSON.Feature<GeoJSON.LineString>[] = [];
  let line: [number, number][] = [];
  let kind: string | undefined;
  for (const [index, fix] of fixes.entries()) {
    const before = fixes[index - 1];
    if (before === undefined) continue;
    const gap = fix.at - before.at > gapMs;
    const speed = classOf(fix.speed ?? 0);
    const next = gap ? "gap" : String(speed);
    if (next !== kind) {
      line = [[before.longitude, before.latitude]];
      kind = next;
      features.push({
        type: "Feature",
        properties: { gap, speed },
        geometry: { type: "LineString", coordinates: line },
      });
    }
    line.push([fix.longitude, fix.latitude]);
  }
  return { type: "FeatureCollection", features };
}

/** Index of the last fix at a moment or before; 0 before the first. */
export function indexAt(fixes: readonly Fix[], at: number): number {
  let [low, high] = [0, fixes.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((fixes[middle]?.at ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Where the device was at a moment: between two fixes on the line, in a gap at its beginning. */
export function whereAt(fixes: readonly Fix[], at: number): readonly [number, number] | undefined {
  const index = indexAt(fixes, at);
  const fix = fixes[index];
  const next = fixes[index + 1];
  if (fix === undefined) return undefined;
  if (next === undefined || next.at - fix.at > gapMs || at <= fix.at) return [fix.longitude, fix.latitude];
  const part = (at - fix.at) / (next.at - fix.at);
  return [
    fix.longitude + (next.longitude - fix.longitude) * part,
    fix.latitude + (next.latitude - fix.latitude) * part,
  ];
}

/** How a playback goes on. */
export interface Pace {
  /** Of the clock, since the last moment. */
  readonly passedMs: number;
  readonly speed: number;
  readonly skipStops: boolean;
}

/** The next moment of a playback. Over gaps, and over stops where they are skipped, it goes on at once. */
export function nextMoment(fixes: readonly Fix[], at: number, { passedMs, speed, skipStops }: Pace): number {
  const then = at + passedMs * speed;
  const index = indexAt(fixes, then);
  const [fix, next] = [fixes[index], fixes[index + 1]];
  if (fix === undefined || next === undefined) return then;
  if (next.at - fix.at > gapMs) return next.at;
  if (!skipStops || isMoving(fix) || isMoving(next)) return then;
  const moving = fixes.findIndex((later, each) => each > index && isMoving(later));
  return Math.max(then, fixes[moving < 0 ? fixes.length - 1 : moving - 1]?.at ?? then);
}

function isMoving({ speed = 0 }: Fix): boolean {
  return speed >= 1;
}
