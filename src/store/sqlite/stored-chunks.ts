import type { DatabaseSync } from "node:sqlite";
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
import { ContextAnswers } from "../locations/context-answers.ts";
import { ChunkRows } from "./chunk-rows.ts";
import { failureOf, isDamage } from "./engine-errors.ts";

/** Reads the chunks that requests name, each request in one transaction, and answers from their records. */
export class StoredChunks {
  readonly #rows: ChunkRows;
  readonly #cache: BlockCache;
  readonly #chunks: ChunkReader;

  constructor(database: DatabaseSync, cache: BlockCache) {
    this.#rows = new ChunkRows(database);
    this.#cache = cache;
    this.#chunks = new ChunkReader(cache);
  }

  /** Renders a part of a history. Returns undefined when one of the chunks is gone. */
  history(request: RenderRequest): readonly JsonPiece[] | undefined {
    const found = this.#rows.asOfNow(() => this.#rows.find(request.device, request.seqs));
    return found && this.#chunks.history(found, request);
  }

  contexts(requests: readonly ContextRequest[]): ContextsAnswer {
    const answers = new ContextAnswers(requests.length);
    this.#rows.asOfNow(() => {
      for (const [index, request] of requests.entries())
        try {
          const found = this.#rows.find(request.device, request.seqs);
          if (found === undefined) answers.missing(index);
          else answers.answer(index, (sink) => this.#chunks.context(found, request, sink));
        } catch (error) {
          if (!isDamage(error)) throw error;
          answers.fail(index, failureOf(error));
          this.#rows.goOn();
        }
    });
    return answers.all(this.#cache.bytes);
  }

  /** Returns undefined when one of the chunks is gone. */
  moment(request: MomentRequest): MomentAnswer | undefined {
    const found = this.#rows.asOfNow(() => this.#rows.find(request.device, request.seqs));
    return found && this.#chunks.moment(found, request);
  }
}
