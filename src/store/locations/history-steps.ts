import { Turns } from "../../shares/turns.ts";
import type { JsonPiece, Link, ReaderCalls, RenderRequest } from "./calls.ts";
import { SecondReader } from "./second-reader.ts";

/** A step is short if its chunks have up to `shortBytes`, or if it asks for up to `shortRecords` of chunks with up to `fewBytes`: the reader takes a millisecond or two. */
const shortBytes = 64 * 1024;
const shortRecords = 256;
const fewBytes = 1024 * 1024;
/** How many requests may be under way is bounded by the API, for each account and in all. */
const unbounded = { waiting: Number.POSITIVE_INFINITY, each: Number.POSITIVE_INFINITY };

/**
 * Reads the steps of histories. Short ones go to the reader of everything else. Long ones have a reader of their own, which gives way to the rest of the service:
 * nobody's report or short question waits for somebody's long history. Accounts take turns at each, so one that reads a hundred histories at once waits for itself.
 */
export class HistorySteps {
  readonly #reader: Link<ReaderCalls>;
  readonly #long: SecondReader;
  readonly #shortTurns = new Turns(unbounded);
  readonly #longTurns = new Turns(unbounded);

  constructor(reader: Link<ReaderCalls>, long: Link<ReaderCalls>) {
    this.#reader = reader;
    this.#long = new SecondReader(reader, long);
  }

  /** Reads the records of a step. `bytes`: of the step's chunks. Resolves with undefined when one of the chunks is gone. */
  read(account: number, bytes: number, request: RenderRequest): Promise<readonly JsonPiece[] | undefined> {
    const isLong = bytes > (request.limit <= shortRecords ? fewBytes : shortBytes);
    const reader = isLong ? this.#long : this.#reader;
    // Until the thread of long steps stands, they take turns with the short ones.
    const turns = isLong && this.#long.stands ? this.#longTurns : this.#shortTurns;
    return turns.always(account, () => reader.call("history", request, request.spares));
  }

  /** Starts the thread of long steps. */
  start(): void {
    this.#long.start();
  }
}
