/**
 * Readings of a level in the order of time, four numbers each: when, how much, the mileage then, km, and 1 where the
 * vehicle stood.
 */
export type Series = readonly number[];

const size = 4;

/** Readings whose median tells what one of them should be. */
const around = 5;
/** Noise of sd 1 lies nearer to that median than this, in this part of the readings. */
const mostly = { part: 0.7, within: 0.97 };

function valueAt(series: Series, place: number): number {
  return series[place * size + 1] ?? 0;
}

/** The values of some readings, sorted. */
export function valuesIn(series: Series, from: number, until: number): readonly number[] {
  const values: number[] = [];
  for (let at = from; at < until; at++) values.push(valueAt(series, at));
  return values.sort((left, right) => left - right);
}

/** Of sorted values. */
export function median(values: readonly number[]): number {
  return values[values.length >> 1] ?? 0;
}

/** From the lowest to the highest reading. */
export function spanOf(series: Series): number {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let at = 1; at < series.length; at += size) {
    const value = series[at] ?? 0;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return most - least;
}

/** Sorted values that lie all on one side of the others. */
export function apart(before: readonly number[], now: readonly number[], sign: -1 | 1): boolean {
  return sign < 0 ? (now.at(-1) ?? 0) < (before[0] ?? 0) : (now[0] ?? 0) > (before.at(-1) ?? 0);
}

/**
 * Standard deviation of the readings' noise, as far as they tell: of what lies beside the median of five, so that
 * neither a slope nor a change counts as noise.
 */
export function noiseOf(series: Series): number {
  const count = series.length / size;
  const sizes: number[] = [];
  for (let at = 0; at < count; at++) {
    const from = Math.max(0, Math.min(at - (around >> 1), count - around));
    sizes.push(Math.abs(valueAt(series, at) - median(valuesIn(series, from, Math.min(count, from + around)))));
  }
  sizes.sort((left, right) => left - right);
  return (sizes[Math.floor((count - 1) * mostly.part)] ?? 0) / mostly.within;
}

/** Change in a millisecond, as most pairs of readings have it on either side of a change. */
export function slopeOf(series: Series, from: number, change: number, until: number): number {
  const slopes: number[] = [];
  for (const [begin, end] of [
    [from, change],
    [change, until],
  ] as const)
    for (let one = begin; one < end; one++)
      for (let other = one + 1; other < end; other++) {
        const elapsed = (series[other * size] ?? 0) - (series[one * size] ?? 0);
        if (elapsed > 0) slopes.push((valueAt(series, other) - valueAt(series, one)) / elapsed);
      }
  return median(slopes.sort((left, right) => left - right));
}

/**
 * Whether the level still moves by more than an amount within the readings since a moment, or within the `least` last
 * ones. Compares medians, so waves do not count.
 */
export function goesOn(
  series: Series,
  sign: -1 | 1,
  { since, least }: { readonly since: number; readonly least: number },
  byMore: number,
): boolean {
  const count = series.length / size;
  let start = Math.max(0, count - least);
  while (start > 0 && (series[start * size] ?? 0) > since) start--;
  const half = (count - start - 1) >> 1;
  const before = median(valuesIn(series, start, start + half));
  return sign * (median(valuesIn(series, count - half, count)) - before) > byMore;
}
