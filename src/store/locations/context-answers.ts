import { ByteSink } from "../records/sink.ts";
import { type ContextFailure, type ContextNumbers, type ContextsAnswer, contextOutcome } from "./calls.ts";
import type { CallFailure } from "./failures.ts";

/** Bytes that are reserved for each request's records. */
const usualBytes = 2048;

/** Gathers the answers to context requests. One that fails leaves the others as they are. */
export class ContextAnswers {
  readonly #sink: ByteSink;
  readonly #table: Float64Array<ArrayBuffer>;
  readonly #failures: ContextFailure[] = [];

  /** `requests`: how many there are. */
  constructor(requests: number) {
    this.#sink = new ByteSink(requests * usualBytes);
    this.#table = new Float64Array(requests * 4);
  }

  /** Answers a request. `read` appends its records. */
  answer(index: number, read: (sink: ByteSink) => ContextNumbers): void {
    const start = this.#sink.length;
    try {
      this.#table.set(read(this.#sink), index * 4);
    } catch (error) {
      this.#sink.length = start;
      throw error;
    }
  }

  /** One of the request's chunks is gone. */
  missing(index: number): void {
    const { length } = this.#sink;
    this.#table.set([length, length, 0, contextOutcome.missing], index * 4);
  }

  /** The request's records are damaged or can't be read. */
  fail(index: number, failure: CallFailure): void {
    this.#failures.push({ index, ...failure });
    this.missing(index);
  }

  /** All answers. `cached`: memory of the decompressed blocks that are kept. */
  all(cached: number): ContextsAnswer {
    return { failures: this.#failures, table: this.#table, bytes: this.#sink.cut(), cached };
  }
}
