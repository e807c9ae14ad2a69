import type { DeviceKey } from "../../model/device.ts";
import { type LocationRecord, placeBefore, type RecordPlace } from "../../model/location.ts";
import type { HistoryContext } from "../../ports/store.ts";
import { readRecords } from "../records/record-codec.ts";
import type { DeviceChunks } from "./chunk-index.ts";
import { mostLooks, type ReadParts, stepBytes } from "./history.ts";
import { type ContextRequest, type ContextsAnswer, contextOutcome } from "./messages.ts";
import { Sweep } from "./sweep.ts";

/** What one request found; undefined: a chunk was not there any more. */
type Found =
  | {
      readonly before: LocationRecord | undefined;
      readonly from: readonly LocationRecord[];
      /** Of these records. */
      readonly bytes: number;
      /** There was more than the request's bytes. */
      readonly cut: boolean;
    }
  | undefined;

/** Bytes that one call to the reader asks for at most, those of the largest request: its answer crosses the threads in one piece. */
const mostAsked = 8 * 1024 * 1024;

/** Bytes of a context for each record that is asked for, more than most records have; and of any. Thousands of contexts with long texts are held at a time. */
const recordBytes = 512;
const leastBytes = 64 * 1024;

interface Waiting {
  readonly request: ContextRequest;
  resolve(found: Found): void;
  reject(error: unknown): void;
}

/** Finds what surrounds late records. All that is asked for in one turn of the event loop crosses to the reader as one call: a batch may have hundreds. */
export class Contexts {
  readonly #parts: ReadParts;
  #waiting: Waiting[] = [];
  /** Memory of the unpacked blocks that the reader kept at its last answer. */
  cachedBytes = 0;

  constructor(parts: ReadParts) {
    this.#parts = parts;
  }

  /** See `LocationStore.context`. */
  async find(device: DeviceKey, place: RecordPlace, limit: number, before: boolean): Promise<HistoryContext> {
    for (let looks = 1; ; looks++) {
      const context = await this.#try(device, place, limit, before);
      if (context !== undefined) return context;
      if (looks === mostLooks) throw new Error(`chunks of device ${device} are missing`);
      await this.#parts.settled();
    }
  }

  async #try(
    device: DeviceKey,
    place: RecordPlace,
    limit: number,
    before: boolean,
  ): Promise<HistoryContext | undefined> {
    const chunks = this.#parts.index.get(device);
    if (chunks === undefined) return { from: [], more: false };
    // One more than asked for tells whether there are more.
    const wanted = limit + 1;
    const begin = place.arrival === Number.POSITIVE_INFINITY ? justAfter(place.time) : place.time;
    const sweep = new Sweep(chunks, begin, Number.POSITIVE_INFINITY);
    let step = sweep.next({ records: wanted, bytes: stepBytes });
    const seqs = [...new Set([...(before ? seqsBefore(chunks, place) : []), ...(step?.seqs ?? [])])];
    const bound = step?.bound ?? Number.POSITIVE_INFINITY;
    let bytes = Math.max(leastBytes, limit * recordBytes);
    const first = await this.#ask({ device, seqs, place, bound, limit: wanted, bytes });
    if (first === undefined) return undefined;
    const from = [...first.from];
    let { cut } = first;
    bytes -= first.bytes;
    for (let past = bound; from.length < wanted && !cut && step !== undefined; past = step.bound) {
      step = sweep.next({ records: wanted - from.length, bytes: stepBytes });
      if (step === undefined) break;
      const behind = past > begin ? placeBefore(past) : place;
      const next = await this.#ask({ device, ...step, place: behind, limit: wanted - from.length, bytes });
      if (next === undefined) return undefined;
      for (const record of next.from) from.push(record);
      cut = next.cut;
      bytes -= next.bytes;
    }
    const found = before ? first.before : undefined;
    return { ...(found && { before: found }), from: from.slice(0, limit), more: cut || from.length > limit };
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
      const requests = waiting.map(({ request }) => request);
      const answer = await this.#parts.reader.call("contexts", requests);
      this.cachedBytes = answer.cached;
      waiting.forEach(({ resolve }, index) => {
        resolve(foundOf(answer, index));
      });
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}

/** Row numbers of the chunks of which some hold the last record at or before a place. */
function seqsBefore(chunks: DeviceChunks, { time, arrival }: RecordPlace): readonly number[] {
  if (arrival === Number.POSITIVE_INFINITY) return chunks.newestBefore(justAfter(time));
  const earlier = chunks.newestBefore(time);
  return arrival === Number.NEGATIVE_INFINITY ? earlier : [...earlier, ...chunks.newestBefore(justAfter(time))];
}

/** The next moment that a double can tell from a positive one. */
function justAfter(time: number): number {
  return time * (1 + Number.EPSILON);
}

function foundOf({ table, bytes }: ContextsAnswer, index: number): Found {
  const start = index === 0 ? 0 : table[index * 3 - 2];
  const middle = table[index * 3];
  const outcome = table[index * 3 + 2];
  if (outcome === contextOutcome.missing) return undefined;
  const [before] = readRecords(bytes.subarray(start, middle));
  const from = bytes.subarray(middle, table[index * 3 + 1]);
  return { before, from: readRecords(from), bytes: from.byteLength, cut: outcome === contextOutcome.cut };
}
