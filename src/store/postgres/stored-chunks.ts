import type { BlockCache } from "../locations/block-cache.ts";
import type {
  ContextRequest,
  ContextsAnswer,
  JsonPiece,
  MomentAnswer,
  MomentRequest,
  RenderRequest,
} from "../locations/calls.ts";
import { ChunkReader } from "../locations/chunk-reader.ts";
import type { ChunkRow, ChunksFound } from "../locations/chunks.ts";
import { ContextAnswers } from "../locations/context-answers.ts";
import { type ChunksAsked, type ChunksOf, findChunks, findSizes } from "./chunk-rows.ts";
import type { Connection } from "./connection.ts";
import { mostBytes } from "./portions.ts";
import { callFailure, isDamage } from "./thread-errors.ts";

/** The chunks of a request. Throws if they are damaged. Undefined: a chunk is gone. */
type FoundOfOne = () => ChunksFound<ChunkRow> | undefined;

/** Reads the chunks that requests name and answers from their records. */
export class StoredChunks {
  readonly #connection: Connection;
  readonly #cache: BlockCache;
  readonly #chunks: ChunkReader;

  constructor(connection: Connection, cache: BlockCache) {
    this.#connection = connection;
    this.#cache = cache;
    this.#chunks = new ChunkReader(cache);
  }

  async #find(requests: readonly ChunksAsked[]): Promise<readonly ChunksOf<ChunkRow>[]> {
    return findChunks(await this.#connection.session(), requests);
  }

  /** Renders a part of a history. Returns undefined when one of the chunks is gone. */
  async history(request: RenderRequest): Promise<readonly JsonPiece[] | undefined> {
    const [found] = await this.#find([request]);
    return found && this.#chunks.history(found(), request);
  }

  /** Reads the chunks of some requests at a time, and answers these before it reads the next ones. */
  async contexts(requests: readonly ContextRequest[]): Promise<ContextsAnswer> {
    const answers = new ContextAnswers(requests.length);
    const several = requests.length > 1;
    const sizes = several ? await findSizes(await this.#connection.session(), requests) : new Map<number, number>();
    for (let from = 0; from < requests.length; ) {
      const to = placeBehind(requests, from, sizes);
      for (const [index, found] of (await this.#findEach(requests.slice(from, to))).entries())
        this.#answer(requests, from + index, found, answers);
      from = to;
    }
    return answers.all(this.#cache.bytes);
  }

  #answer(requests: readonly ContextRequest[], index: number, found: FoundOfOne, answers: ContextAnswers): void {
    const request = requests[index];
    if (request === undefined) return;
    try {
      const chunks = found();
      if (chunks === undefined) answers.missing(index);
      else answers.answer(index, (sink) => this.#chunks.context(chunks, request, sink));
    } catch (error) {
      if (!isDamage(error)) throw error;
      answers.fail(index, callFailure(error));
    }
  }

  /** Finds the chunks of all requests at once. If damage makes that fail, finds those of each request by itself, so that only the damaged one fails. */
  async #findEach(requests: readonly ContextRequest[]): Promise<readonly FoundOfOne[]> {
    try {
      return (await this.#find(requests)).map((found) => () => found?.());
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    const each = await Promise.allSettled(requests.map((request) => this.#find([request])));
    return each.map((one) => () => {
      if (one.status === "rejected") throw one.reason;
      return one.value[0]?.();
    });
  }

  /** Returns undefined when one of the chunks is gone. */
  async moment(request: MomentRequest): Promise<MomentAnswer | undefined> {
    const [found] = await this.#find([request]);
    return found && this.#chunks.moment(found(), request);
  }
}

/** Finds the end of the requests from `from` on that are read together: one at least, and as many as `mostBytes` allows. A chunk that several of them name is read once. */
function placeBehind(requests: readonly ContextRequest[], from: number, sizes: ReadonlyMap<number, number>): number {
  const read = new Set<number>();
  let bytes = 0;
  for (const [index, { seqs }] of requests.slice(from).entries()) {
    for (const seq of seqs) if (!read.has(seq)) bytes += sizes.get(seq) ?? 0;
    for (const seq of seqs) read.add(seq);
    if (bytes > mostBytes && index > 0) return from + index;
  }
  return requests.length;
}
