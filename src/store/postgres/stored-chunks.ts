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
import type { ChunkRow } from "../locations/chunks.ts";
import { ContextAnswers } from "../locations/context-answers.ts";
import { type ChunksAsked, type ChunksOf, findChunks } from "./chunk-rows.ts";
import type { Connection } from "./connection.ts";
import { callFailure, isDamage } from "./thread-errors.ts";

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

  async contexts(requests: readonly ContextRequest[]): Promise<ContextsAnswer> {
    const answers = new ContextAnswers(requests.length);
    for (const [index, found] of (await this.#findEach(requests)).entries()) {
      const request = requests[index];
      if (request === undefined) continue;
      try {
        const chunks = found();
        if (chunks === undefined) answers.missing(index);
        else answers.answer(index, (sink) => this.#chunks.context(chunks, request, sink));
      } catch (error) {
        if (!isDamage(error)) throw error;
        answers.fail(index, callFailure(error));
      }
    }
    return answers.all(this.#cache.bytes);
  }

  /** Finds the chunks of all requests at once. If damage makes that fail, finds those of each request by itself, so that only the damaged one fails. */
  async #findEach(requests: readonly ContextRequest[]) {
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
