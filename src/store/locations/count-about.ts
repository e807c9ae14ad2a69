import type { DeviceChunks } from "./device-chunks.ts";

/** The most chunks that are looked at, of those that begin in the range and of those that begin before it. */
const mostLooked = 256;

/** About how many records lie in a range of event time (inclusive). Infinite where more than 256 chunks begin in the range. */
export function countAbout(chunks: DeviceChunks, from: number, to: number): number {
  const own = chunks.position(from, 0);
  // One chunk with a long gap would otherwise have all that begin after it looked at, for ever.
  const begin = Math.max(chunks.reaching(from), own - mostLooked);
  const beyond = own + mostLooked;
  if (beyond < chunks.length && chunks.first(beyond) <= to) return Number.POSITIVE_INFINITY;
  let count = 0;
  for (let index = begin; index < chunks.length && chunks.first(index) <= to; index++) {
    const [first, last] = [chunks.first(index), chunks.last(index)];
    if (last < from) continue;
    const part = last > first ? (Math.min(last, to) - Math.max(first, from)) / (last - first) : 1;
    count += Math.ceil(part * chunks.count(index));
  }
  return count;
}
