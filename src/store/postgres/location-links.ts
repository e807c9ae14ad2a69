import { StoreUnavailable } from "../../ports/store.ts";
import type { Link, ReaderCalls, WriterCalls } from "../locations/calls.ts";
import { EngineError } from "../locations/failures.ts";
import type { PostgresWriterCalls } from "./messages.ts";
import { takenOver } from "./ownership.ts";
import type { ServiceLock } from "./service-lock.ts";

/** Calls whose answers go into the index and the states. They must see what earlier calls to the writer did, even those that were not answered. */
const settling: ReadonlySet<string> = new Set([
  "scan",
  "scanBlocks",
  "lastBlock",
  "holdsAny",
  "waiting",
  "statesAsOf",
  "states",
  "rows",
] satisfies (keyof ReaderCalls)[]);

/** What the links need to know of the service. */
export interface WritingParts {
  readonly writer: Link<PostgresWriterCalls>;
  readonly lock: Pick<ServiceLock, "held">;
  /** Called when another service has written to the database, so that the index and states in memory are out of date. */
  onTakenOver(error: unknown): void;
}

/**
 * Calls to the writer, only while the service holds its lock. A call that was not answered may still be under way at the server; `settled` resolves when none is.
 */
export class WriterGate implements Link<WriterCalls> {
  readonly #parts: WritingParts;
  #doubtful = false;
  #settling: Promise<void> | undefined;

  constructor(parts: WritingParts) {
    this.#parts = parts;
  }

  async call<K extends keyof WriterCalls & string>(
    name: K,
    request: WriterCalls[K]["request"],
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<WriterCalls[K]["answer"]> {
    if (!this.#parts.lock.held) throw new StoreUnavailable("the lock of the database is being taken again");
    try {
      return await this.#parts.writer.call(name, request, transfer);
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#doubt(error);
      throw error;
    }
  }

  #doubt(error: StoreUnavailable): void {
    this.#doubtful = true;
    if (error.cause instanceof EngineError && error.cause.code === takenOver) this.#parts.onTakenOver(error);
  }

  /** Resolves when no failed call can change anything any more. Rejects with `StoreUnavailable` if that can't be found out. */
  async settled(): Promise<void> {
    // Later callers join the wait of the first, and wait again if a call fails meanwhile.
    while (this.#doubtful || this.#settling !== undefined) {
      this.#settling ??= this.#settle().finally(() => {
        this.#settling = undefined;
      });
      await this.#settling;
    }
  }

  async #settle(): Promise<void> {
    if (!this.#parts.lock.held) throw new StoreUnavailable("the lock of the database is being taken again");
    // Cleared first, so that a call that fails meanwhile sets it again.
    this.#doubtful = false;
    try {
      await this.#parts.writer.call("stand", null);
    } catch (error) {
      this.#doubtful = true;
      if (error instanceof StoreUnavailable) this.#doubt(error);
      throw error;
    }
  }
}

/** A reader whose answers never miss what an unanswered call to the writer did. */
export class SettledReader implements Link<ReaderCalls> {
  readonly #reader: Link<ReaderCalls>;
  readonly #gate: WriterGate;

  constructor(reader: Link<ReaderCalls>, gate: WriterGate) {
    this.#reader = reader;
    this.#gate = gate;
  }

  async call<K extends keyof ReaderCalls & string>(
    name: K,
    request: ReaderCalls[K]["request"],
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<ReaderCalls[K]["answer"]> {
    if (settling.has(name)) await this.#gate.settled();
    return this.#reader.call(name, request, transfer);
  }
}
