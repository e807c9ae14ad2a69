import type { ContextRequest } from "./calls.ts";

/** Numbers of a request beside its row numbers: device, time and arrival of the place, bound, limit, bytes, and how many row numbers follow. */
const fixed = 7;

/** Packs requests as numbers: hundreds of small objects would cost more to copy between threads than everything else in asking. */
export function packRequests(requests: readonly ContextRequest[]): Float64Array<ArrayBuffer> {
  const length = requests.reduce((sum, { seqs }) => sum + fixed + seqs.length, 0);
  const numbers = new Float64Array(length);
  let at = 0;
  for (const { device, seqs, place, bound, limit, bytes } of requests) {
    numbers[at] = device;
    numbers[at + 1] = place.time;
    numbers[at + 2] = place.arrival;
    numbers[at + 3] = bound;
    numbers[at + 4] = limit;
    numbers[at + 5] = bytes;
    numbers[at + 6] = seqs.length;
    numbers.set(seqs, at + fixed);
    at += fixed + seqs.length;
  }
  return numbers;
}

/** Returns the requests that `packRequests` packed. */
export function unpackRequests(numbers: Float64Array): readonly ContextRequest[] {
  const requests: ContextRequest[] = [];
  for (let at = 0; at < numbers.length; ) {
    const [device = 0, time = 0, arrival = 0, bound = 0, limit = 0, bytes = 0, count = 0] = numbers.subarray(
      at,
      at + fixed,
    );
    at += fixed;
    const seqs = Array.from(numbers.subarray(at, at + count));
    at += count;
    requests.push({ device, seqs, place: { time, arrival }, bound, limit, bytes });
  }
  return requests;
}
