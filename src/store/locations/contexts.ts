import type { DeviceKey } from "../../model/device.ts";
import { placeBefore, type RecordPlace } from "../../model/location.ts";
import type { HistoryContext, PackedContext } from "../../ports/store.ts";
import { answeredRecords } from "./answered.ts";
import { type ContextRequest, type ContextsAnswer, contextOutcome } from "./calls.ts";
import { packRequests } from "./context-requests.ts";
import type { DeviceChunks } from "./device-chunks.ts";
import { chunksMissing, storeError } from "./failures.ts";
import { mostLooks, type ReadParts, stepBytes } from "./history.ts";
import { Sweep } from "./sweep.ts";

/** What one request found. Undefined when one of the chunks is gone. */
type Found =
  | {
      /** The record at or before the place, packed. Empty when there is none. */
      readonly before: Uint8Array;
      /** The records behind the place, packed. `count`: how many there are. */
      readonly from: Uint8Array;
      readonly count: number;
      /** Whether there are more, which would exceed the request's bytes. */
      readonly cut: boolean;
    }
  | undefined;

/** A context whose records stay as the reader answered them. */
class Packed implements PackedContext {
  readonly bytes: number;
  readonly #device: DeviceKey;
  readonly #time: number;
  readonly #before: Uint8Array;
  readonly #from: readonly Uint8Array[];
  readonly #limit: number;
  readonly #more: boolean;

  /** `time`: of the place. `from` has one record more than `limit` when there are more. */
  constructor(
    { device, time }: { readonly device: DeviceKey; readonly time: number },
    before: Uint8Array,
    from: readonly Uint8Array[],
    limit: number,
    more: boolean,
  ) {
    this.bytes = from.reduce((sum, { byteLength }) => sum + byteLength, before.byteLength);
    this.#device = device;
    this.#time = time;
    this.#before = before;
    this.#from = from;
    this.#limit = limit;
    this.#more = more;
  }

  unpack(): HistoryContext {
    const read = (bytes: Uint8Array) => answeredRecords(bytes, this.#device, this.#time);
    const [before] = read(this.#before);
    const from = this.#from.flatMap(read);
    if (from.length > this.#limit) from.length = this.#limit;
    return { ...(before && { before }), from, more: this.#more };
  }
}

/** The most bytes that one call to the reader asks for: those of the largest request. The answer crosses the threads in one piece. */
const mostAsked = 8 * 1024 * 1024;

/**
 * A context has at most `recordBytes` for each record that is asked for, or `leastBytes` if that is more. Most records have fewer. Thousands of contexts are held at a time, so
 * long texts must not fill the memory.
 */
const recordBytes = 512;
const leastBytes = 64 * 1024;

interface Waiting {
  readonly request: ContextRequest;
  resolve(found: Found): void;
  reject(error: unknown): void;
}

/** Finds what surrounds late records. All requests of one turn of the event loop go to the reader in one call: a batch may have hundreds. */
export class Contexts {
  readonly #parts: ReadParts;
  #waiting: Waiting[] = [];
  /** Memory of the decompressed blocks that the reader kept at its last answer. */
  cachedBytes = 0;

  constructor(parts: ReadParts) {
    this.#parts = parts;
  }

  /** See `LocationStore.context`. `before`: whether the record at or before the place is asked for. */
  async find(device: DeviceKey, place: RecordPlace, limit: number, before: boolean): Promise<PackedContext> {
    await this.#parts.blocks.whole();
    for (let looks = 1; ; looks++) {
      const context = await this.#try(device, place, limit, before);
      if (context !== undefined) return context;
      if (looks === mostLooks) throw chunksMissing(device);
      await this.#parts.settled();
    }
  }

  async #try(
    device: DeviceKey,
    place: RecordPlace,
    limit: number,
    before: boolean,
  ): Promise<PackedContext | undefined> {
    const chunks = this.#parts.index.get(device);
    if (chunks === undefined) return emptyContext;
    // One record more than asked for tells whether there are more.
    const wanted = limit + 1;
    const begin = place.arrival === Number.POSITIVE_INFINITY ? justAfter(place.time) : place.time;
    const sweep = new Sweep(chunks, begin, Number.POSITIVE_INFINITY);
    let step = sweep.next({ records: wanted, bytes: stepBytes });
    const seqs = [...new Set([...(before ? seqsBefore(chunks, place) : []), ...(step?.seqs ?? [])])];
    const bound = step?.bound ?? Number.POSITIVE_INFINITY;
    let bytes = Math.max(leastBytes, limit * recordBytes);
    const first = await this.#ask({ device, seqs, place, bound, limit: wanted, bytes });
    if (first === undefined) return undefined;
    const from = [first.from];
    let { count, cut } = first;
    bytes -= first.from.byteLength;
    for (let past = bound; count < wanted && !cut && step !== undefined; past = step.bound) {
      step = sweep.next({ records: wanted - count, bytes: stepBytes });
      if (step === undefined) break;
      const behind = past > begin ? placeBefore(past) : place;
      const next = await this.#ask({ device, ...step, place: behind, limit: wanted - count, bytes });
      if (next === undefined) return undefined;
      from.push(next.from);
      count += next.count;
      cut = next.cut;
      bytes -= next.from.byteLength;
    }
    const about = { device, time: place.time };
    return new Packed(about, before ? first.before : nothing, from, limit, cut || count > limit);
  }

  #ask(request: ContextRequest): Promise<Found> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => void this.#send());
    });
  }

