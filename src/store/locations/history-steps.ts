import { Turns } from "../../shares/turns.ts";
import type { JsonPiece, Link, ReaderCalls, RenderRequest } from "./calls.ts";

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
  readonly #long: Link<ReaderCalls>;
  readonly #shortTurns = new Turns(unbounded);
  readonly #longTurns = new Turns(unbounded);
  #longStands = false;
  #starting: Promise<void> | undefined;

  constructor(reader: Link<ReaderCalls>, long: Link<ReaderCalls>) {
    this.#reader = reader;
    this.#long = long;
  }

  /** Reads the records of a step. `bytes`: of the step's chunks. Resolves with undefined when one of the chunks is gone. */
  read(account: number, bytes: number, request: RenderRequest): Promise<readonly JsonPiece[] | undefined> {
    const isLong = bytes > (request.limit <= shortRecords ? fewBytes : shortBytes);
    if (isLong && !this.#longStands) this.start();
    const [turns, reader] =
      isLong && this.#longStands ? [this.#longTurns, this.#long] : [this.#shortTurns, this.#reader];
    return turns.always(account, () => reader.call("history", request, request.spares));
  }

  /** Starts the reader of long steps, which takes a tenth of a second of the whole service. Until then the other one reads them. */
  start(): void {
    this.#starting ??= this.#long.call("check", null).then(
      () => {
        this.#longStands = true;
      },
      () => {
        // The next long step tries again; until then the other reader goes on.
        this.#starting = undefined;
      },
    );
  }
}
