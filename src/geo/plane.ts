/**
 * Twice the area of a triangle: positive where the third point lies left of the way from the first to the second, 0 on
 * its line.
 */
export function turn(x1: number, y1: number, x2: number, y2: number, x3: number, y3: number): number {
  return (x2 - x1) * (y3 - y1) - (y2 - y1) * (x3 - x1);
}

/** Whether a point lies on a segment, its ends included. */
export function onSegment(x1: number, y1: number, x2: number, y2: number, x: number, y: number): boolean {
  return within(x1, x2, x) && within(y1, y2, y) && turn(x1, y1, x2, y2, x, y) === 0;
}

/** Whether two segments have a point in common, their ends included. */
export function segmentsTouch(
  x1: number,
  y1: number,
  x2: number,
  y2: number,
  x3: number,
  y3: number,
  x4: number,
  y4: number,
): boolean {
  const third = turn(x1, y1, x2, y2, x3, y3);
  const fourth = turn(x1, y1, x2, y2, x4, y4);
  const first = turn(x3, y3, x4, y4, x1, y1);
  const second = turn(x3, y3, x4, y4, x2, y2);
  if (
    third > 0 !== fourth > 0 &&
    first > 0 !== second > 0 &&
    third !== 0 &&
    fourth !== 0 &&
    first !== 0 &&
    second !== 0
  )
    return true;
  return (
    (third === 0 && within(x1, x2, x3) && within(y1, y2, y3)) ||
    (fourth === 0 && within(x1, x2, x4) && within(y1, y2, y4)) ||
    (first === 0 && within(x3, x4, x1) && within(y3, y4, y1)) ||
    (second === 0 && within(x3, x4, x2) && within(y3, y4, y2))
  );
}

function within(end1: number, end2: number, value: number): boolean {
  return end1 < end2 ? value >= end1 && value <= end2 : value >= end2 && value <= end1;
}