  async #send(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < waiting.length; ) {
      let to = from + 1;
      let asked = waiting[from]?.request.bytes ?? 0;
      for (let next = waiting[to]; next !== undefined && asked + next.request.bytes <= mostAsked; next = waiting[++to])
        asked += next.request.bytes;
      await this.#sendSome(waiting.slice(from, to));
      from = to;
    }
  }

  async #sendSome(waiting: readonly Waiting[]): Promise<void> {
    try {
      const requests = packRequests(waiting.map(({ request }) => request));
      const answer = await this.#parts.reader.call("contexts", requests, [requests.buffer]);
      this.cachedBytes = answer.cached;
      // Rejected first. Below, these requests are resolved too, which then has no effect.
      for (const failure of answer.failures) waiting[failure.index]?.reject(storeError(failure));
      waiting.forEach(({ resolve }, index) => {
        resolve(foundOf(answer, index));
      });
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}

/** Row numbers of all chunks that may hold the last record at or before a place. */
function seqsBefore(chunks: DeviceChunks, { time, arrival }: RecordPlace): readonly number[] {
  if (arrival === Number.POSITIVE_INFINITY) return chunks.newestBefore(justAfter(time));
  const earlier = chunks.newestBefore(time);
  return arrival === Number.NEGATIVE_INFINITY ? earlier : [...earlier, ...chunks.newestBefore(justAfter(time))];
}

/** A double just above a positive time. */
function justAfter(time: number): number {
  return time * (1 + Number.EPSILON);
}

const nothing = new Uint8Array(0);
const emptyContext = new Packed({ device: 0, time: 0 }, nothing, [], 0, false);

/**
 * Takes the answer to one request. Copies the bytes into a buffer of their own, because contexts wait: a view would keep the whole answer in memory, which may be a thousand
 * times as large, and a small `Buffer` would keep the 64 KB that Node shares among many.
 */
function foundOf({ table, bytes }: ContextsAnswer, index: number): Found {
  const start = index === 0 ? 0 : (table[index * 4 - 3] ?? 0);
  const outcome = table[index * 4 + 3];
  if (outcome === contextOutcome.missing) return undefined;
  const own = bytes.slice(start, table[index * 4 + 1]);
  const length = (table[index * 4] ?? 0) - start;
  return {
    before: own.subarray(0, length),
    from: own.subarray(length),
    count: table[index * 4 + 2] ?? 0,
    cut: outcome === contextOutcome.cut,
  };
}
