import type { Corner } from "../model/geofence.ts";
import type { Steps } from "../model/steps.ts";
import { PreparedArea } from "./area.ts";
import { type Line, readLine, sameDegrees } from "./corners.ts";
import type { Problems } from "./problems.ts";
import { type RingEdge, ringContact } from "./ring-contact.ts";
import { ZoneIndex } from "./zone-index.ts";

/** Corners that are read and prepared within a millisecond. */
const fewCorners = 1000;

/**
 * The rings of a polygon, first the outer one (RFC 7946, 3.1.6). Undefined: something of them is wrong, and the
 * problems say what.
 */
export function* readRings(
  value: unknown,
  place: string,
  problems: Problems,
): Steps<readonly (readonly Corner[])[] | undefined> {
  if (!Array.isArray(value) || value.length === 0) {
    problems.add(place, "must be an array of rings, the outer one first");
    return undefined;
  }
  const lines = value.map((item: unknown, index) => readRing(item, `${place}/${index}`, problems));
  const read = lines.flatMap((line) => line ?? []);
  const [outer, ...holes] = read;
  if (outer === undefined || problems.any) return undefined;
  const rings = [outer, ...holes.map((hole) => turnedInto(outer, hole))];
  if (rings.reduce((sum, { corners }) => sum + corners.length, 0) > fewCorners) yield;
  yield* checkContact(rings, place, problems);
  if (!problems.any && rings.length > 1) yield* checkHoles(rings, place, problems);
  return problems.any ? undefined : rings.map((ring) => ring.corners);
}

function readRing(value: unknown, place: string, problems: Problems): Line | undefined {
  const line = readLine(value, place, problems);
  if (line === undefined) return undefined;
  const problem = Array.isArray(value) && value.length < 4 ? "must have 4 positions at least" : problemOfRing(line);
  if (problem !== undefined) {
    problems.add(place, problem);
    return undefined;
  }
  const { corners, places } = line;
  // The end may have come to its beginning by a whole turn, which is rounded.
  return { corners: [...corners.slice(0, -1), ...corners.slice(0, 1)], places };
}

function problemOfRing({ corners, places }: Line): string | undefined {
  const [first] = corners;
  const last = corners.at(-1);
  if (first === undefined || last === undefined) return "must have 4 positions at least";
  for (let index = 1; index < corners.length; index++)
    if (Math.abs((corners[index]?.[0] ?? 0) - (corners[index - 1]?.[0] ?? 0)) === 180)
      return `positions ${places[index - 1]} and ${places[index]} lie on opposite longitudes, so it is not clear which way round the edge goes; put one between them`;
  const aside = Math.abs(last[0] - first[0]);
  if (last[1] === first[1] && aside > 1 && aside % 360 < sameDegrees)
    return "goes around a pole; use a circle, or a polygon on one side of the pole";
  if (aside > sameDegrees || last[1] !== first[1])
    return "is not closed: its last position must be the same as its first";
  if (corners.length < 4) return "must have 3 different corners at least";
  const longitudes = corners.map(([longitude]) => longitude);
  return greatest(longitudes) - least(longitudes) > 360 + sameDegrees
    ? "goes around the earth more than once"
    : undefined;
}

/** The hole in the turn in which it can lie in the outer ring. */
function turnedInto(outer: Line, hole: Line): Line {
  const start = least(outer.corners.map(([longitude]) => longitude));
  const own = least(hole.corners.map(([longitude]) => longitude));
  // A hole that begins at the outer ring's own west end, but for rounding, lies in its turn already.
  const turn = 360 * Math.ceil((start - own - sameDegrees) / 360) + 0;
  return turn === 0
    ? hole
    : { ...hole, corners: hole.corners.map(([longitude, latitude]) => [longitude + turn, latitude]) };
}

function* checkContact(rings: readonly Line[], place: string, problems: Problems): Steps<void> {
  const contact = yield* ringContact(rings.map((ring) => ring.corners));
  if (contact === undefined) return;
  const [one, other] = contact;
  const where = (edge: RingEdge): string => {
    const places = rings[edge.ring]?.places ?? [];
    return `between positions ${places[edge.corner]} and ${places[edge.corner + 1]}`;
  };
  if (one.ring === other.ring)
    problems.add(`${place}/${one.ring}`, `crosses or touches itself: ${where(one)}, and ${where(other)}`);
  else
    problems.add(
      `${place}/${Math.max(one.ring, other.ring)}`,
      `crosses or touches ring ${Math.min(one.ring, other.ring)}: ${where(one.ring > other.ring ? one : other)}, and there ${where(one.ring > other.ring ? other : one)}`,
    );
}

/** Rings that touch nowhere are inside of one another or apart, and one corner tells which. */
function* checkHoles(rings: readonly Line[], place: string, problems: Problems): Steps<void> {
  const areas: { readonly prepared: PreparedArea }[] = [];
  let done = 0;
  for (const { corners } of rings) {
    areas.push({ prepared: new PreparedArea({ kind: "polygon", rings: [corners] }) });
    done += corners.length;
    if (done > fewCorners) {
      done = 0;
      yield;
    }
  }
  const index = new ZoneIndex(areas);
  for (const [ring, { corners }] of rings.entries()) {
    if (ring % fewCorners === fewCorners - 1) yield;
    const corner = corners[0];
    if (ring === 0 || corner === undefined) continue;
    const [longitude, latitude] = corner;
    let outside = true;
    index.near(latitude, longitude, latitude, longitude, (other) => {
      if (other === ring || areas[other]?.prepared.contains(latitude, longitude) !== true) return;
      if (other === 0) outside = false;
      else problems.add(`${place}/${ring}`, `is a hole within another hole, ring ${other}`);
    });
    if (outside) problems.add(`${place}/${ring}`, "is a hole outside of the outer ring");
  }
}

function least(values: readonly number[]): number {
  return values.reduce((first, second) => Math.min(first, second), Number.POSITIVE_INFINITY);
}

function greatest(values: readonly number[]): number {
  return values.reduce((first, second) => Math.max(first, second), Number.NEGATIVE_INFINITY);
}
